//! The properties that a command works on.

use portent_monitor_dsl::Property;
use std::{fs, io, path::PathBuf};

use crate::{failure::Failure, terminal::Colour};

/// The options that name properties.
#[derive(clap::Args)]
pub(crate) struct Spec {
    /// A file of properties (may be given several times)
    #[arg(long, value_name = "FILE")]
    spec: Vec<PathBuf>,
    /// A bare formula, as in 'always (x >= y)' or 'ere: (open close)*' (may be given several times)
    #[arg(long, value_name = "TEXT")]
    property: Vec<String>,
}

impl Spec {
    /// The files given.
    pub(crate) fn files(&self) -> &[PathBuf] {
        &self.spec
    }

    /// Whether none is given.
    pub(crate) fn is_empty(&self) -> bool {
        self.spec.is_empty() && self.property.is_empty()
    }

    /// Reads them, and warns of suspicious parts.
    pub(crate) fn properties(&self, colour: Colour) -> Result<Vec<Property>, Failure> {
        let mut properties = Vec::new();
        for path in &self.spec {
            let text = fs::read(path).map_err(|error| Failure::Read {
                path: path.clone(),
                error,
            })?;
            properties.extend(Property::parse_file(&path.display().to_string(), text)?);
        }
        for text in &self.property {
            properties.push(Property::parse(text)?);
        }
        if properties.is_empty() {
            let message = "no property given; use --property 'always (x >= y)' or --spec FILE";
            return Err(Failure::Usage(message.to_owned()));
        }
        for (index, property) in properties.iter().enumerate() {
            let name = property.name();
            if properties[..index].iter().any(|other| other.name() == name) {
                let message = format!("two properties are named `{name}`; rename one of them");
                return Err(Failure::Usage(message));
            }
        }
        for warning in properties.iter().flat_map(Property::warnings) {
            eprintln!("{}", warning.render(colour.on(&io::stderr())));
        }
        Ok(properties)
    }
}

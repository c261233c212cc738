//! The limits on making a monitor, as options of the commands that make one.

use portent_monitor_dsl::{Config, Monitor, Property};

use crate::failure::Failure;

/// The heading of the options in the help.
const HEADING: &str = "What a property may cost";

#[derive(clap::Args)]
pub(crate) struct SynthesisLimits {
    /// Give up on a monitor with more states than this
    #[arg(long, value_name = "N", default_value = "10000", help_heading = HEADING)]
    max_states: usize,
    /// Give up on a property with more propositions than this
    #[arg(long, value_name = "N", default_value = "20", help_heading = HEADING)]
    max_propositions: usize,
    /// Give up on a monitor that takes more steps than this to make; the default is some seconds
    #[arg(long, value_name = "N", default_value = "10000000", help_heading = HEADING)]
    max_steps: usize,
}

impl SynthesisLimits {
    /// The monitors of all properties.
    pub(crate) fn monitors(
        &self,
        properties: &[Property],
        config: Config,
    ) -> Result<Vec<Monitor>, Failure> {
        let config = config
            .max_states(self.max_states)
            .max_propositions(self.max_propositions)
            .max_steps(self.max_steps);
        let monitors = properties.iter().map(|property| config.monitor(property));
        Ok(monitors.collect::<Result<_, _>>()?)
    }
}

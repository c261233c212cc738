//! A file that is put in place only when it is complete.
//!
//! Writing may fail half way. Until it succeeds, an existing file stays as it was: the new one is written
//! next to it, and removed if it is dropped before [`Staged::publish`].

use std::{
    fs::{File, Metadata, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use tempfile::{NamedTempFile, TempPath};

use crate::failure::Failure;

/// A complete file, ready to be put in place.
pub(crate) struct Staged {
    path: PathBuf,
    /// Its temporary and final paths; none for a device or a pipe, which is written at once.
    waiting: Option<(TempPath, PathBuf)>,
}

impl Staged {
    /// Writes a file for `path`, with the content that `fill` produces.
    pub(crate) fn write<T>(
        path: PathBuf,
        fill: impl FnOnce(&mut dyn Write) -> Result<T, Failure>,
    ) -> Result<(Staged, T), Failure> {
        let cannot = |error| Failure::Write {
            path: path.clone(),
            error,
        };
        let there = path.metadata().ok();
        if there.as_ref().is_some_and(|there| !there.is_file()) {
            let filled = fill(&mut File::create(&path).map_err(cannot)?)?;
            let waiting = None;
            return Ok((Staged { path, waiting }, filled));
        }
        let (mut beside, place) = beside(&path, there).map_err(cannot)?;
        let filled = fill(beside.as_file_mut())?;
        // Closed, because there may be more such files than the limit on open files.
        let waiting = Some((beside.into_temp_path(), place));
        Ok((Staged { path, waiting }, filled))
    }

    /// Puts the file in place.
    pub(crate) fn publish(self) -> Result<(), Failure> {
        let Some((beside, place)) = self.waiting else {
            return Ok(());
        };
        beside.persist(place).map_err(|error| Failure::Write {
            path: self.path,
            error: error.error,
        })
    }
}

/// A new file in the folder of another, with its permissions, and its final path.
fn beside(path: &Path, there: Option<Metadata>) -> io::Result<(NamedTempFile, PathBuf)> {
    let place = match &there {
        Some(_) => {
            // A file that may not be written may not be replaced either.
            OpenOptions::new().write(true).open(path)?;
            // A link stays one: its target is replaced.
            path.canonicalize()?
        }
        None => path.to_owned(),
    };
    let folder = match place.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // Checked first because this error does not mention a file that the user has never heard of.
    folder.metadata()?;
    let beside = tempfile::Builder::new()
        .prefix(".portent-")
        .make_in(folder, |path| File::create_new(path))?;
    if let Some(there) = there {
        beside.as_file().set_permissions(there.permissions())?;
    }
    Ok((beside, place))
}

//! The header of a trace: the version of the format, and the initial values of variables.

use super::{
    fields::{Fields, Key},
    near_miss,
    operation::assignments,
    values::Problem,
};
use crate::Header;

/// The key of the test that left the recording.
pub(super) const TEST: &str = "test";

/// The header, and the place of the initial values; `None` if the line is an event that merely has a key `portent`.
pub(super) fn read_header<'a>(line: &'a str) -> Result<Option<(Header, &'a str)>, Problem<'a>> {
    let mut fields = Fields::default();
    let fields = fields.read(line)?;
    let Some(version) = fields.get(Key::Portent) else {
        return Ok(None);
    };
    let test = { fields.unknown() }.find_map(|(key, raw)| (key == TEST).then_some(raw));
    let mut unknown = fields.unknown().filter(|(key, _)| *key != TEST);
    if fields.get(Key::Init).is_none()
        && let Some((key, at)) = unknown.find(|(key, _)| near_miss::meant(key) == Some(Key::Init))
    {
        let what = format!("expected the key `init`, not `{key}`");
        return Err(Problem::new(at, what));
    }
    drop(unknown);
    if fields.get(Key::T).is_some() {
        return Ok(None);
    }
    if version != "1" {
        return Err(Problem::new(version, "expected version 1 of the format"));
    }
    let mut header = Header {
        test: match test {
            Some(test) => Some(fields.name(test)?.into_owned()),
            None => None,
        },
        ..Header::default()
    };
    let init = fields.get(Key::Init);
    if let Some(init) = init {
        header.init = assignments(init, |name, _| Ok(name.into_owned()))?;
    }
    Ok(Some((header, init.unwrap_or(version))))
}

//! The live page: a document, its style and a script that asks every second how things stand. A violation is shown by the page that
//! `check --format html` would make of it. What comes from a program is only ever text.

pub(super) const DOCUMENT: &str = include_str!("live.html");
pub(super) const SCRIPT: &str = include_str!("live.js");
pub(super) const STYLE: &str = include_str!("live.css");

//! The live page: a document, its style, and a script that polls the state every second. A violation is shown by the page that
//! `check --format html` would produce for it, with the same colours and badges. Input from a program is only ever inserted as text.

use portent_answer::html;

pub(super) const DOCUMENT: &str = include_str!("live.html");
pub(super) const SCRIPT: &str = include_str!("live.js");

pub(super) fn style() -> String {
    [html::PAGE_STYLE, include_str!("live.css")].concat()
}

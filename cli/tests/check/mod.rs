//! `portent check`.

mod html;
mod input;
mod json;
mod limits;
mod maximal;
mod memory;
mod search;
mod story;
mod text;
mod warnings;

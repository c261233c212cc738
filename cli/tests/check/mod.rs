//! `portent check`.

mod html;
mod input;
mod json;
mod maximal;
mod search;
mod story;
mod text;
mod warnings;

//! `portent check`.

mod html;
mod input;
mod json;
mod maximal;
mod search;
mod text;
mod warnings;

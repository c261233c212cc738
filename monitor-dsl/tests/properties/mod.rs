//! Properties whose machines are known: published formulas, patterns, and small ones worked out by hand.

mod floats;
mod formulas;
mod hard;
mod patterns;

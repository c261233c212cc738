//! Thousands of random properties against the oracles.

mod ere;
mod ltl;

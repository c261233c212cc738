//! The integration tests of the crate, as one binary, because linking many costs more time than running them.
//!
//! | module | what it tests |
//! |---|---|
//! | `oracle` | no test: independent reference implementations that the others compare with |
//! | `oracle_checks` | the oracles themselves |
//! | `random` | thousands of random properties against the oracles |
//! | `collection` | two thousand random formulas with the sizes of their monitors |
//! | `properties` | published formulas and patterns, and properties whose machines are known |
//! | `messages` | what a user reads about a text: errors, warnings, notes |
//! | `output` | the machine as JSON, as stored data and as generated Rust |
//! | `shape` | the analysis of a machine's shape, and the product of a machine and its variables |
//! | `hostile` | inputs that mean harm |
//! | `allocation` | stepping allocates nothing |

mod allocation;
mod collection;
mod hostile;
mod messages;
mod oracle;
mod oracle_checks;
mod output;
mod properties;
mod random;
mod shape;

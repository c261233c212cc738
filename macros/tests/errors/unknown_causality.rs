#[portent_macros::test(property = "always (x >= y)", causality = "maximum")]
fn test() {}

fn main() {}

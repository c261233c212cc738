#[portent_macros::test(property = "always (x >= y)", repaet = 10)]
fn test() {}

fn main() {}

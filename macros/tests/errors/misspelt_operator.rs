#[portent_macros::test(property = "alwyas (x >= y)")]
fn test() {}

fn main() {}

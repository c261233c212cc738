#[portent_macros::test(property = "always (x >= \"high\" && x < 3)")]
fn test() {}

fn main() {}

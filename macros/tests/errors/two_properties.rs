#[portent_macros::test(property = "always (x >= y)", spec = "tests/errors/typo.portent")]
fn test() {}

#[portent_macros::test(strict, property = "always (x >= y)", strict)]
fn twice() {}

fn main() {}

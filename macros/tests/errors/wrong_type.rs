#[portent_macros::test(property = "always (x >= y)", window = "1000")]
fn number() {}

#[portent_macros::test(property = always)]
fn text() {}

#[portent_macros::test(property = "always (x >= y)", strict = true)]
fn flag() {}

#[portent_macros::test(property = "always (x >= y)", repeat = 0)]
fn zero() {}

fn main() {}

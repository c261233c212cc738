#[portent_macros::test]
fn test() {}

#[portent_macros::test(strict)]
fn strict() {}

#[portent_macros::test("always (x >= y)")]
fn without_a_word() {}

fn main() {}

#[portent_macros::test(property = "always (x >= y)")]
async fn task() {}

#[portent_macros::test(property = "always (x >= y)")]
fn argument(x: u32) {}

#[portent_macros::test(property = "always (x >= y)")]
#[test]
fn twice() {}

fn main() {}

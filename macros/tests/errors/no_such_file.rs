#[portent_macros::test(spec = "no/such/file.portent")]
fn test() {}

fn main() {}

//! What the compiler says of mistakes: one file each in `errors/`, with the message beside it.

#[test]
fn mistakes_are_told() {
    trybuild::TestCases::new().compile_fail("tests/errors/*.rs");
}

fn main() {
    portent_macros::property! { "always (request -> eventualy response)" };
    portent_macros::property! {
        "property two_lines {
            event login, logout
            ltl: always (logout -> once logn)
        }"
    };
    portent_macros::property! { always };
    portent_macros::property! { "always x", "always y" };
}

//! `property!` and `#[derive(Monitored)]`.

use portent::{Monitored, Property, Shared};

#[test]
fn a_property_is_made_when_it_is_compiled() {
    let text = "property balanced { event open, close  ere: (open close)* }";
    let stored =
        portent::property! { "property balanced { event open, close  ere: (open close)* }" };
    assert_eq!(*stored, Property::parse(text).unwrap().monitor().unwrap());
    let once = || portent::property! { "always x" };
    assert!(std::ptr::eq(once(), once()));
}

#[derive(Monitored)]
struct Account {
    balance: Shared<i64>,
    #[monitored(name = "frozen")]
    is_frozen: Shared<bool>,
}

#[derive(Monitored)]
#[monitored(name = "")]
struct Plain<T: Clone> {
    height: Shared<T>,
}

#[portent::test(
    property = r#"property covered {
        var "Account.balance": int  var frozen: bool  var height: int
        ltl: always ("Account.balance" < 0 -> frozen && height > 0)
    }"#,
    strict
)]
fn fields_have_names() {
    let account = Account::new(10, false);
    let plain = Plain::new(0);
    plain.height.set(2);
    account.is_frozen.set(true);
    account.balance.set(-1);
}

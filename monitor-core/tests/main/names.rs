//! Names of operations, and what a misspelt name was meant to be.

use portent_monitor_core::{Operation, suggest::closest};

#[test]
fn a_name_is_that_of_one_operation() {
    for &operation in Operation::ALL {
        assert_eq!(Operation::from_name(operation.name()), Some(operation));
    }
    assert_eq!(Operation::from_name("Lock"), None);
}

#[test]
fn letters_may_be_left_out_of_the_middle() {
    assert_eq!(closest("lgn", ["logout", "login"]), Some("login"));
    assert_eq!(closest("cnt", ["cat", "count"]), Some("count"));
    assert_eq!(closest("rqust", ["request", "response"]), Some("request"));
}

#[test]
fn of_equally_close_names_the_more_alike_is_meant() {
    assert_eq!(closest("nxt", ["not", "next"]), Some("next"));
    assert_eq!(closest("nxt", ["next", "not"]), Some("next"));
}

#[test]
fn what_is_not_alike_is_not_meant() {
    // The letters are there in order, but too few of them, or the ends differ.
    assert_eq!(closest("end", ["extend"]), None);
    assert_eq!(closest("log", ["login_failed"]), None);
    assert_eq!(closest("ogi", ["login"]), None);
    assert_eq!(closest("at", ["await"]), None);
}

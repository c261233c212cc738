//! What could have gone on where the grammar got stuck, in words.

use crate::syntax::parse::Rule;

/// The things that were expected, as a phrase.
pub(super) fn join(expected: &[&str]) -> String {
    match expected {
        [] => "something else".to_owned(),
        [single] => (*single).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// What the rules are called, each once.
pub(super) fn expectations(rules: &[Rule]) -> Vec<&'static str> {
    let mut expected: Vec<&'static str> = rules.iter().map(|rule| describe(*rule)).collect();
    // Things first, then the signs that could end them.
    expected.sort_by_key(|text| (text.starts_with('`'), !text.starts_with("a "), *text));
    expected.dedup();
    if expected.contains(&"a formula") || expected.contains(&"an expression") {
        // They are one, or the beginning of one.
        expected.retain(|text| !matches!(*text, "a name" | "a number" | "a text in quotes"));
    }
    expected
}

/// What a rule is called in a message.
fn describe(rule: Rule) -> &'static str {
    match rule {
        Rule::EOI => "the end of the text",
        Rule::opening | Rule::file | Rule::property | Rule::property_word => "a property",
        Rule::bare
        | Rule::expression
        | Rule::operand
        | Rule::operand_name
        | Rule::operator_word
        | Rule::prefix
        | Rule::sign_prefix
        | Rule::temporal_prefix
        | Rule::bounds
        | Rule::group
        | Rule::edge
        | Rule::edge_word
        | Rule::interval
        | Rule::call => "a formula",
        Rule::infix => "an operator",
        Rule::ere
        | Rule::ere_operand
        | Rule::ere_prefix
        | Rule::dot
        | Rule::letter
        | Rule::ere_group => "an expression",
        Rule::ere_infix | Rule::ere_postfix => "an operator",
        Rule::count | Rule::digits | Rule::number | Rule::minus | Rule::bound => "a number",
        Rule::through => "`:`",
        Rule::comma => "`,`",
        Rule::equals => "`=`",
        Rule::closing => "`}`",
        Rule::open_brace => "`{`",
        Rule::parenthesis => "`)`",
        Rule::colon => "`:` and a type",
        Rule::parameters => "a parameter list",
        Rule::declaration
        | Rule::variable
        | Rule::definition
        | Rule::events
        | Rule::var_word
        | Rule::let_word
        | Rule::event_word => "a declaration",
        Rule::event => "an event",
        Rule::constraints | Rule::where_word => "`where`",
        Rule::constraint => "a parameter",
        Rule::relation => "`!=`",
        Rule::by | Rule::by_word => "`by`",
        Rule::on | Rule::on_word => "`on`",
        Rule::operation => "an operation",
        Rule::object => "a parameter or a text in quotes",
        Rule::matches | Rule::matches_word => "`matches`",
        Rule::type_name => "a type",
        Rule::value | Rule::truth => "a value",
        Rule::body
        | Rule::ltl_body
        | Rule::ere_body
        | Rule::never_body
        | Rule::pattern_body
        | Rule::ltl_word
        | Rule::ere_word
        | Rule::never_word
        | Rule::pattern_word => "a body (`ltl:`, `ere:`, `never:` or `pattern:`)",
        Rule::pattern
        | Rule::absence
        | Rule::existence
        | Rule::universality
        | Rule::precedence
        | Rule::response
        | Rule::absence_word
        | Rule::existence_word
        | Rule::universality_word => "a pattern",
        Rule::of_word => "`of`",
        Rule::precedes_word => "`precedes`",
        Rule::responds_word => "`responds to`",
        Rule::to_word => "`to`",
        Rule::scope
        | Rule::globally
        | Rule::before
        | Rule::between
        | Rule::after_until
        | Rule::after
        | Rule::globally_word
        | Rule::before_word
        | Rule::between_word
        | Rule::after_word => "a scope",
        Rule::and_word => "`and`",
        Rule::until_word => "`until`",
        Rule::proposition => "a proposition",
        Rule::text | Rule::escape => "a text in quotes",
        Rule::name | Rule::quoted | Rule::identifier | Rule::name_part => "a name",
        Rule::WHITESPACE | Rule::COMMENT => "space",
    }
}

//! The options in the parentheses of `#[portent::test(...)]`.

use portent_monitor_core::suggest;
use proc_macro2::Span;
use syn::{
    Ident, Lit, LitInt, LitStr, Token,
    ext::IdentExt,
    parse::{Parse, ParseStream},
};

/// How a test is checked.
pub(crate) struct TestOptions {
    pub(crate) source: Option<Source>,
    /// What to look for without a property.
    pub(crate) find: Option<LitStr>,
    pub(crate) window: Option<usize>,
    pub(crate) causality: Causality,
    pub(crate) complete: bool,
    pub(crate) repeat: u32,
    pub(crate) expect_violation: bool,
    pub(crate) strict: bool,
    /// Whether what is predicted is made to happen, and from which recording, if it is not a new one.
    pub(crate) confirm: Option<Option<LitStr>>,
    /// How it is explored, if it is: the variant of `annotated::Way`.
    pub(crate) explore: Option<&'static str>,
    pub(crate) max_runs: Option<u64>,
    /// Where a guided search goes.
    pub(crate) target: Option<LitStr>,
}

/// Where the properties are.
pub(crate) enum Source {
    Text(LitStr),
    File(LitStr),
}

const WORDS: [&str; 13] = [
    "property",
    "spec",
    "find",
    "causality",
    "complete",
    "window",
    "repeat",
    "expect_violation",
    "strict",
    "confirm",
    "explore",
    "max_runs",
    "target",
];
const MODELS: [&str; 3] = ["happens-before", "strong", "maximal"];

/// How runs are chosen that are explored, and what the façade calls that.
const WAYS: [(&str, &str); 9] = [
    ("source", "Source"),
    ("optimal", "Optimal"),
    ("exhaustive", "Exhaustive"),
    ("flipping", "Flipping"),
    ("preemptions", "Preemptions"),
    ("random", "Random"),
    ("pct", "Pct"),
    ("uniform", "Uniform"),
    ("guided", "Guided"),
];

/// The kinds of findings that need no property.
const KINDS: [&str; 3] = ["races", "deadlocks", "atomicity"];

/// Which other runs count.
#[derive(Clone, Copy)]
pub(crate) enum Causality {
    HappensBefore,
    Strong,
    Maximal,
}

/// One option: its word, and its value if it has one.
struct Setting {
    word: Ident,
    value: Option<Lit>,
}

impl Parse for Setting {
    fn parse(input: ParseStream<'_>) -> syn::Result<Setting> {
        if let Ok(text) = input.parse::<LitStr>() {
            let what = "a property is given as `property = \"...\"`, a file as `spec = \"...\"`";
            return Err(syn::Error::new(text.span(), what));
        }
        let word = input.call(Ident::parse_any)?;
        let value = match input.parse::<Option<Token![=]>>()? {
            Some(_) => Some(input.parse::<Lit>().map_err(|error| {
                let what = format!("expected a value for `{word}`: a string or a number");
                syn::Error::new(error.span(), what)
            })?),
            None => None,
        };
        Ok(Setting { word, value })
    }
}

impl Setting {
    /// Its value as a string; `example` shows what would be right.
    fn text(self, example: &str) -> syn::Result<LitStr> {
        match self.value {
            Some(Lit::Str(text)) => Ok(text),
            _ => Err(self.wrong("is a string", example)),
        }
    }

    fn number<N: std::str::FromStr + Default + PartialEq>(self, example: &str) -> syn::Result<N> {
        let parse = |number: &LitInt| number.base10_digits().parse().ok();
        match self.value.as_ref() {
            Some(Lit::Int(number)) => match parse(number) {
                Some(number) if number != N::default() => Ok(number),
                _ => Err(self.wrong("is a number from 1 on that fits", example)),
            },
            _ => Err(self.wrong("is a number", example)),
        }
    }

    fn flag(self) -> syn::Result<bool> {
        let word = self.word.to_string();
        match self.value {
            None => Ok(true),
            Some(_) => Err(self.wrong("has no value", &word)),
        }
    }

    fn wrong(&self, is: &str, example: &str) -> syn::Error {
        let span = self.value.as_ref().map_or(self.word.span(), Lit::span);
        let word = &self.word;
        syn::Error::new(span, format!("`{word}` {is}, as in `{example}`"))
    }
}

impl Parse for TestOptions {
    fn parse(input: ParseStream<'_>) -> syn::Result<TestOptions> {
        let (mut source, mut find) = (None, None);
        let (mut window, mut repeat) = (None, 1);
        let (mut causality, mut complete) = (Causality::HappensBefore, false);
        let (mut expect_violation, mut strict) = (false, false);
        let (mut confirm, mut explore, mut max_runs) = (None, None, None);
        let mut target = None;
        let mut seen: Vec<String> = Vec::new();
        while !input.is_empty() {
            let setting: Setting = input.parse()?;
            let (word, span) = (setting.word.to_string(), setting.word.span());
            if seen.contains(&word) {
                return Err(syn::Error::new(span, format!("`{word}` is given twice")));
            }
            match word.as_str() {
                "property" | "spec" if source.is_some() => {
                    let what = "either `property` or `spec`: a file may have several properties";
                    return Err(syn::Error::new(span, what));
                }
                "property" => {
                    let text = setting.text("property = \"always (x >= y)\"")?;
                    source = Some(Source::Text(text));
                }
                "spec" => source = Some(Source::File(setting.text("spec = \"file.portent\"")?)),
                "find" => find = Some(kinds(setting.text("find = \"races, deadlocks\"")?)?),
                "causality" => {
                    causality = model(&setting.text("causality = \"strong\"")?)?;
                }
                "complete" => complete = setting.flag()?,
                "window" => window = Some(setting.number("window = 1000")?),
                "repeat" => repeat = setting.number("repeat = 10")?,
                "expect_violation" => expect_violation = setting.flag()?,
                "strict" => strict = setting.flag()?,
                "confirm" if setting.value.is_none() => confirm = Some(None),
                "confirm" => {
                    let path = setting.text("confirm` or `confirm = \"trace.jsonl\"")?;
                    confirm = Some(Some(path));
                }
                "explore" => explore = Some(way(&setting.text("explore = \"source\"")?)?),
                "target" => {
                    target = Some(target_of(setting.text("target = \"src/queue.rs:24\"")?)?)
                }
                "max_runs" => max_runs = Some(setting.number("max_runs = 1000")?),
                _ => return Err(unknown("option", &word, span, &WORDS)),
            }
            seen.push(word);
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        let wrong = |what: &str| Err(syn::Error::new(Span::call_site(), what));
        if source.is_none() && find.is_none() && explore.is_none() {
            return wrong(
                "what is to hold? Give `property = \"always (x >= y)\"`, `spec = \"file.portent\"` \
                 or `find = \"races, deadlocks\"`; or explore what may panic or wait for ever: `explore = \"source\"`",
            );
        }
        if max_runs.is_some() && explore.is_none() {
            return wrong("`max_runs` is for tests that are explored: `explore = \"source\"`");
        }
        if (explore == Some("Guided")) != target.is_some() {
            return wrong(
                "`explore = \"guided\"` goes with `target`, the places to which it is guided: `target = \"src/queue.rs:24\"`",
            );
        }
        if explore.is_some() {
            if let Some(kinds) = &find
                && kinds.value().contains("atomicity")
            {
                let what = "a test that is explored can `find = \"races, deadlocks\"`; blocks that are not atomic are found in tests that are recorded";
                return Err(syn::Error::new(kinds.span(), what));
            }
            let others = ["causality", "complete", "window", "repeat", "confirm"];
            if let Some(other) = seen.iter().find(|word| others.contains(&word.as_str())) {
                return wrong(&format!(
                    "`{other}` is for tests that are recorded, not explored"
                ));
            }
        }
        Ok(TestOptions {
            source,
            find,
            window,
            causality,
            complete,
            repeat,
            expect_violation,
            strict,
            confirm,
            explore,
            max_runs,
            target,
        })
    }
}

fn kinds(text: LitStr) -> syn::Result<LitStr> {
    for kind in text.value().split(',').map(str::trim) {
        if !KINDS.contains(&kind) {
            return Err(unknown("kind of finding", kind, text.span(), &KINDS));
        }
    }
    Ok(text)
}

/// That places are a file and a line each.
fn target_of(text: LitStr) -> syn::Result<LitStr> {
    let is_place = |place: &str| {
        let parts = place.trim().rsplit_once(':');
        parts.is_some_and(|(file, line)| !file.is_empty() && line.parse::<u32>().is_ok())
    };
    match text.value().split(',').find(|place| !is_place(place)) {
        Some(place) => {
            let what = format!(
                "`{}` is no place: one looks like `src/queue.rs:24`",
                place.trim()
            );
            Err(syn::Error::new(text.span(), what))
        }
        None => Ok(text),
    }
}

fn way(way: &LitStr) -> syn::Result<&'static str> {
    let name = way.value();
    let found = WAYS.iter().find(|(word, _)| *word == name);
    found.map(|(_, variant)| *variant).ok_or_else(|| {
        let words = WAYS.map(|(word, _)| word);
        unknown("strategy", &name, way.span(), &words)
    })
}

fn model(model: &LitStr) -> syn::Result<Causality> {
    match model.value().as_str() {
        "happens-before" => Ok(Causality::HappensBefore),
        "strong" => Ok(Causality::Strong),
        "maximal" => Ok(Causality::Maximal),
        other => Err(unknown("causality", other, model.span(), &MODELS)),
    }
}

/// That there is no such word, and which was probably meant.
fn unknown(kind: &str, word: &str, span: Span, words: &[&'static str]) -> syn::Error {
    let hint = match suggest::closest(word, words.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => {
            let all: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            format!("there are {}", all.join(", "))
        }
    };
    syn::Error::new(span, format!("`{word}` is no {kind}; {hint}"))
}

//! Properties at compile time: messages about them, and monitors as data of the program.

use portent_monitor_dsl::{Error, Monitor, Property, sealed::Sealed};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use serde_json::Value;
use syn::{
    LitStr, Token,
    parse::{Parse, ParseStream},
};

/// The content of `property! { ... }`.
pub(crate) struct PropertyText(LitStr);

impl Parse for PropertyText {
    fn parse(input: ParseStream<'_>) -> syn::Result<PropertyText> {
        let what = "expected a property as a string, as in `property! { \"always (x >= y)\" }`";
        let text = input
            .parse::<LitStr>()
            .map_err(|error| syn::Error::new(error.span(), what))?;
        input.parse::<Option<Token![,]>>()?;
        if !input.is_empty() {
            return Err(input.error("expected one property; the string was its end"));
        }
        Ok(PropertyText(text))
    }
}

/// The monitor as data, and one call that makes a monitor of them.
pub(crate) fn expand(PropertyText(text): &PropertyText) -> syn::Result<TokenStream> {
    let data = data(&in_literal(text)?, text.span())?;
    Ok(quote! {{
        static DATA: ::portent::dsl::sealed::Data = #data;
        static MONITOR: ::portent::annotated::OnceLock<::portent::Monitor> = ::portent::annotated::OnceLock::new();
        MONITOR.get_or_init(|| ::portent::dsl::sealed::unseal(&DATA))
    }})
}

/// The monitor of a text in the source.
pub(crate) fn in_literal(text: &LitStr) -> syn::Result<Monitor> {
    let monitor = Property::parse(text.value()).and_then(|property| property.monitor());
    monitor.map_err(|error| {
        let span = place(text, &error).unwrap_or_else(|| text.span());
        syn::Error::new(span, message(&error))
    })
}

/// The monitors of a file, which the literal names.
pub(crate) fn in_file(name: &LitStr, text: &str) -> syn::Result<Vec<Monitor>> {
    let monitors = Property::parse_file(&name.value(), text)
        .and_then(|all| all.iter().map(Property::monitor).collect());
    monitors.map_err(|error: Error| syn::Error::new(name.span(), message(&error)))
}

/// A monitor as constants.
pub(crate) fn data(monitor: &Monitor, span: Span) -> syn::Result<TokenStream> {
    let value = serde_json::to_value(Sealed(monitor));
    let value = value.map_err(|error| syn::Error::new(span, error))?;
    Ok(constant(&value))
}

fn constant(value: &Value) -> TokenStream {
    let constant = match value {
        Value::Null => quote!(Null),
        Value::Bool(value) => quote!(Bool(#value)),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => quote!(Int(#number)),
            (None, Some(number)) => quote!(Large(#number)),
            (None, None) => {
                let number = number.as_f64();
                quote!(Float(#number))
            }
        },
        Value::String(text) => quote!(Str(#text)),
        Value::Array(values) => {
            let values = values.iter().map(constant);
            quote!(List(&[#(#values),*]))
        }
        Value::Object(entries) => {
            let entries = entries.iter().map(|(name, value)| {
                let value = constant(value);
                quote!((#name, #value))
            });
            quote!(Map(&[#(#entries),*]))
        }
    };
    quote!(::portent::dsl::sealed::Data::#constant)
}

/// Without the word that the compiler puts before it.
fn message(error: &Error) -> String {
    let message = error.to_string();
    match message.strip_prefix("error: ") {
        Some(rest) => rest.to_owned(),
        None => message,
    }
}

/// The place in the literal, where the compiler knows parts of literals and the text stands there as it is; it does not on stable.
fn place(text: &LitStr, error: &Error) -> Option<Span> {
    let place = error.diagnostic()?.span();
    let token = text.token();
    let begin = token.to_string().find(&text.value())?;
    token.subspan(begin + place.start..begin + place.end)
}

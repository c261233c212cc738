//! `#[portent::test]`: the function that `cargo test` runs is one call of the façade, with the body as it was written.

use std::{env, fs, path::Path};

use portent_monitor_dsl::Monitor;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Ident, ItemFn, LitStr, spanned::Spanned};

use crate::{
    options::{Causality, Source, TestOptions},
    property::{data, in_file, in_literal},
};

pub(crate) fn expand(options: &TestOptions, function: ItemFn) -> syn::Result<TokenStream> {
    refuse(&function)?;
    let (monitors, tracked, span) = match &options.source {
        None => (Vec::new(), None, Span::call_site()),
        Some(Source::Text(text)) => (vec![in_literal(text)?], None, text.span()),
        Some(Source::File(name)) => {
            let (monitors, tracked) = read(name)?;
            (monitors, Some(tracked), name.span())
        }
    };
    let monitors: Vec<TokenStream> = { monitors.iter() }
        .map(|monitor| data(monitor, span))
        .collect::<syn::Result<_>>()?;
    let TestOptions {
        complete,
        repeat,
        expect_violation,
        strict,
        ..
    } = options;
    let causality = match options.causality {
        Causality::HappensBefore => quote!(HappensBefore),
        Causality::Strong => quote!(Strong),
        Causality::Maximal => quote!(Maximal),
    };
    let find = match &options.find {
        Some(kinds) => quote!(::core::option::Option::Some(#kinds)),
        None => quote!(::core::option::Option::None),
    };
    let window = match options.window {
        Some(window) => quote!(::core::option::Option::Some(#window)),
        None => quote!(::core::option::Option::None),
    };
    let ItemFn {
        attrs,
        vis,
        sig,
        block,
        ..
    } = function;
    let (name, output) = (&sig.ident, &sig.output);
    let spelled = name.to_string();
    let test = quote! {
        &::portent::annotated::Test {
            name: ::core::concat!(::core::module_path!(), "::", #spelled),
            monitors: &[#(#monitors),*],
            find: #find,
            window: #window,
            causality: ::portent::annotated::Model::#causality,
            complete: #complete,
            repeat: #repeat,
            expect_violation: #expect_violation,
            strict: #strict,
        }
    };
    let (output, call) = match options.explore {
        None => {
            let call = match &options.confirm {
                None => quote!(::portent::annotated::run(#test, body)),
                Some(None) => quote!(::portent::annotated::run_and_confirm(#test, body)),
                Some(Some(path)) => {
                    quote!(::portent::annotated::confirm_recording(#test, #path, body))
                }
            };
            (quote!(#output), call)
        }
        Some(way) => {
            let way = Ident::new(way, Span::call_site());
            let max_runs = match options.max_runs {
                Some(runs) => quote!(::core::option::Option::Some(#runs)),
                None => quote!(::core::option::Option::None),
            };
            let way = match &options.target {
                Some(target) => quote!(#way(#target)),
                None => quote!(#way),
            };
            // The return value of the body is checked in every run.
            let call = quote!(::portent::annotated::explore(
                #test, ::portent::annotated::Way::#way, #max_runs, body
            ));
            (quote!(), call)
        }
    };
    let returns = &sig.output;
    Ok(quote! {
        #(#attrs)*
        #[::core::prelude::v1::test]
        #vis fn #name() #output {
            #tracked
            fn body() #returns #block
            #call
        }
    })
}

/// Refuses functions that cannot be tests, or already are.
fn refuse(function: &ItemFn) -> syn::Result<()> {
    let signature = &function.sig;
    if let Some(test) =
        { function.attrs.iter() }.find(|attribute| attribute.path().is_ident("test"))
    {
        let what = "`#[portent::test]` makes it a test already; leave this out";
        return Err(syn::Error::new(test.span(), what));
    }
    if let Some(word) = &signature.asyncness {
        let what = "an async function cannot be checked: hooks follow threads, not tasks";
        return Err(syn::Error::new(word.span(), what));
    }
    if let Some(argument) = signature.inputs.first() {
        let what = "nobody gives a test arguments";
        return Err(syn::Error::new(argument.span(), what));
    }
    if let Some(parameter) = signature.generics.params.first() {
        let what = "a test has no parameters";
        return Err(syn::Error::new(parameter.span(), what));
    }
    Ok(())
}

/// The monitors of a file, and what makes the compiler look at it again when it changes.
fn read(name: &LitStr) -> syn::Result<(Vec<Monitor>, TokenStream)> {
    let folder = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default();
    let path = Path::new(&folder).join(name.value());
    let text = fs::read_to_string(&path).map_err(|error| {
        let what = format!(
            "cannot read `{}`: {error}; it is looked for from the folder of `Cargo.toml`",
            name.value()
        );
        syn::Error::new(name.span(), what)
    })?;
    let whole = path.display().to_string();
    let tracked = quote!(
        const _: &str = ::core::include_str!(#whole);
    );
    Ok((in_file(name, &text)?, tracked))
}

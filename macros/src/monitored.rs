//! `#[derive(portent::Monitored)]`: variables named after the struct and its fields.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Attribute, Data, DeriveInput, Fields, GenericArgument, LitStr, PathArguments, Type,
    spanned::Spanned,
};

pub(crate) fn expand(structure: &DeriveInput) -> syn::Result<TokenStream> {
    let only = "`Monitored` is for structs with named fields, each a `Shared<T>`";
    let Data::Struct(data) = &structure.data else {
        return Err(syn::Error::new(structure.ident.span(), only));
    };
    let Fields::Named(fields) = &data.fields else {
        return Err(syn::Error::new(structure.ident.span(), only));
    };
    let prefix = match given_name(&structure.attrs)? {
        Some(given) => given,
        None => structure.ident.to_string(),
    };
    let (mut names, mut types, mut spelled) = (Vec::new(), Vec::new(), Vec::new());
    for field in &fields.named {
        let Some(name) = &field.ident else { continue };
        let content = content(&field.ty).ok_or_else(|| {
            let what = "`Monitored` names variables: every field is a `Shared<T>`";
            syn::Error::new(field.ty.span(), what)
        })?;
        let plain = name.to_string();
        let plain = plain.trim_start_matches("r#");
        spelled.push(match given_name(&field.attrs)? {
            Some(given) => given,
            None if prefix.is_empty() => plain.to_owned(),
            None => format!("{prefix}.{plain}"),
        });
        names.push(name);
        types.push(content);
    }
    let (ident, vis) = (&structure.ident, &structure.vis);
    let (generics, arguments, bounds) = structure.generics.split_for_impl();
    let about = format!(
        "Variables with these values, called `{}`.",
        spelled.join("`, `")
    );
    Ok(quote! {
        #[automatically_derived]
        impl #generics #ident #arguments #bounds {
            #[doc = #about]
            #[allow(clippy::too_many_arguments)]
            #[track_caller]
            #vis fn new(#(#names: #types),*) -> Self {
                Self { #(#names: ::portent::Shared::with_name(#spelled, #names)),* }
            }
        }
    })
}

/// The `T` of a `Shared<T>`, however its path is written.
fn content(shared: &Type) -> Option<&Type> {
    let Type::Path(path) = shared else {
        return None;
    };
    let last = path.path.segments.last()?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    match arguments.args.first()? {
        GenericArgument::Type(content) if last.ident == "Shared" => Some(content),
        _ => None,
    }
}

/// The value of `#[monitored(name = "...")]`, if present.
fn given_name(attributes: &[Attribute]) -> syn::Result<Option<String>> {
    let mut given = None;
    for attribute in attributes {
        if !attribute.path().is_ident("monitored") {
            continue;
        }
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident("name") {
                return Err(meta.error("expected `name = \"...\"`"));
            }
            given = Some(meta.value()?.parse::<LitStr>()?.value());
            Ok(())
        })?;
    }
    Ok(given)
}

//! The token that clients and viewers must present, if one is required.

use std::{env, fs, path::Path};

use subtle::ConstantTimeEq;

use crate::failure::Failure;

/// A secret. The time of a comparison does not depend on where the two differ.
pub(super) struct Token(Vec<u8>);

impl Token {
    /// The token in a file, or in the environment, if there is one.
    pub(super) fn find(file: Option<&Path>) -> Result<Option<Token>, Failure> {
        let secret = match file {
            Some(path) => Some(fs::read(path).map_err(|error| Failure::Read {
                path: path.to_owned(),
                error,
            })?),
            None => env::var("PORTENT_TOKEN").ok().map(String::into_bytes),
        };
        let secret = secret.map(|secret| secret.trim_ascii().to_vec());
        if secret.as_ref().is_some_and(Vec::is_empty) {
            return Err(Failure::Usage(
                "the token is empty; anybody would have it".to_owned(),
            ));
        }
        Ok(secret.map(Token))
    }

    pub(super) fn is(&self, given: Option<&str>) -> bool {
        let given = given.unwrap_or_default().as_bytes();
        self.0.ct_eq(given).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_token_will_do() {
        let token = Token(b"secret".to_vec());
        assert!(token.is(Some("secret")));
        for wrong in [
            None,
            Some(""),
            Some("secre"),
            Some("secrets"),
            Some("Secret"),
        ] {
            assert!(!token.is(wrong), "{wrong:?}");
        }
    }
}

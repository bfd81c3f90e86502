//! Secrets: values that must never be written down or shown. Here is what they look like wherever
//! they may turn up, and how they are taken out of a text or of a stream that comes in pieces. A
//! secret cannot be printed for debugging and cannot be serialised; code that must pass it on asks for
//! it by [`Secrets::revealed`]. Nothing here knows where a value comes from.

mod encoded_forms;
mod escaped_spellings;
mod masker;

pub use masker::Masker;

use encoded_forms::Forms;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// What replaces a secret.
pub const MASK: &str = "***";

/// The variable by which a run gives the names of its secrets, separated by commas, to a towpath
/// that one of its steps starts. The values are in that process's environment or nowhere.
pub const SECRETS_VARIABLE: &str = "TOWPATH_SECRETS";

/// Masking anything shorter would wreck what has nothing to do with it.
pub const SHORTEST_SECRET: usize = 4;

/// Named values that are masked. Cheap to clone.
#[derive(Clone, Default)]
pub struct Secrets {
    known: Option<Arc<Known>>,
}

struct Known {
    values: Vec<(String, Vec<u8>)>,
    forms: Forms,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the value of {name} has fewer than {SHORTEST_SECRET} characters")]
pub struct TooShort {
    pub name: String,
}

impl Secrets {
    pub fn new(values: Vec<(String, Vec<u8>)>) -> Result<Secrets, TooShort> {
        let length = |value: &[u8]| String::from_utf8_lossy(value).trim().chars().count();
        if let Some((name, _)) = values.iter().find(|(_, v)| length(v) < SHORTEST_SECRET) {
            return Err(TooShort { name: name.clone() });
        }
        if values.is_empty() {
            return Ok(Secrets::default());
        }
        let forms = Forms::of(values.iter().map(|(_, value)| value.as_slice()));
        Ok(Secrets { known: Some(Arc::new(Known { values, forms })) })
    }

    pub fn is_empty(&self) -> bool {
        self.known.is_none()
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.revealed().map(|(name, _)| name)
    }

    /// The values themselves, for another process that has to mask. Never for a disk.
    pub fn revealed(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let values = self.known.iter().flat_map(|known| &known.values);
        values.map(|(name, value)| (name.as_str(), value.as_slice()))
    }

    /// For one stream; none where there is nothing to mask.
    pub fn masker(&self) -> Option<Masker> {
        self.known.clone().map(Masker::new)
    }

    /// The name of a secret that these bytes contain.
    pub fn found_in(&self, bytes: &[u8]) -> Option<&str> {
        let known = self.known.as_ref()?;
        let secret = Masker::new(Arc::clone(known)).found(bytes)?;
        Some(&known.values[secret].0)
    }

    pub fn mask_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let Some(mut masker) = self.masker() else { return Cow::Borrowed(bytes) };
        let mut masked = masker.push(bytes).to_owned();
        masked.extend_from_slice(masker.finish());
        Cow::Owned(masked)
    }

    pub fn mask<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.mask_bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(masked) => Cow::Owned(String::from_utf8_lossy(&masked).into_owned()),
        }
    }

    /// Masks every string inside; names of fields stay.
    pub fn mask_value(&self, value: &mut crate::Value) {
        match value {
            _ if self.is_empty() => {}
            crate::Value::String(text) => *text = self.mask(text).into_owned(),
            crate::Value::Array(items) => items.iter_mut().for_each(|item| self.mask_value(item)),
            crate::Value::Object(fields) => {
                fields.values_mut().for_each(|field| self.mask_value(field));
            }
            _ => {}
        }
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Known")
    }
}

#[cfg(test)]
mod tests;

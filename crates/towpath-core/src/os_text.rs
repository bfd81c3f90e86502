//! Paths, arguments and variables in JSON. On Unix they are bytes, mostly UTF-8: text travels as a JSON
//! string, other bytes as a list of numbers, so that nothing is lost on the way.

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

/// Any byte string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OsText(pub OsString);

impl<T: AsRef<OsStr>> From<&T> for OsText {
    fn from(text: &T) -> OsText {
        OsText(text.as_ref().to_owned())
    }
}

impl Serialize for OsText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize(&self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for OsText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<OsText, D::Error> {
        deserializer.deserialize_any(OsTextVisitor)
    }
}

/// For a field of type `PathBuf` or `OsString`: `#[serde(with = "towpath_core::os_text")]`.
pub fn serialize<S: Serializer>(
    text: &impl AsRef<OsStr>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let text = text.as_ref();
    match text.to_str() {
        Some(text) => serializer.serialize_str(text),
        None => serializer.collect_seq(text.as_bytes()),
    }
}

/// The other half of [`serialize`].
pub fn deserialize<'de, T: From<OsString>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    OsText::deserialize(deserializer).map(|text| text.0.into())
}

/// For a field of type `Vec<PathBuf>`: `#[serde(with = "towpath_core::os_text::list")]`.
pub mod list {
    use super::OsText;
    use serde::{Deserialize as _, Deserializer, Serializer};
    use std::path::PathBuf;

    pub fn serialize<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(paths.iter().map(OsText::from))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<PathBuf>, D::Error> {
        let texts = Vec::<OsText>::deserialize(deserializer)?;
        Ok(texts.into_iter().map(|text| text.0.into()).collect())
    }
}

struct OsTextVisitor;

impl<'de> Visitor<'de> for OsTextVisitor {
    type Value = OsText;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a string or a list of bytes")
    }

    fn visit_str<E>(self, text: &str) -> Result<OsText, E> {
        Ok(OsText(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<OsText, A::Error> {
        let mut bytes = Vec::new();
        while let Some(byte) = list.next_element()? {
            bytes.push(byte);
        }
        Ok(OsText(OsString::from_vec(bytes)))
    }
}

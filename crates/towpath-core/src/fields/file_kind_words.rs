//! What messages call a kind of file and its parts, where kinds of files differ.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileKind {
    /// With its article: `a recipe`.
    pub name: &'static str,
    /// What an empty file is reported to need: `` `name` and `steps` ``.
    pub needs: &'static str,
    /// One entry of a map: `field` or `key`.
    pub field: &'static str,
    /// The code of a field that is not known, and of one without a value.
    pub unknown_code: &'static str,
    pub empty_code: &'static str,
    /// What a map of fields is called.
    pub map: &'static str,
    /// Between the words of a choice.
    pub or: &'static str,
    /// Whether a short value of the wrong type is shown as it is written, instead of its type.
    pub shows_written: bool,
}

//! Any bytes, and texts made of everything that means something in a document: reading them never
//! panics, the nodes are the whole text, and every problem is at a location in it. `fuzz_check` has the
//! assertions.

use crate::fuzz_check::check;
use proptest::prelude::*;

/// Pieces of documents. Their order is random, so that most of what they open is never closed.
pub const TOKENS: &[&str] = &[
    "@run [",
    "@run [[",
    "@run [echo {{x}}]",
    "@run $f(",
    "@run $f(\"a\", {{x}})",
    "@define f(a) = ",
    "@define f(a) = [echo {{a}} \"$1\"]",
    "@define g = @run $f(",
    "@text x = ",
    "@text x = \"a\"",
    "@text y = [[",
    "@data d = {",
    "@data d = {\"k\": [1, {\"l\": null}]}",
    "@data d = @run [",
    "@path p = \"",
    "@embed [",
    "@embed [a # h]",
    "@import [a]",
    "@import [x, f as g] from [a]",
    "@import [main]",
    "@text",
    "@",
    "]",
    "]]",
    "[[",
    "[",
    "{{x}}",
    "{{ d.k[0] }}",
    "{{d.l}}",
    "{{$1}}",
    "{{",
    "}}",
    "{",
    "}",
    "\\",
    "\\\\",
    "\"",
    "'",
    "`",
    "```",
    "~~~",
    "<!--",
    "-->",
    "<!-- towpath",
    "<!-- towpath:begin x -->",
    "<!-- towpath:end -->",
    "\n",
    "\n",
    "\n",
    "\n]]\n",
    "\r\n",
    "\r",
    "\u{feff}",
    " ",
    "    ",
    "\t",
    "> ",
    ">> ",
    "- ",
    "1. ",
    "# h",
    "(",
    ")",
    ",",
    " = ",
    " ++ ",
    "$f",
    "$(x)",
    "$((",
    "<<EOF\n",
    "a",
    "é",
    "日",
    "\u{0}",
];

pub fn token_text() -> impl Strategy<Value = String> {
    let token = prop::sample::select(TOKENS);
    prop::collection::vec(token, 0..24).prop_map(|tokens| tokens.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check(&bytes);
    }

    #[test]
    fn text_is_read(text in "[\\PC\n\t]{0,120}") {
        check(text.as_bytes());
    }

    #[test]
    fn tokens_are_read(text in token_text()) {
        check(text.as_bytes());
    }

    /// Bytes that are not UTF-8 among the tokens.
    #[test]
    fn broken_characters_are_read(text in token_text(), at in any::<prop::sample::Index>(), byte in 0x80u8..) {
        let mut bytes = text.into_bytes();
        bytes.insert(at.index(bytes.len() + 1), byte);
        check(&bytes);
    }
}

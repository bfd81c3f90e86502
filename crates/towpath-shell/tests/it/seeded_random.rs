//! Random values that a seed repeats.

/// How many random cases: the `CASES` variable multiplies them, for a long search by hand.
pub fn scale(cases: u64) -> u64 {
    let times = std::env::var("CASES").ok().and_then(|t| t.parse().ok()).unwrap_or(1);
    cases * times
}

/// Repeatable chance (SplitMix64): a failing seed is its own recipe.
pub struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }

    /// A value made of everything that means something to bash.
    pub fn value(&mut self) -> String {
        let parts = 1 + self.below(8);
        match self.below(12) {
            0 => String::new(),
            1 => ["-n", "{{v0}}", "a[$(touch pwned)]", "EOF", "~", "\n", "\\", "$", "#"]
                [self.below(9)]
            .to_owned(),
            _ => (0..parts).map(|_| PIECES[self.below(PIECES.len())]).collect(),
        }
    }
}

const PIECES: &[&str] = &[
    "a",
    "b c",
    " ",
    "  ",
    "\t",
    "\n",
    "\n\n",
    "'",
    "\"",
    "`",
    "\\",
    "\\\\",
    "$",
    "$x",
    "${HOME}",
    "$(touch pwned)",
    "`touch pwned`",
    "; touch pwned; ",
    "\ntouch pwned\n",
    "' ; touch pwned '",
    "\" ; touch pwned \"",
    ")",
    "(",
    "}",
    "{",
    "{a,b}",
    "*",
    "?",
    "[a-z]",
    "]",
    "!",
    "#",
    " #",
    "~",
    "&",
    "|",
    "<",
    ">",
    "%",
    "/",
    "=",
    "é",
    "日本",
    "\u{202e}",
    "\r\n",
    "\nEOF\n",
    "\n\tEOF\n",
    "{{v0}}",
    "-n",
    "^",
    "+",
    ".",
    "@",
    "\u{e000}",
    "\\n",
    "$'",
    "$\"",
    "a[$(touch pwned)]",
];

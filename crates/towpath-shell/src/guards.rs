//! Questions that only the running bash can answer, asked in the words of a script without a process.
//!
//! An attribute of a variable decides whether bash stores a value or evaluates it, and countless ways
//! lead to one: aliases, traps, expanded names, other files, dynamic scope. So the word itself asks
//! at the moment of use, `n="$value""${…n@a…}"`, and fails to expand where the value could run. In
//! the same way a command whose name only bash knows is asked what it is before it gets a value.

/// The condition on a variable where a value reaches it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// `n=…`: no integer.
    Assigned,
    /// `declare n=…`: no integer, and no array, of which bash would read the value as the text.
    Declared,
    /// `m[…]`: an associative array.
    Key,
    /// `declare -A m=([…]=…)`: not an array of numbers, which it would stay.
    NewKey,
}

/// For each guard, the letters of attributes that are looked for, and after a small letter what must
/// be left of them. `zx` is for a variable that is set.
const TABLE: &str = "[I]=i [D]=iaA [K]=A [N]=a [E]=_ [zx]= [ii]= [diaA]= [k]= [na]=";

/// Builtins that read their arguments as code, as names or as numbers.
const EVALUATING: &str = "eval|let|declare|typeset|local|export|readonly|read|mapfile|readarray|\
                          unset|getopts|trap|alias|compgen|complete";

/// Text in a script that may give a variable attributes. Only a new bash can be asked for them.
const DECLARING: [&str; 12] = [
    "declare", "typeset", "local", "integer", "float", "eval", "source", ". ", "alias", "trap",
    "RANDOM", "SECONDS",
];

impl Guard {
    /// An expansion that is empty or fails. With `assigned` it also fails for a reference without a
    /// target, of which nothing else is seen: it takes no empty name. A variable that was not set
    /// is empty then.
    pub fn expansion(self, prefix: &str, name: &str, assigned: bool) -> String {
        let (kind, reason) = match self {
            Guard::Assigned => ('i', "is an integer or a reference"),
            Guard::Declared => ('d', "is an integer, an array or a reference"),
            Guard::Key => ('k', "is no associative array"),
            Guard::NewKey => ('n', "is an array already"),
        };
        let table = format!("{prefix}a");
        let letters = kind.to_ascii_uppercase();
        let assign = if assigned { format!("${{{name}=}}") } else { String::new() };
        // With `set -u`, bash gives the attributes of a variable without elements only within its
        // declaration: that is kept in a list, and cut.
        let declaration = format!(
            "${{{table}[E]#${{{prefix}t[${{#{prefix}t[@]}}]=${{{name}[@]@A}}}}}}${{{prefix}t[-1]:9:2}}"
        );
        let without_elements = format!("${{{table}[z${{{name}[@]+x}}]-{declaration}}}");
        let unset =
            format!("${{{table}[z${{{name}+x}}]-${{{name}[@]@a}}{without_elements}{assign}}}");
        let attributes = format!("${{{name}+${{{name}@a}}}}{unset}");
        format!(
            "${{{prefix}o-${{{table}[{kind}${{{table}[{letters}]#*[_{attributes}]}}]-\
             ${{{prefix}?{name} {reason} here, so bash could run the value}}}}}}"
        )
    }
}

/// Whether a text may give variables attributes, as far as can be seen.
pub fn declares(text: &str) -> bool {
    DECLARING.iter().any(|word| text.contains(word))
}

/// The word before a command whose name only bash knows.
pub fn asked_command(prefix: &str) -> String {
    format!("{prefix}run ")
}

/// The declarations that a script needs before its first command to ask its questions.
pub fn prelude(prefix: &str, script: &str) -> String {
    let mut text = String::new();
    if script.contains(&format!("{prefix}a[")) {
        let old = match declares(script) {
            true => "echo 'values beside declarations need bash 5.1 or newer' >&2; exit 125".into(),
            false => format!("{prefix}o="),
        };
        text += &format!(
            "if ((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] > 500)); then \
             declare -A {prefix}a=({TABLE}); {prefix}t=(); else {old}; fi; "
        );
    }
    if script.contains(&asked_command(prefix)) {
        let [word, name, before, other] = ["w", "n", "y", "x"].map(|end| format!("{prefix}{end}"));
        text += &format!(
            "{prefix}run() {{ for {word}; do case ${word} in command|builtin|-*) continue;; \
             {EVALUATING}) ;; printf|test|'['|wait) {name}=${word}; {word}=; {before}=; \
             for {other}; do case ${name}:${before}:${other} in \
             printf:printf:-v*|test:*:-[vR]|'[':*:-[vR]|wait:*:-p*) {word}=${name};; esac; \
             {before}=${other}; done;; *) {word}=;; esac; break; done; \
             if [ -n \"${word}\" ]; then echo \"${word} could run the value that it gets here\" >&2; \
             exit 125; fi; \"$@\"; }}; "
        );
    }
    text
}

/// The script without its questions, for a reader.
pub fn without_guards(prefix: &str, script: &str) -> String {
    let (mut text, mut rest) = (String::new(), script);
    let start = format!("${{{prefix}o-");
    let reason = format!("${{{prefix}?");
    while let Some((before, guard)) = rest.split_once(&start) {
        let after = guard.split_once(&reason).and_then(|(_, end)| end.split_once("}}}"));
        let Some((_, after)) = after else { break };
        match (before.strip_suffix('"'), after.strip_prefix('"')) {
            (Some(before), Some(after)) => (text, rest) = (text + before, after),
            _ => (text, rest) = (text + before, after),
        }
    }
    (text + rest).replace(&asked_command(prefix), "")
}

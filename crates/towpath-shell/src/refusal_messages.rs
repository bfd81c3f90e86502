//! Why a text with placeholders is refused: one table of messages, each with what to write instead.

/// Why no value is possible somewhere, and what to write instead.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    pub message: &'static str,
    pub help: &'static str,
}

const BY_VARIABLE: &str = "assign it to a variable first: `x={{v}}`, then use \"$x\"";

/// The help where it is not certain how bash would read a part of the text.
pub const SIMPLER: &str =
    "write this part in a simpler way, or assign the value to a variable on a line before it";

macro_rules! refusals {
    ($($name:ident: $message:literal, $help:expr;)*) => {
        $(pub static $name: Refusal = Refusal { message: $message, help: $help };)*
    };
}

refusals! {
    VARIABLE_NAME: "a value cannot be the name of a variable",
        "write the name itself, or keep the values in an associative array";
    FUNCTION_NAME: "a value cannot be the name of a function", "write the name itself";
    DELIMITER: "a value cannot be the delimiter of a here-document", "write a fixed word such as EOF";
    UNSURE: "it is not certain how bash would read this value", BY_VARIABLE;
    BACKSLASH: "a backslash right before a value would change how it is read", BY_VARIABLE;
    CLASS: "a value cannot be between the brackets of a pattern", "write the characters out";
    REPLACEMENT: "bash would split this value into words, and expand them",
        "write the expansion in double quotes: \"${x/a/{{v}}}\"";
    SEQUENCE: "a value cannot be the bound of a sequence: bash expands {a..b} before it knows it",
        "use `seq 1 {{v}}`, or `for ((i = 1; i <= {{v}}; i++))`";
    NUMBER: "a number here would join the text beside it",
        "put a blank or an operator between the value and its neighbour";
    CALCULATED: "bash would calculate with this value before it could be checked",
        "use the value on its own: `$(( {{v}} + 1 ))`";
    PARENTHESES: "`((` could begin arithmetic or two subshells",
        "write a blank between the parentheses, as in `$( (…) )`";
    ARRAY_TEXT: "bash would read this value as the text of an array, and run what is in it",
        "write the elements in parentheses: `x=({{v}})`";
    REFERENCE: "this variable is a reference (`-n`): bash would read the value as a name",
        "use a variable of its own";
    ASSOCIATIVE: "it is not certain that this array is associative here: bash could run the value",
        "declare it with `declare -A` on a line before, in the same function, and nowhere else";
    DECLARATION: "a value here could be read as the name of a variable",
        "write `export NAME={{v}}` plainly: without `command` or `builtin`, the name not quoted";
    UNCLOSED: "this here-document has no end line", "end it with its delimiter on a line of its own";
    DESCRIPTOR: "bash would expand this value twice, or take it for a file descriptor",
        "write `> {{v}} 2>&1` for a file";
    ATTRIBUTES: "a declaration that only bash can read may make this variable an integer or a \
        reference: bash could run the value",
        "declare with plain names and flags, or use the value itself: \"{{v}}\"";
    EVALUATED_READ: "`read`, or a command like it, sets a variable declared `-i` or `-n` in this text: \
        bash could run a value that arrives there",
        "read into a variable of its own, and check that it is a number";
    CODE_VARIABLE: "bash expands or runs the value of this variable", "write the text itself";
    KEYWORD: "with `set -k` bash takes this argument for an assignment", "do without `set -k`";
    DEFAULT: "bash would split this value into words: it is assigned without its quotes",
        "write `\"${x:={{v}}}\"`, with nothing but the value in it";
    DEEP_SHELLS: "too many shells start one another here", "put the inner code into a script file";
    DEEP: "the backticks nest too deeply", "use `$(…)`";
}

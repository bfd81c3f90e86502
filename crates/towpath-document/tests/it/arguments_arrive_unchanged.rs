//! An argument of any text arrives in its command as it is, however it is written in the call and
//! however the command quotes it.

use crate::render_with_real_bash::bash;
use proptest::prelude::*;
use std::path::Path;
use towpath_core::{Map, Value};
use towpath_document::{CommandEnd, DocumentSet, Evaluation, FileKind, Next, Roots, read};

/// Everything that means something to bash, or to the reader of arguments.
const PIECES: &[&str] = &[
    "a",
    "b c",
    " ",
    "  ",
    "\t",
    "\n",
    "\n\n",
    "\r",
    "\r\n",
    "'",
    "\"",
    "`",
    "\\",
    "\\\\",
    "\\n",
    "\\\"",
    "$",
    "$1",
    "$x",
    "${HOME}",
    "$(x)",
    "$(touch no)",
    "`touch no`",
    "$((1))",
    ",",
    "(",
    ")",
    "[",
    "]",
    "]]",
    "{",
    "}",
    "{{y}}",
    "{{v0}}",
    "{{$1}}",
    "\\{{y}}",
    "{{",
    "}}",
    "{a,b}",
    "*",
    "?",
    "~",
    "!",
    "#",
    " #",
    ";",
    "&",
    "|",
    "<",
    ">",
    "%s",
    "=",
    "-n",
    "é",
    "日本",
    "\u{202e}",
    "\u{1f469}\u{200d}\u{1f467}",
    "\u{e000}",
    "\nEOF\n",
    "\nNOW\n",
    "@run [x]",
    "++",
    "__towpath_",
];

/// One parameter in every context of a shell text. Each prints the value and a NUL byte; the value of
/// a here-document, and what a command prints, is between dots.
const CONTEXTS: &[(&str, bool)] = &[
    ("printf '%s\\0' {{V}}", false),
    ("printf '%s\\0' \"{{V}}\"", false),
    ("printf '%s\\0' '{{V}}'", false),
    ("printf '%s\\0' $'{{V}}'", false),
    ("printf '%s\\0' .{{V}}\".\"", true),
    ("printf '%s\\0' \"$(printf '.%s.' {{V}})\"", true),
    ("printf '%s\\0' \"$(printf '.%s.' \"{{V}}\")\"", true),
    ("printf '%s\\0' \"`printf '.%s.' {{V}}`\"", true),
    ("x={{V}}; printf '%s\\0' \"$x\"", false),
    ("printf '%s\\0' \"${unset:-{{V}}}\"", false),
    ("IFS= read -r -d '' x < <(cat <<'EOF'\n.{{V}}.\nEOF\n); printf '%s\\0' \"${x%$'\\n'}\"", true),
    ("IFS= read -r -d '' x < <(cat <<NOW\n.{{V}}.\nNOW\n); printf '%s\\0' \"${x%$'\\n'}\"", true),
];

/// How a call writes an argument.
#[derive(Debug, Clone, Copy)]
enum Written {
    Double,
    Single,
    Backtick,
    Reference,
    /// `"{{r}}"`
    ReferenceInString,
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::sample::select(PIECES).prop_map(str::to_owned),
        1 => any::<char>().prop_filter("no value has a NUL", |c| *c != '\0').prop_map(String::from),
    ]
}

fn value() -> impl Strategy<Value = String> {
    prop::collection::vec(piece(), 0..7).prop_map(|pieces| pieces.concat())
}

fn written() -> impl Strategy<Value = Written> {
    prop::sample::select(
        &[
            Written::Double,
            Written::Single,
            Written::Backtick,
            Written::Reference,
            Written::ReferenceInString,
        ][..],
    )
}

/// An argument as a call has it. A string in a call is on one line.
fn argument(value: &str, written: Written, index: usize) -> String {
    let escaped = |quote: char| {
        let text = value.replace('\\', "\\\\").replace(quote, &format!("\\{quote}"));
        let text = text.replace('\n', "\\n").replace("{{", "\\{{");
        format!("{quote}{text}{quote}")
    };
    match written {
        Written::Double => escaped('"'),
        Written::Backtick => escaped('`'),
        Written::Single if value.contains('\n') => escaped('"'),
        Written::Single => format!("'{}'", value.replace('\\', "\\\\").replace('\'', "\\'")),
        Written::Reference => format!("{{{{r{index}}}}}"),
        Written::ReferenceInString => format!("\"{{{{ r{index} }}}}\""),
    }
}

/// A document whose one command prints all values in all contexts, then all of its arguments.
fn document(values: &[(String, Written)]) -> String {
    let parameters: Vec<String> = (0..values.len()).map(|index| format!("v{index}")).collect();
    let mut text = format!("@define show({}) = @run [[\n", parameters.join(", "));
    for parameter in &parameters {
        for (context, _) in CONTEXTS {
            text.push_str(&context.replace("{{V}}", &format!("{{{{{parameter}}}}}")));
            text.push('\n');
        }
    }
    text.push_str("printf '%s\\0' \"$1\" \"$#\" \"$@\"\n]]\n");
    let arguments = values.iter().enumerate();
    let arguments = arguments.map(|(index, (value, written))| argument(value, *written, index));
    text.push_str(&format!("@run $show({})\n", arguments.collect::<Vec<_>>().join(" , ")));
    text
}

fn expected(values: &[(String, Written)]) -> Vec<String> {
    let in_contexts = values.iter().flat_map(|(value, _)| {
        CONTEXTS.iter().map(move |(_, dots)| match dots {
            true => format!(".{value}."),
            false => value.clone(),
        })
    });
    let given = [values[0].0.clone(), values.len().to_string()];
    in_contexts.chain(given).chain(values.iter().map(|(value, _)| value.clone())).collect()
}

fn printed(text: &str, values: &[(String, Written)], directory: &Path) -> Vec<String> {
    let values = values.iter().enumerate();
    let inputs: Map = values
        .map(|(index, (value, _))| (format!("r{index}"), Value::from(value.as_str())))
        .collect();
    let read = read("main.md", text.as_bytes().to_vec(), FileKind::Markdown);
    let mut evaluation =
        Evaluation::new(DocumentSet::new("main.md", read), Roots::default(), inputs);
    let Next::Run(command) = evaluation.advance() else {
        panic!("{:?}\n{text}", evaluation.problems())
    };
    let CommandEnd::Succeeded(output) = bash(&command.filled.expect("known"), directory) else {
        panic!("the command fails:\n{text}")
    };
    let text = String::from_utf8(output).expect("text");
    text.strip_suffix('\0').expect("the last NUL").split('\0').map(str::to_owned).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arguments_arrive_as_they_are(values in prop::collection::vec((value(), written()), 1..20)) {
        let directory = tempfile::tempdir().expect("a directory");
        let text = document(&values);
        let printed = printed(&text, &values, directory.path());
        let expected = expected(&values);
        for (index, (printed, expected)) in printed.iter().zip(&expected).enumerate() {
            prop_assert_eq!(printed, expected, "{} of\n{}", index, text);
        }
        prop_assert_eq!(printed.len(), expected.len());
        prop_assert!(std::fs::read_dir(directory.path()).expect("readable").next().is_none());
    }
}

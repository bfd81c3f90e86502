//! What is found before anything runs is exactly what evaluating would find, commands and what they
//! print aside.

use proptest::prelude::*;
use towpath_core::{Diagnostic, Map};
use towpath_document::{
    Checked, CommandEnd, DocumentSet, Evaluation, FileKind, Files, Found, Inputs, Next, Roots,
    check, read,
};

/// Two files, and no other.
struct TwoFiles;

impl Files for TwoFiles {
    fn import(&self, path: &str) -> Result<Found, String> {
        let bytes = self.embed(path)?;
        Ok(Found { identity: path.to_owned(), name: path.to_owned(), bytes })
    }

    fn embed(&self, path: &str) -> Result<Vec<u8>, String> {
        match path {
            "good" => Ok(b"# h\n@text i = \"in\"\n@define imported(a) = [echo {{a}}]\n".to_vec()),
            "bad" => Ok(b"@text b = \"{{nowhere}}\"\n".to_vec()),
            _ => Err("there is no such file".to_owned()),
        }
    }
}

/// What a document may have in a line. `r` is the only variable whose value comes from a command, and
/// nothing asks for a field of it: what it has is known only when the command has run.
const LINES: &[&str] = &[
    "prose",
    "{{t}} {{d.k}} {{r}} {{i}}",
    "{{d.missing}}",
    "{{t.field}}",
    "\\{{t}} \\@run [x]",
    "@text t = \"a\"",
    "@text t = \"{{t}}{{d.k}}\"",
    "@text t = \"{{undefined}}\"",
    "@text t = \"{{r}}\"",
    "@data d = {\"k\": [1]}",
    "@data d = [",
    "@path p = \"$./x\"",
    "@text r = @run [date]",
    "@run [echo {{t}}]",
    "@run [echo {{r}} {{d.k.0}}]",
    "@run [echo $(( {{n}} ))]",
    "@data n = 3",
    "@text n = \"three\"",
    "@define f(a) = @run [echo {{a}}]",
    "@define f(a, b) = @run [echo {{a}} {{b}} {{t}}]",
    "@define g = @run $f({{t}})",
    "@define f(a) = @run $g",
    "@define h = @run [echo {{$1}} {{$2}}]",
    "@define bad(a, a) = @run [x]",
    "@run $f(x)",
    "@run $f(x, {{r}})",
    "@run $g",
    "@run $h(1, 2)",
    "@run $h(1)",
    "@run $imported(\"x\")",
    "@run $nothing",
    "@run $bad(1)",
    "@run [$f]",
    "@run [$undefined_shell_variable]",
    "@embed [good # h]",
    "@embed [good # missing]",
    "@embed [missing]",
    "@import [good]",
    "@import [i, imported as f] from [good]",
    "@import [missing] from [good]",
    "@import [bad]",
    "@run [",
];

fn document() -> impl Strategy<Value = String> {
    let lines = prop::collection::vec(prop::sample::select(LINES), 1..10);
    lines.prop_map(|lines| lines.join("\n"))
}

fn set(text: &str) -> DocumentSet {
    DocumentSet::new("main.md", read("main.md", text.as_bytes().to_vec(), FileKind::Markdown))
}

fn checked(text: &str) -> Checked {
    check(set(text), &Roots::default(), &Inputs::default(), &TwoFiles)
}

/// Every command prints the same.
fn evaluated(text: &str) -> Evaluation {
    let mut evaluation = Evaluation::new(set(text), Roots::default(), Map::new());
    loop {
        match evaluation.advance() {
            Next::Done => return evaluation,
            Next::Run(_) => evaluation.command_ended(CommandEnd::Succeeded(b"4\n".to_vec())),
            Next::Embed { path, .. } => evaluation.embedded(TwoFiles.embed(&path)),
            Next::Import { path } => evaluation.imported(TwoFiles.import(&path)),
        }
    }
}

/// A file that a command above could have written is looked for only when that has run.
fn is_known_later(problem: &Diagnostic, ran: bool) -> bool {
    ran && problem.message.starts_with("cannot embed")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_check_finds_what_evaluating_finds(text in document()) {
        let (checked, evaluated) = (checked(&text), evaluated(&text));
        let read = checked.set.entry().problems.iter().any(Diagnostic::is_error);
        let ran = !evaluated.commands().is_empty();
        let mut errors = evaluated.problems().iter().filter(|problem| problem.is_error());
        let first = errors.next();
        if !checked.has_errors() {
            let later = first.is_none_or(|problem| is_known_later(problem, ran));
            prop_assert!(later, "only found later: {:?}", first);
        } else if !read {
            prop_assert!(first.is_some(), "only found before: {:?}", checked.problems);
        }
        // The first error of an evaluation is among those that were found before.
        if let Some(first) = first.filter(|problem| !read && !is_known_later(problem, ran)) {
            let found = checked.problems.iter().any(|problem| problem.message == first.message);
            prop_assert!(found, "{:?} is not among {:?}", first.message, checked.problems);
        }
    }

    #[test]
    fn everything_is_the_same_the_second_time(text in document()) {
        let (first, second) = (evaluated(&text), evaluated(&text));
        prop_assert_eq!(first.output(), second.output());
        prop_assert_eq!(first.problems(), second.problems());
        prop_assert_eq!(first.commands(), second.commands());
        let (first, second) = (checked(&text), checked(&text));
        prop_assert_eq!(&first.problems, &second.problems);
        prop_assert_eq!(&first.commands, &second.commands);
        let without = |checked: Checked| checked.without_running(&Roots::default(), &Inputs::default(), &TwoFiles);
        prop_assert_eq!(without(first), without(second));
    }
}

/// Of names that are equally near, always the same one is suggested.
#[test]
fn suggestions_are_always_the_same() {
    let text: String = (0..10)
        .map(|n| format!("@define comand{n} = @run [x]\n@text text{n} = @run [x]\n"))
        .chain(["@run $command\n".to_owned(), "@text t = \"{{texts}}\"\n".to_owned()])
        .collect();
    for _ in 0..20 {
        let helps: Vec<Option<String>> =
            checked(&text).problems.into_iter().map(|problem| problem.help).collect();
        let expected = ["did you mean $comand0?", "did you mean {{text0}}?"];
        assert_eq!(helps, expected.map(|help| Some(help.to_owned())));
    }
}

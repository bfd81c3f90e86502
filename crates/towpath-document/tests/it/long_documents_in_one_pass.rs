//! A long document is read and evaluated in one pass. Each of these would take minutes if a part of
//! the text were looked through again for each of its lines, braces or brackets.

use towpath_core::{Diagnostic, Map};
use towpath_document::{
    CommandEnd, DocumentSet, Evaluation, FileKind, Files, Found, Inputs, Next, Roots, check, read,
    read_regions, tree_json,
};

/// One file that defines much.
struct OneFile(String);

impl Files for OneFile {
    fn import(&self, path: &str) -> Result<Found, String> {
        let bytes = self.embed(path)?;
        Ok(Found { identity: path.to_owned(), name: path.to_owned(), bytes })
    }

    fn embed(&self, _: &str) -> Result<Vec<u8>, String> {
        Ok(self.0.clone().into_bytes())
    }
}

fn render(text: &str, files: &OneFile) -> Evaluation {
    let set = DocumentSet::new("main.mld", read("main.mld", text.into(), FileKind::Meld));
    let checked = check(set, &Roots::default(), &Inputs::default(), files);
    let mut evaluation = Evaluation::new(checked.set, Roots::default(), Map::new());
    loop {
        match evaluation.advance() {
            Next::Done => return evaluation,
            Next::Run(_) => evaluation.command_ended(CommandEnd::Succeeded(b"1\n".to_vec())),
            Next::Embed { path, .. } => evaluation.embedded(files.embed(&path)),
            Next::Import { path } => evaluation.imported(files.import(&path)),
        }
    }
}

#[test]
fn what_is_repeated_is_read_once() {
    for piece in [
        "{",
        "{{",
        "{{a",
        "{{ ",
        "{{a.",
        "\\",
        "\\{{",
        "\\{{v}}",
        "`",
        "```",
        "```\n",
        "```a\n",
        "<!--",
        "<!--\n",
        "-->",
        ">",
        "> ",
        "> \n",
        "> ```\n",
        "- ",
        "- \n",
        "1. ",
        "1",
        " ",
        "\t",
        "    \n",
        "\n",
        "\r",
        "\r\n",
        "@",
        "@run",
        "@run [",
        "@run [\n",
        "@run [[\n",
        "@run [[a]]\n",
        "@run [[a\n",
        "@run $f(\n",
        "@run $f((\n",
        "  @run [[\n",
        "@define f(",
        "@define f(a) = \n",
        "@define f(a) = [[\n",
        "@define f(a) = \"\n",
        "@text x = [[\n",
        "@text x = \"{{\n",
        "@data x = {\n",
        "@data x = [[[[\n",
        "@data x = \"\n",
        "@data x =\n",
        "@data x = [\n1,\n",
        "@data x = 1\n",
        "@embed [[\n",
        "@import [a\n",
        "\\@run [\n",
        ">> \n",
        "\u{feff}",
        "é",
        "<!-- towpath\n",
        "<!-- towpath\n@text x = [[\n",
        "<!-- towpath\n@text x = [[\n-->\n",
        "<!-- towpath:begin x -->\n",
        "<!-- towpath:end -->\n",
    ] {
        let text = piece.repeat(1_000_000 / piece.len());
        let document = read("main.mld", text.clone().into_bytes(), FileKind::Meld);
        let covered: usize = document.nodes.iter().map(|node| node.range.len()).sum();
        assert_eq!(covered, text.len(), "{piece:?}");
        read_regions("main.md", text.into_bytes());
    }
}

#[test]
fn what_follows_a_directive_on_its_line_is_read_once() {
    for (start, piece, end) in [
        ("@run [", "]", ""),
        ("@run [", "[", "]"),
        ("@run [", "(", "]"),
        ("@run [", "{{a", "]"),
        ("@run $f(", "(", ")"),
        ("@run $f(", ",", ")"),
        ("@run $f(", "\"a\"", ")"),
        ("@run $f(", "({\"", ")"),
        ("@run $f(", "{{a", ")"),
        ("@run $f(", "{{a}} ", ")"),
        ("@run $f(", "\\{{", ")"),
        ("@run $f(", "` ", ")"),
        ("@define f(", "a,", ") = [x]"),
        ("@define f = \"", "{{a}", "\""),
        ("@define f = '", "{{a}}", "'"),
        ("@text x = \"", "{{", "\""),
        ("@text x = \"", "\\{{", "\""),
        ("@text x = ", "\"a\" ++ ", "\"a\""),
        ("@text x = [[", "{{", "]]"),
        ("@data x = ", "[", ""),
        ("@data x = [", "1,", "1]"),
        ("@data x = \"", "\\n", "\""),
        ("@embed [", "#", "]"),
        ("@embed [", "{{a", "]"),
        ("@import [", "a,", "b] from [a]"),
        ("@import [", "]from[", "]"),
    ] {
        let text = format!("{start}{}{end}\n", piece.repeat(300_000 / piece.len()));
        let document = read("main.mld", text.clone().into_bytes(), FileKind::Meld);
        assert_eq!(document.nodes.len(), 1, "{start}{piece}");
    }
}

#[test]
fn many_directives_are_evaluated_once() {
    let number = 30_000;
    let many = |line: &dyn Fn(usize) -> String| (0..number).map(line).collect::<String>();
    let defined = OneFile(many(&|n| format!("@text a{n} = \"{n}\"\n")));
    for (text, errors) in [
        (many(&|n| format!("@text a{n} = \"{n}\"\n{{{{a{n}}}}}\n")), false),
        (many(&|n| format!("@text a = \"{n}\"\n")), false),
        (many(&|n| format!("@text a{n} = \"{n}\"\n{{{{b{n}x}}}}\n")), false),
        (
            many(&|n| format!("@text a{n} = \"x{n}\"\n")) + &many(&|n| format!("\\{{{{a{n}}}}}\n")),
            false,
        ),
        (many(&|n| format!("@define f{n}(a) = [echo {n}]\n")), false),
        (
            many(&|n| format!("@define f{n} = @run [x]\n")) + &many(&|n| format!("@run $f{n}\n")),
            false,
        ),
        (
            "@text a = \"1\"\n@define f(b) = [echo]\n".to_owned()
                + &"@run $f({{a}})\n".repeat(number),
            false,
        ),
        (
            many(&|n| {
                format!("@text a{n} = @run [x]\n@text a{n} = \"1\"\n@text a{n} = @run [x]\n")
            }),
            false,
        ),
        ("@import [a0] from [file]\n".repeat(number), false),
        ("@import [file]\n".to_owned() + &"{{a7}} {{b}}\n".repeat(number), false),
        (many(&|n| format!("@run $missing{n}\n")), true),
        (
            many(&|n| format!("@define f{n} = [x]\n")) + &many(&|n| format!("@run $missing{n}\n")),
            true,
        ),
    ] {
        let evaluation = render(&text, &defined);
        assert_eq!(evaluation.failed(), errors, "{:?}", evaluation.problems().first());
        tree_json(&evaluation);
    }
}

#[test]
fn one_command_with_many_values_is_filled_once() {
    let numbers = || 0..2_000;
    let list = |of: &dyn Fn(usize) -> String| numbers().map(of).collect::<Vec<_>>().join(", ");
    let text = format!(
        "@define f({}) = [echo {}]\n@run $f({})\n",
        list(&|n| format!("a{n}")),
        numbers().map(|n| format!("{{{{a{n}}}}} ")).collect::<String>(),
        list(&|n| format!("\"{n}\"")),
    );
    let evaluation = render(&text, &OneFile(String::new()));
    assert!(!evaluation.problems().iter().any(Diagnostic::is_error));
    assert_eq!(evaluation.commands()[0].1.parameters.len(), 2_000);
}

/// Each line doubles a text: forty of them would be a terabyte.
#[test]
fn text_that_doubles_itself_is_refused() {
    let doubled = "@text t = \"{{t}}{{t}}\"\n".repeat(40);
    let nested = |n: usize| format!("@define f{n}(a) = @run $f{}(\"{{{{a}}}}{{{{a}}}}\")\n", n + 1);
    let nested: String = (0..40).map(nested).collect();
    for text in [
        format!("@text t = \"ab\"\n{doubled}{{{{t}}}}\n"),
        format!("@define f40(a) = @run [echo {{{{a}}}}]\n{nested}@run $f0(ab)\n"),
        format!("@text t = \"{}\"\n{}", "a".repeat(1000), "{{t}}\n".repeat(5000)),
    ] {
        let document = read("main.md", text.into_bytes(), FileKind::Markdown);
        let mut set = DocumentSet::new("main.md", document);
        set.most_text = 1_000_000;
        let checked = check(set, &Roots::default(), &Inputs::default(), &OneFile(String::new()));
        let first = checked.problems.first().expect("a problem");
        assert!(first.is_error() && first.message.contains("more text"), "{}", first.message);
    }
}

#[test]
fn many_regions_and_missing_names_are_evaluated_once() {
    let regions = |piece: &str| (piece.repeat(300_000 / piece.len()), FileKind::Markdown);
    let names = "a, ".repeat(100_000);
    for (text, kind) in [
        regions("<!-- towpath:begin @embed {{x}} -->\n<!-- towpath:end -->\n"),
        regions("<!-- towpath:begin $console(x) -->\n<!-- towpath:end -->\n"),
        regions(
            "<!-- towpath\n@text x = 'y'\n-->\n<!-- towpath:begin x -->\n<!-- towpath:end -->\n",
        ),
        (format!("@import [{names}b] from [x]\n"), FileKind::Meld),
        (format!("@text t = 'x'\n{}\n", "{{y}} ".repeat(100_000)), FileKind::Meld),
        (format!("@text t = 'x'\n{}\n", "$y `` ` <!-- ".repeat(30_000)), FileKind::Meld),
        (format!("@run $f({})\n", "a,".repeat(500_000)), FileKind::Meld),
    ] {
        let document = match kind {
            FileKind::Markdown => read_regions("main.md", text.into_bytes()),
            FileKind::Meld => read("main.mld", text.into_bytes(), kind),
        };
        let set = DocumentSet::new("main.md", document);
        let checked = check(set, &Roots::default(), &Inputs::default(), &OneFile(String::new()));
        assert!(checked.problems.len() <= 10_000, "{}", checked.problems.len());
    }
}

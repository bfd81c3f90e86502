//! Documents of any bytes: the nodes are the whole text, every problem is at a location in it, and
//! without directives a document renders to itself. What is found before anything runs is what
//! evaluating would find, and a second evaluation gives the same.

use towpath_core::{Diagnostic, Map};
use towpath_document::{
    CommandEnd, Document, DocumentSet, Evaluation, FileKind, Files, Found, Inputs, Next, NodeKind,
    Roots, check as foresee, read, read_regions, tree_json,
};

/// What every command prints: text, JSON and a number.
const PRINTED: &[u8] = b"1\n";
/// How much text the references may give: a text that doubles itself must not take long.
const MOST_TEXT: usize = 1 << 16;

pub fn check(bytes: &[u8]) {
    for kind in [FileKind::Markdown, FileKind::Meld] {
        one(read("main", bytes.to_vec(), kind), bytes);
    }
    one(read_regions("main", bytes.to_vec()), bytes);
}

fn one(document: Document, bytes: &[u8]) {
    covers(&document, bytes);
    located(&document.problems);
    let as_written = |kind: &NodeKind| matches!(kind, NodeKind::Text | NodeKind::Reference { .. });
    let plain = document.nodes.iter().all(|node| as_written(&node.kind));
    let unreadable = document.problems.iter().any(Diagnostic::is_error);
    let mut set = DocumentSet::new("main", document);
    set.most_text = MOST_TEXT;
    let (roots, inputs, files) = (roots(), Inputs::default(), Stubs { own: bytes });
    let checked = foresee(set.clone(), &roots, &inputs, &files);
    located(&checked.problems);
    assert!(checked.has_errors() || !unreadable, "an error of reading is lost");
    let evaluated = evaluate(set.clone());
    located(evaluated.problems());
    if checked.commands.is_empty() && !unreadable {
        assert_eq!(checked.has_errors(), evaluated.failed(), "{:?}", evaluated.problems());
    }
    let again = evaluate(set);
    assert_eq!(evaluated.output(), again.output());
    assert_eq!(evaluated.problems(), again.problems());
    tree_json(&evaluated);
    if plain {
        assert_eq!(evaluated.output(), bytes, "prose is changed");
        assert_eq!(checked.has_errors(), unreadable);
    }
    if checked.commands.is_empty() && !checked.has_errors() {
        let without = checked.without_running(&roots, &inputs, &files);
        assert_eq!(without, evaluated.output());
    }
}

/// The nodes are in order, and are the whole document.
fn covers(document: &Document, bytes: &[u8]) {
    assert_eq!(document.bytes(), bytes);
    assert_eq!(document.source.text.len(), bytes.len());
    let mut at = 0;
    for node in &document.nodes {
        assert_eq!(node.range.start, at, "{node:?}");
        assert!(document.source.text.get(node.range.clone()).is_some(), "{node:?}");
        at = node.range.end;
    }
    assert_eq!(at, bytes.len());
}

fn located(problems: &[Diagnostic]) {
    for problem in problems {
        for label in &problem.labels {
            let text = label.source.text.get(label.span.range());
            assert!(text.is_some(), "{} at {:?}", problem.message, label.span);
        }
    }
}

/// Every command prints the same.
fn evaluate(set: DocumentSet) -> Evaluation {
    let own = set.entry().bytes().to_vec();
    let files = Stubs { own: &own };
    let mut evaluation = Evaluation::new(set, roots(), Map::new());
    loop {
        match evaluation.advance() {
            Next::Done => return evaluation,
            Next::Run(_) => evaluation.command_ended(CommandEnd::Succeeded(PRINTED.to_vec())),
            Next::Embed { path, .. } => evaluation.embedded(files.embed(&path)),
            Next::Import { path } => evaluation.imported(files.import(&path)),
        }
    }
}

fn roots() -> Roots {
    Roots { project: "/p".to_owned(), home: "/h".to_owned() }
}

/// The document itself, one file that defines something, and no other.
struct Stubs<'a> {
    own: &'a [u8],
}

impl Files for Stubs<'_> {
    fn import(&self, path: &str) -> Result<Found, String> {
        let bytes = self.embed(path)?;
        Ok(Found { identity: path.to_owned(), name: path.to_owned(), bytes })
    }

    fn embed(&self, path: &str) -> Result<Vec<u8>, String> {
        match path {
            "main" => Ok(self.own.to_vec()),
            "a" => {
                Ok(b"# h\n@text x = \"1\"\n@define f(a) = [echo {{a}}]\n@data d = {\"k\":[2]}\n"
                    .to_vec())
            }
            _ => Err("there is no such file".to_owned()),
        }
    }
}

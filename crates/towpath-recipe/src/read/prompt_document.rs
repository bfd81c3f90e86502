//! `prompt_file`: a document beside the recipe that a step's prompt is made of. It is checked with its
//! imports when the recipe is read; the variables of the run are not known yet.

use super::section::Text;
use super::{FileProvider, Reader};
use crate::project_root::project_root;
use crate::recipe::{DOCUMENT_PROSE, DOCUMENT_VALUE, PromptDocument, VariableUse};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use towpath_core::{Diagnostic, Source, Template};
use towpath_document::{DocumentSet, FileKind, Files, Found, Roots, check_open, plain_path, read};

/// The files beside a recipe, for a document there.
struct BesideRecipe<'a> {
    files: FileProvider<'a>,
    /// The directory of the document, from the recipe's.
    directory: String,
    /// The recipe's, with `/` at its end.
    recipe: Option<String>,
}

impl Files for BesideRecipe<'_> {
    fn import(&self, path: &str) -> Result<Found, String> {
        let path = match self.recipe.as_ref().and_then(|recipe| path.strip_prefix(recipe)) {
            Some(below) => plain_path(below),
            None if path.starts_with('/') => {
                return Err("it is outside of the recipe's directory".to_owned());
            }
            None => plain_path(&format!("{}{path}", self.directory)),
        };
        let source = (self.files)(&path).map_err(|problem| problem.message)?;
        let (name, bytes) = (source.name.clone(), source.text.clone().into_bytes());
        Ok(Found { identity: path, name, bytes })
    }

    fn embed(&self, _: &str) -> Result<Vec<u8>, String> {
        Err("files are embedded when the step starts".to_owned())
    }
}

impl Reader<'_> {
    /// The document at a path, and its text for showing.
    pub(super) fn prompt_document(
        &mut self,
        path: &Text,
        uses: &mut Vec<VariableUse>,
    ) -> Option<(Template, Arc<PromptDocument>)> {
        let written = plain_path(path.text.trim());
        let source = match (self.files)(&written) {
            Ok(source) => source,
            Err(problem) => {
                self.problem(problem.at(self.source, path.span, ""));
                return None;
            }
        };
        let directory = written.rfind('/').map_or("", |slash| &written[..=slash]).to_owned();
        let base = self.directory.map(|base| format!("{base}/{directory}"));
        let (document, problems) = load_document(&source, &written, base, self.home, self.files);
        // What is not defined in it is reported with the variables of the recipe.
        let broken = problems.iter().any(Diagnostic::is_error);
        self.problems.extend(problems);
        if broken {
            return None;
        }
        uses.extend(document.set.free_references().into_iter().map(|reference| VariableUse {
            has_default: reference.path.is_optional(),
            path: reference.path,
            source: reference.source,
            span: reference.span,
            field: if reference.in_prose { DOCUMENT_PROSE } else { DOCUMENT_VALUE },
        }));
        let shown = Template::parse_where(&source.text, |_| false);
        Some((shown, Arc::new(document)))
    }
}

/// Reads and checks a document with its imports. `path` and those of its imports are what `files`
/// takes; `base` is the document's directory.
pub(crate) fn load_document(
    source: &Arc<Source>,
    path: &str,
    base: Option<String>,
    home: Option<&str>,
    files: FileProvider<'_>,
) -> (PromptDocument, Vec<Diagnostic>) {
    let bytes = source.text.clone().into_bytes();
    let set = DocumentSet::new(path, read(&source.name, bytes, FileKind::of(path)));
    let directory = path.rfind('/').map_or("", |slash| &path[..=slash]).to_owned();
    let recipe = base.as_ref().and_then(|base| base.strip_suffix(&directory)).map(str::to_owned);
    let roots = roots(base.as_deref(), home);
    let files = BesideRecipe { files, directory, recipe };
    let checked = check_open(set, &roots, &files);
    (PromptDocument { set: checked.set, directory: base, roots }, checked.problems)
}

/// Names that paths may begin with: the same as where the document is rendered by itself.
fn roots(base: Option<&str>, home: Option<&str>) -> Roots {
    let project = base.map(|base| project_root(Path::new(base), home.map(Path::new)));
    let project = project.unwrap_or_else(|| PathBuf::from("."));
    Roots {
        project: project.to_string_lossy().trim_end_matches('/').to_owned(),
        home: home.unwrap_or_default().to_owned(),
    }
}

//! Where secrets could get into the record, and what keeps them out: a plan that contains one is
//! refused, and a fact is masked before the run or the journal sees it. The output files are masked
//! by the warden, which writes them.

use crate::error::EngineError;
use crate::stored_run_options::Options;
use std::path::Path;
use towpath_core::{Secrets, SessionId};
use towpath_recipe::Plan;
use towpath_run::{Answer, Fact, JobEnd, Output};

/// Refuses what would be stored with the run and contains a secret.
pub(crate) fn refuse_in_plan(
    secrets: &Secrets,
    plan: &Plan,
    options: &Options,
    directory: &Path,
) -> Result<(), EngineError> {
    if secrets.is_empty() {
        return Ok(());
    }
    let look = |bytes: &[u8], location: &dyn Fn() -> String| match secrets.found_in(bytes) {
        None => Ok(()),
        Some(name) => {
            Err(EngineError::SecretInPlan { name: name.to_owned(), location: location() })
        }
    };
    for recipe in &plan.recipes {
        look(recipe.text.as_bytes(), &|| secrets.mask(&recipe.source).into_owned())?;
        for path in recipe.path.iter().chain([&recipe.source]) {
            look(path.as_bytes(), &|| "the path of a recipe".to_owned())?;
        }
    }
    for (path, text) in plan.recipes.iter().flat_map(|recipe| &recipe.files) {
        look(text.as_bytes(), &|| secrets.mask(path).into_owned())?;
    }
    let run_options = &plan.machine;
    for (what, text) in [
        ("the context given to the machine", &run_options.context),
        ("the system prompt", &run_options.system),
    ] {
        look(text.as_deref().unwrap_or_default().as_bytes(), &|| what.to_owned())?;
    }
    if let Some(id) = &run_options.session {
        look(id.as_str().as_bytes(), &|| "the id of the session".to_owned())?;
    }
    for (name, value) in &plan.inputs {
        let text = towpath_core::text_of(value);
        look(text.as_bytes(), &|| format!("the variable {name}"))?;
    }
    for (what, path) in [
        ("the path of the script", &options.script),
        ("the path of the file of calls", &options.calls),
    ] {
        look(path.as_deref().unwrap_or_default().as_bytes(), &|| what.to_owned())?;
    }
    let directory = directory.as_os_str().as_encoded_bytes();
    look(directory, &|| "the path of the working directory".to_owned())
}

/// A fact without secrets.
pub(crate) fn masked(secrets: &Secrets, mut fact: Fact) -> Fact {
    if secrets.is_empty() {
        return fact;
    }
    let mask = |text: &mut String| *text = secrets.mask(text).into_owned();
    let mask_id = |id: &mut SessionId| *id = SessionId::new(secrets.mask(id.as_str()));
    match &mut fact {
        Fact::JobFinished { end: JobEnd { output, error, left, tail, .. }, .. } => {
            mask(error);
            tail.iter_mut().for_each(mask);
            left.iter_mut().for_each(mask);
            if let Output::Text(text) = output {
                mask(text);
            }
        }
        Fact::JobStarted { session, model, .. } => {
            session.iter_mut().for_each(mask_id);
            model.iter_mut().for_each(mask);
        }
        Fact::SessionOpened { session, .. } => mask_id(session),
        Fact::Answered { answer: Answer::Done { output, .. }, .. } => mask(output),
        _ => {}
    }
    fact
}

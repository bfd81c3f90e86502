//! The plan: every recipe reachable from the root, as text, with the inputs. It is stored with the
//! run; a run never reads recipe files again.

use crate::dialect::Dialect;
use crate::draft::{Draft, MAX_LEVELS};
use crate::find_agent::PlannedAgent;
use crate::include_files::IncludeFiles;
use crate::read::{ReadContext, draft_in_context};
use crate::recipe::{PromptDocument, Recipe, Transition, Work};
use crate::request::{MachineOptions, Tags};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use towpath_core::{Diagnostic, Map, Source};

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The root is the first.
    pub recipes: Vec<PlannedRecipe>,
    /// The values that the user set, over the root recipe's context.
    pub inputs: Map,
    /// The agents its steps name, by reference.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<String, PlannedAgent>,
    #[serde(default, skip_serializing_if = "Tags::is_empty")]
    pub tags: Tags,
    /// Nothing is staged in git, whatever the steps ask for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_auto_stage: bool,
    #[serde(default, skip_serializing_if = "MachineOptions::is_empty")]
    pub machine: MachineOptions,
    /// How long one command or agent call of a step without a `timeout` may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_timeout: Option<Duration>,
    /// By whose rules its texts are read.
    #[serde(default, skip_serializing_if = "Dialect::is_towpath")]
    pub dialect: Dialect,
    /// The user's home directory, for the documents of prompts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub home: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PlannedRecipe {
    /// The name that the user knows the text by: a path as they would type it, or `built-in NAME`.
    pub source: String,
    /// The file it was read from, absolute; none for a built-in or a pipe. Used only to report
    /// whether the file was edited since.
    pub path: Option<String>,
    pub text: String,
    /// The meaning of each `recipe:` name in this text: an index into `recipes`.
    pub calls: BTreeMap<String, usize>,
    /// The meaning of its `extends`: an index into `recipes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extends: Option<usize>,
    /// The files that a machine includes or refers to, by their path from the recipe's directory.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
}

impl PlannedRecipe {
    pub(crate) fn include_files(&self) -> IncludeFiles<'_> {
        IncludeFiles::Planned { files: &self.files, recipe: &self.source }
    }
}

/// A plan whose texts have been read again into recipes, same indices.
#[derive(Debug, Clone)]
pub struct Program {
    pub plan: Arc<Plan>,
    pub recipes: Vec<Arc<Recipe>>,
    /// The agents whose instructions are a document.
    agent_documents: BTreeMap<String, Arc<PromptDocument>>,
}

impl Plan {
    /// Reads every text of the plan. A stored plan was checked before it was stored, so an error
    /// here means that it was damaged or made by another version.
    pub fn load(self) -> Result<Program, Vec<Diagnostic>> {
        let (drafts, mut problems) = self.drafts();
        problems.retain(Diagnostic::is_error);
        let recipes = drafts.iter().map(|draft| draft.recipe().map(Arc::new));
        match recipes.collect() {
            Some(recipes) if problems.is_empty() => Ok(Program::new(self, recipes)),
            _ => Err(problems),
        }
    }

    /// Its recipes as they are read, each with what it extends, and what is wrong with them.
    pub(crate) fn drafts(&self) -> (Vec<Draft>, Vec<Diagnostic>) {
        let (own, problems): (Vec<Draft>, Vec<Vec<Diagnostic>>) =
            self.recipes.iter().map(|planned| self.read(planned)).unzip();
        let joined: Vec<Option<Draft>> = (0..own.len()).map(|at| self.joined(at, &own)).collect();
        let drafts = joined.into_iter().zip(own).map(|(joined, own)| joined.unwrap_or(own));
        (drafts.collect(), problems.concat())
    }

    /// Reads one text of the plan with the files that it includes.
    fn read(&self, planned: &PlannedRecipe) -> (Draft, Vec<Diagnostic>) {
        let source = Source::new(planned.source.clone(), planned.text.clone());
        let files_beside = planned.include_files();
        let files = |path: &str| files_beside.file(path);
        let directory = planned.path.as_deref().and_then(|path| path.rsplit_once('/'));
        let directory = directory.map(|(directory, _)| directory);
        let (inputs, dialect) = (&self.inputs, self.dialect);
        let home = self.home.as_deref();
        let context = ReadContext { files: &files, inputs, directory, home, dialect };
        draft_in_context(&source, &context)
    }

    /// A recipe with all that it extends; none for one that extends nothing.
    fn joined(&self, index: usize, own: &[Draft]) -> Option<Draft> {
        let parent = |at: &usize| self.recipes[*at].extends.filter(|parent| *parent < own.len());
        let levels = std::iter::successors(parent(&index), parent).take(MAX_LEVELS);
        levels.fold(None, |joined, parent| {
            let child = joined.as_ref().unwrap_or(&own[index]);
            Some(child.extending(&own[parent]))
        })
    }
}

/// The SHA-256 of everything a plan can run: all texts, what their calls mean and the agents'
/// instructions, not the inputs.
/// Trust is remembered by it, so two different plans must never share one: every part is written
/// with its length before it.
pub fn plan_hash(plan: &Plan) -> String {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    part(b"towpath plan 3");
    for recipe in &plan.recipes {
        part(recipe.text.as_bytes());
        part(&(recipe.calls.len() as u64).to_le_bytes());
        for (name, callee) in &recipe.calls {
            part(name.as_bytes());
            part(&(*callee as u64).to_le_bytes());
        }
        let parent = recipe.extends.map_or(0, |index| index as u64 + 1);
        part(&parent.to_le_bytes());
        part(&(recipe.files.len() as u64).to_le_bytes());
        for (path, text) in &recipe.files {
            part(path.as_bytes());
            part(text.as_bytes());
        }
    }
    for (reference, agent) in &plan.agents {
        part(reference.as_bytes());
        part(agent.text.as_bytes());
        for (path, text) in agent.imports.iter().flatten() {
            part(path.as_bytes());
            part(text.as_bytes());
        }
        if agent.imports.is_some() {
            part(b"document");
        }
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Program {
    pub fn new(plan: Plan, recipes: Vec<Arc<Recipe>>) -> Program {
        let documents = plan.agents.iter().filter_map(|(reference, agent)| {
            // They were checked before they were planned.
            let (document, _) = agent.document(plan.home.as_deref())?;
            Some((reference.clone(), Arc::new(document)))
        });
        let agent_documents = documents.collect();
        Program { plan: Arc::new(plan), recipes, agent_documents }
    }

    /// The document that the instructions of an agent are, where they are one.
    pub fn agent_document(&self, reference: &str) -> Option<&Arc<PromptDocument>> {
        self.agent_documents.get(reference)
    }

    /// The instructions of the agent that a step names.
    pub fn agent(&self, reference: &str) -> Option<&PlannedAgent> {
        self.plan.agents.get(reference)
    }

    /// Whether anything in it may ask an agent.
    pub fn has_agents(&self) -> bool {
        let asks =
            |work: &Work| matches!(work, Work::Agent(_) | Work::Recipe { recovery: true, .. });
        self.recipes.iter().any(|recipe| recipe.steps.iter().any(|step| asks(&step.work)))
    }

    /// Whether a machine may become another one.
    pub fn restarts(&self) -> bool {
        let steps = self.recipes.iter().flat_map(|recipe| &recipe.steps);
        let mut outcomes = steps.flat_map(|step| &step.outcomes);
        outcomes.any(|outcome| matches!(outcome.then, Transition::Restart { .. }))
    }

    pub fn root(&self) -> &Arc<Recipe> {
        &self.recipes[0]
    }

    /// The index of the recipe that `name` means when it is called from `caller`.
    pub fn callee(&self, caller: usize, name: &str) -> Option<usize> {
        self.plan.recipes.get(caller)?.calls.get(name).copied()
    }
}

//! What a model's name means for a backend: a tier is mapped by the settings, else it is passed as it
//! is where the agent's program knows tiers, else left out. No model of another maker is invented. Any
//! other name is the program's own and is passed as it is.

use crate::environment::Environment;
use crate::settings::Settings;
use towpath_agent::backend_row;
use towpath_engine::{Agents, Models};
use towpath_recipe::TIERS;

/// The setting for calls that name no model.
const OWN: &str = "default";

/// What a call is given for a name.
#[derive(Debug, PartialEq, Eq)]
pub enum Mapped {
    Name(String),
    /// The program gets no model, and uses its default.
    Nothing,
}

pub fn model_for(backend: &str, name: &str, settings: &Settings) -> Mapped {
    let set = settings.models.get(&(backend.to_owned(), name.to_owned()));
    match set {
        Some(set) => Mapped::Name(set.value.clone()),
        None if TIERS.contains(&name) && !knows_tiers(backend) => Mapped::Nothing,
        None => Mapped::Name(name.to_owned()),
    }
}

/// Whether the program knows the tiers by name.
fn knows_tiers(backend: &str) -> bool {
    backend_row(backend).is_some_and(|row| row.can.tiers)
}

/// The model of every tier for a run's agents, and the model of calls that name none. A variable that
/// the program itself reads is passed on as a model: a session that was given another model would not
/// read the variable again.
pub fn of_agents(env: &Environment, agents: &Agents, settings: &Settings) -> Models {
    let backend = match agents {
        Agents::Program { backend, .. } => backend.id(),
        Agents::Scripted { .. } => "scripted",
        Agents::None => return Models::default(),
    };
    let mapped = |tier: &str| match model_for(backend, tier, settings) {
        Mapped::Name(name) => (tier.to_owned(), Some(name)),
        Mapped::Nothing => (tier.to_owned(), None),
    };
    let set = settings.models.get(&(backend.to_owned(), OWN.to_owned()));
    let variable = backend_row(backend).and_then(|row| row.model_variable);
    let from_variable = || variable.and_then(|name| env.text(name)).filter(|name| !name.is_empty());
    let own = set.map(|set| set.value.clone()).or_else(from_variable);
    TIERS.into_iter().map(mapped).collect::<Models>().with_own(own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Set;

    #[test]
    fn a_tier_is_mapped_by_the_settings_else_it_is_its_name_where_that_is_known() {
        let mut settings = Settings::default();
        let set = |value: &str| Set { value: value.to_owned(), source: "here".to_owned() };
        settings.models.insert(("codex".into(), "haiku".into()), set("small-1"));
        settings.models.insert(("claude-code".into(), "opus".into()), set("claude-opus-9"));
        let name = |text: &str| Mapped::Name(text.to_owned());
        for (backend, model, given) in [
            ("codex", "haiku", name("small-1")),
            ("codex", "opus", Mapped::Nothing),
            ("codex", "gpt-9", name("gpt-9")),
            ("gemini", "haiku", Mapped::Nothing),
            ("claude-code", "haiku", name("haiku")),
            ("claude-code", "opus", name("claude-opus-9")),
            ("scripted", "sonnet", name("sonnet")),
        ] {
            assert_eq!(model_for(backend, model, &settings), given, "{backend} {model}");
        }
    }
}

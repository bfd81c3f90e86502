//! Settings: flag over environment over project over user over default, each value with its
//! source. A project's file may not choose programs, and counts only once it is trusted.

use crate::environment::Environment;
use crate::exit::{CommandError, Exit};
use crate::seconds::{no_time, of_seconds};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::Spanned;
use towpath_agent::BACKENDS;
use towpath_core::{Diagnostic, Source, Span, Value, nearest, text_of};

/// A value and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Set<T> {
    pub value: T,
    pub source: String,
}

impl<T> Set<T> {
    fn default(value: T) -> Set<T> {
        Set { value, source: "default".to_owned() }
    }
}

#[derive(Debug, Clone)]
pub struct Settings {
    /// Which agent backend answers agent steps.
    pub backend: Set<String>,
    /// Agents of one run that may work at once.
    pub max_agents: Set<usize>,
    /// More directories with recipes of one's own.
    pub recipe_dirs: Set<Vec<PathBuf>>,
    /// How long one call of a step without a time of its own may take, in seconds.
    pub step_timeout: Set<Option<f64>>,
    /// How long a command or an agent may print nothing, in seconds.
    pub idle_timeout: Set<Option<f64>>,
    /// The first wait after an agent's fault that may pass, where nobody watches, in seconds.
    pub retry_wait: Set<f64>,
    /// Which model of a backend a tier is, by both.
    pub models: BTreeMap<(String, String), Set<String>>,
    /// Where a backend's program is.
    pub programs: BTreeMap<String, Set<PathBuf>>,
}

/// The file's shape. Unknown keys are errors.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct UserFile {
    backend: Option<String>,
    max_agents: Option<usize>,
    recipe_dirs: Option<Vec<PathBuf>>,
    step_timeout: Option<Seconds>,
    idle_timeout: Option<Seconds>,
    retry_wait: Option<Seconds>,
    #[serde(default)]
    models: BTreeMap<Spanned<String>, Tiers>,
    #[serde(default)]
    programs: BTreeMap<String, PathBuf>,
}

/// The models of one backend.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tiers {
    haiku: Option<ModelName>,
    sonnet: Option<ModelName>,
    opus: Option<ModelName>,
    /// For steps that name none.
    default: Option<ModelName>,
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct ModelName(String);

impl TryFrom<String> for ModelName {
    type Error = &'static str;

    fn try_from(name: String) -> Result<ModelName, &'static str> {
        if name.trim().is_empty() { Err("a model has a name") } else { Ok(ModelName(name)) }
    }
}

/// What a project may set: nothing that chooses a program, an endpoint or a permission.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProjectFile {
    backend: Option<String>,
    max_agents: Option<usize>,
    step_timeout: Option<Seconds>,
    idle_timeout: Option<Seconds>,
}

/// Seconds, more than none.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "f64")]
struct Seconds(f64);

impl TryFrom<f64> for Seconds {
    type Error = String;

    fn try_from(seconds: f64) -> Result<Seconds, String> {
        of_seconds(seconds).map(|_| Seconds(seconds)).ok_or_else(no_time)
    }
}

pub const USER_FILE: &str = "settings.toml";
pub const PROJECT_FILE: &str = ".towpath/settings.toml";

/// What is wrong with the settings: a place in a file, or a sentence.
#[derive(Debug)]
pub enum Wrong {
    Place(Box<Diagnostic>),
    Told(CommandError),
}

impl From<CommandError> for Wrong {
    fn from(stop: CommandError) -> Wrong {
        Wrong::Told(stop)
    }
}

impl Wrong {
    fn drawn(self, color: bool) -> CommandError {
        match self {
            Wrong::Told(stop) => stop,
            Wrong::Place(problem) => {
                let message = problem.message.clone();
                crate::terminal::diagnostics::draw(&[*problem], color);
                CommandError { shown: true, ..CommandError::new(Exit::Setup, "settings", message) }
            }
        }
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            backend: Set::default("claude-code".to_owned()),
            max_agents: Set::default(10),
            recipe_dirs: Set::default(Vec::new()),
            step_timeout: Set::default(None),
            idle_timeout: Set::default(None),
            retry_wait: Set::default(60.0),
            models: BTreeMap::new(),
            programs: BTreeMap::new(),
        }
    }
}

impl Settings {
    /// `project` is the text of a project's file that is trusted. What is wrong is drawn.
    pub fn read(
        env: &Environment,
        project: Option<(&Path, &str)>,
    ) -> Result<Settings, CommandError> {
        Settings::gather(env, project).map_err(|wrong| wrong.drawn(env.color))
    }

    /// As `read`, and draws nothing.
    pub fn gather(env: &Environment, project: Option<(&Path, &str)>) -> Result<Settings, Wrong> {
        let mut settings = Settings::default();
        let path = env.directories.config.join(USER_FILE);
        match std::fs::read_to_string(&path) {
            Ok(text) => settings.take_user(parse(&path, &text)?, &path, &text)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(CommandError::setup(format!("{}: {error}", path.display())).into());
            }
        }
        if let Some((path, text)) = project {
            let file: ProjectFile = parse(path, text)?;
            let source = path.display().to_string();
            if let Some(value) = file.backend {
                settings.backend = Set { value, source: source.clone() };
            }
            if let Some(value) = file.max_agents {
                settings.max_agents = Set { value, source: source.clone() };
            }
            settings.take_times(file.step_timeout, file.idle_timeout, &source);
        }
        settings.take_environment(env)?;
        if settings.max_agents.value == 0 {
            let source = &settings.max_agents.source;
            let message = format!("{source}: max_agents is 0: no agent could ever start");
            return Err(CommandError::setup(message).into());
        }
        Ok(settings)
    }

    fn take_user(&mut self, file: UserFile, path: &Path, text: &str) -> Result<(), Wrong> {
        let source = path.display().to_string();
        if let Some(value) = file.backend {
            self.backend = Set { value, source: source.clone() };
        }
        if let Some(value) = file.max_agents {
            self.max_agents = Set { value, source: source.clone() };
        }
        if let Some(value) = file.recipe_dirs {
            self.recipe_dirs = Set { value, source: source.clone() };
        }
        self.take_times(file.step_timeout, file.idle_timeout, &source);
        if let Some(Seconds(value)) = file.retry_wait {
            self.retry_wait = Set { value, source: source.clone() };
        }
        for (backend, tiers) in file.models {
            refuse_unknown(&backend, path, text)?;
            let Tiers { haiku, sonnet, opus, default } = tiers;
            let named =
                [("haiku", haiku), ("sonnet", sonnet), ("opus", opus), ("default", default)];
            for (tier, model) in named {
                let Some(ModelName(value)) = model else { continue };
                let key = (backend.get_ref().clone(), tier.to_owned());
                self.models.insert(key, Set { value, source: source.clone() });
            }
        }
        for (name, value) in file.programs {
            self.programs.insert(name, Set { value, source: source.clone() });
        }
        Ok(())
    }

    fn take_times(&mut self, step: Option<Seconds>, idle: Option<Seconds>, source: &str) {
        for (place, time) in [(&mut self.step_timeout, step), (&mut self.idle_timeout, idle)] {
            if let Some(Seconds(seconds)) = time {
                *place = Set { value: Some(seconds), source: source.to_owned() };
            }
        }
    }

    pub fn step_timeout(&self) -> Option<Duration> {
        self.step_timeout.value.and_then(of_seconds)
    }

    pub fn idle_timeout(&self) -> Option<Duration> {
        self.idle_timeout.value.and_then(of_seconds)
    }

    pub fn retry_wait(&self) -> Duration {
        of_seconds(self.retry_wait.value).expect("a time was checked when it was read")
    }

    fn take_environment(&mut self, env: &Environment) -> Result<(), CommandError> {
        if let Some(value) = env.text("TOWPATH_BACKEND").filter(|v| !v.is_empty()) {
            self.backend = Set { value, source: "TOWPATH_BACKEND".to_owned() };
        }
        if let Some(text) = env.text("AMPLIHACK_MAX_SESSIONS").filter(|v| !v.is_empty()) {
            let value = text.parse().ok().filter(|n| *n > 0).ok_or_else(|| {
                CommandError::setup(format!(
                    "AMPLIHACK_MAX_SESSIONS is `{text}`: write a number above zero"
                ))
            })?;
            self.max_agents = Set { value, source: "AMPLIHACK_MAX_SESSIONS".to_owned() };
        }
        Ok(())
    }

    /// Each key with its value and source, in a fixed order.
    pub fn rows(&self) -> Vec<(String, serde_json::Value, String)> {
        let mut rows = vec![
            ("backend".into(), self.backend.value.clone().into(), self.backend.source.clone()),
            ("max_agents".into(), self.max_agents.value.into(), self.max_agents.source.clone()),
            (
                "recipe_dirs".into(),
                self.recipe_dirs.value.iter().map(|p| p.display().to_string()).collect(),
                self.recipe_dirs.source.clone(),
            ),
        ];
        for (key, time) in
            [("step_timeout", &self.step_timeout), ("idle_timeout", &self.idle_timeout)]
        {
            rows.push((
                key.into(),
                time.value.map_or(serde_json::Value::Null, seconds),
                time.source.clone(),
            ));
        }
        let wait = &self.retry_wait;
        rows.push(("retry_wait".into(), seconds(wait.value), wait.source.clone()));
        for ((backend, tier), model) in &self.models {
            let key = format!("models.{backend}.{tier}");
            rows.push((key, model.value.clone().into(), model.source.clone()));
        }
        for (name, program) in &self.programs {
            let value = program.value.display().to_string();
            rows.push((format!("programs.{name}"), value.into(), program.source.clone()));
        }
        rows
    }
}

/// A backend that there is not, at its place.
fn refuse_unknown(backend: &Spanned<String>, path: &Path, text: &str) -> Result<(), Wrong> {
    let name = backend.get_ref();
    if BACKENDS.iter().any(|row| row.id == name) {
        return Ok(());
    }
    let source = Source::new(path.display().to_string(), text);
    let near = nearest(name, BACKENDS.iter().map(|row| row.id));
    let label = near.map_or(String::new(), |near| format!("did you mean `{near}`?"));
    let message = format!("no agent backend `{name}`");
    let problem = Diagnostic::error("settings", message);
    Err(Wrong::Place(Box::new(problem.at(&source, Span::new(backend.span()), label))))
}

/// As it was written: `600`, not `600.0`.
fn seconds(value: f64) -> serde_json::Value {
    match value.fract() == 0.0 && value < 1e15 {
        true => (value as u64).into(),
        false => value.into(),
    }
}

fn parse<T: for<'de> Deserialize<'de>>(path: &Path, text: &str) -> Result<T, Wrong> {
    toml::from_str(text).map_err(|error| {
        let source = Source::new(path.display().to_string(), text);
        let span = error.span().unwrap_or(0..0);
        let message = error.message().lines().next().unwrap_or("not valid").to_owned();
        let problem = Diagnostic::error("settings", message).at(&source, Span::new(span), "");
        Wrong::Place(Box::new(problem))
    })
}

/// The value of a setting as text.
pub fn value_text(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::Array(items) if items.is_empty() => "–".to_owned(),
        Value::Array(items) => items.iter().map(text_of).collect::<Vec<_>>().join(", "),
        other => text_of(other),
    }
}

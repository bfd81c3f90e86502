//! Settings: flag over environment over project over user over default, each value with its
//! source. A project's file may not choose programs, and counts only once it is trusted.

mod schema;

pub use schema::settings_schema;

use crate::duration_arguments::of_seconds;
use crate::environment::Environment;
use crate::exit::{CommandError, ErrorKind, Exit};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use towpath_agent::{backend_hint, backend_row};
use towpath_core::fields::{FieldReader, FieldType, FileKind, Subject};
use towpath_core::spanned_tree::{Entry, Kind};
use towpath_core::{Diagnostic, Source, Span, Value, parse_toml, text_of};
use towpath_corrections::host::{Mode, Permission};

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
    /// How many agents of one run may work at the same time.
    pub max_agents: Set<usize>,
    /// More directories with the user's own recipes.
    pub recipe_dirs: Set<Vec<PathBuf>>,
    /// How long one call of a step without a time of its own may take, in seconds.
    pub step_timeout: Set<Option<f64>>,
    /// How long a command or an agent may print nothing, in seconds.
    pub idle_timeout: Set<Option<f64>>,
    /// The first wait after a passing fault of an agent in an unattended run, in seconds.
    pub retry_wait: Set<f64>,
    /// Which model of a backend a tier is, by both.
    pub models: BTreeMap<(String, String), Set<String>>,
    /// Where a backend's program is.
    pub programs: BTreeMap<String, Set<PathBuf>>,
    /// When a corrected call of an agent is allowed without asking.
    pub permission: Set<Permission>,
    /// Whether calls of agents are corrected, or only what would be corrected is reported.
    pub mode: Set<Mode>,
    pub tools: ToolSettings,
}

/// `[tools]`
#[derive(Debug, Clone)]
pub struct ToolSettings {
    /// Where releases of GitHub are looked up.
    pub github_url: Set<String>,
    /// Where repairs of checks are reported to, if anywhere.
    pub telemetry_url: Set<Option<String>>,
    /// Whether a model may be asked for a check without a flag.
    pub model: Set<bool>,
    /// How many days old a version must be to be taken as the newest.
    pub cool_down: Set<u32>,
}

impl Default for ToolSettings {
    fn default() -> ToolSettings {
        ToolSettings {
            github_url: Set::default("https://api.github.com".to_owned()),
            telemetry_url: Set::default(None),
            model: Set::default(false),
            cool_down: Set::default(3),
        }
    }
}

/// How messages name a settings file and its parts.
const SETTINGS_FILE: FileKind = FileKind {
    name: "a settings file",
    needs: "nothing",
    field: "field",
    unknown_code: "unknown-field",
    empty_code: "empty-field",
    map: "a table",
    or: " or ",
    shows_written: true,
};

const USER_KEYS: &[&str] = &[
    "backend",
    "max_agents",
    "recipe_dirs",
    "step_timeout",
    "idle_timeout",
    "retry_wait",
    "models",
    "programs",
    "corrections",
    "tools",
];
/// What a project may set: nothing that chooses a program, an endpoint or a permission.
const PROJECT_KEYS: &[&str] = &["backend", "max_agents", "step_timeout", "idle_timeout"];
/// The models of one backend; `default` is for steps that name none.
const MODEL_KEYS: &[&str] = &["haiku", "sonnet", "opus", "default"];

const CORRECTION_KEYS: &[&str] = &["permission", "mode"];
const TOOL_KEYS: &[&str] = &["github_url", "telemetry_url", "model", "cool_down"];
/// The words of each, with what they mean.
const PERMISSION_WORDS: &[&str] = &["vouched", "never", "always"];
const MODE_WORDS: &[&str] = &["apply", "report"];
const PERMISSIONS: &[(&str, Permission)] = &[
    ("vouched", Permission::Vouched),
    ("never", Permission::Never),
    ("always", Permission::Always),
];
const MODES: &[(&str, Mode)] = &[("apply", Mode::Correct), ("report", Mode::Report)];

type Fields<'n> = towpath_core::fields::Fields<&'static str, &'n Entry>;

pub const USER_FILE: &str = "settings.toml";
pub const PROJECT_FILE: &str = ".towpath/settings.toml";

/// What is wrong with the settings: at locations in a file, or as a whole.
#[derive(Debug)]
pub enum SettingsError {
    /// At least one.
    Problems(Vec<Diagnostic>),
    Other(CommandError),
}

impl From<CommandError> for SettingsError {
    fn from(error: CommandError) -> SettingsError {
        SettingsError::Other(error)
    }
}

impl SettingsError {
    fn drawn(self, color: bool) -> CommandError {
        match self {
            SettingsError::Other(error) => error,
            SettingsError::Problems(problems) => crate::terminal::diagnostics::refuse_file(
                &problems,
                color,
                Exit::Setup,
                ErrorKind::Settings,
            ),
        }
    }
}

fn no_backend(reader: &mut FieldReader<'_>, name: &str, span: Span) {
    reader.error("settings", format!("no agent backend `{name}`"), span, backend_hint(name));
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
            permission: Set::default(Permission::default()),
            mode: Set::default(Mode::default()),
            tools: ToolSettings::default(),
        }
    }
}

impl Settings {
    /// `project` is the text of a project's file that is trusted. What is wrong is drawn.
    pub fn read(
        env: &Environment,
        project: Option<(&Path, &str)>,
    ) -> Result<Settings, CommandError> {
        Settings::gather(env, project).map_err(|error| error.drawn(env.color))
    }

    /// As `read`, and draws nothing.
    pub fn gather(
        env: &Environment,
        project: Option<(&Path, &str)>,
    ) -> Result<Settings, SettingsError> {
        let mut settings = Settings::default();
        let path = env.directories.config.join(USER_FILE);
        match std::fs::read_to_string(&path) {
            Ok(text) => settings.take_file(&path, &text, "settings file", USER_KEYS)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(CommandError::setup(format!("{}: {error}", path.display())).into());
            }
        }
        if let Some((path, text)) = project {
            settings.take_file(path, text, "project's settings file", PROJECT_KEYS)?;
        }
        settings.take_environment(env)?;
        if settings.max_agents.value == 0 {
            let source = &settings.max_agents.source;
            let message = format!("{source}: max_agents is 0: it must be at least 1");
            return Err(CommandError::setup(message).into());
        }
        Ok(settings)
    }

    fn take_file(
        &mut self,
        path: &Path,
        text: &str,
        noun: &str,
        keys: &'static [&'static str],
    ) -> Result<(), SettingsError> {
        let source = Source::new(path.display().to_string(), text);
        let tree = parse_toml(&source);
        let mut reader = FieldReader::new(&source, SETTINGS_FILE, tree.problems);
        let fields =
            tree.root.as_ref().and_then(|root| reader.fields(root, Subject::Noun(noun), keys));
        if let Some(fields) = fields {
            self.take_fields(&mut reader, &fields);
        }
        let mut problems = reader.problems;
        problems.sort_by_key(|problem| problem.labels.first().map(|label| label.span.start));
        if problems.is_empty() { Ok(()) } else { Err(SettingsError::Problems(problems)) }
    }

    fn take_fields(&mut self, reader: &mut FieldReader<'_>, fields: &Fields<'_>) {
        let source = reader.source.name.clone();
        if let Some(entry) = fields.get("backend")
            && let Some(value) = reader.string(Some(entry))
        {
            match backend_row(value) {
                Some(row) => {
                    self.backend = Set { value: row.id.to_owned(), source: source.clone() }
                }
                None => no_backend(reader, value, entry.value.defined),
            }
        }
        let whole = FieldType::Described("a whole number");
        if let Some(value) = reader.number(fields.get("max_agents"), whole) {
            self.max_agents = Set { value, source: source.clone() };
        }
        let directories = FieldType::ListOf("directories");
        if let Some(value) = reader.texts(fields.get("recipe_dirs"), directories) {
            let value = value.into_iter().map(|(text, _)| text.into()).collect();
            self.recipe_dirs = Set { value, source: source.clone() };
        }
        for (key, time) in
            [("step_timeout", &mut self.step_timeout), ("idle_timeout", &mut self.idle_timeout)]
        {
            if let Some(value) = reader.seconds(fields.get(key)) {
                *time = Set { value: Some(value.as_secs_f64()), source: source.clone() };
            }
        }
        if let Some(value) = reader.seconds(fields.get("retry_wait")) {
            self.retry_wait = Set { value: value.as_secs_f64(), source: source.clone() };
        }
        for entry in reader.map(fields.get("models"), FieldType::Map).unwrap_or_default() {
            self.take_models(reader, entry);
        }
        for entry in reader.map(fields.get("programs"), FieldType::Map).unwrap_or_default() {
            if let Some(program) = reader.string(entry) {
                let program = Set { value: program.into(), source: source.clone() };
                self.programs.insert(entry.key.clone(), program);
            }
        }
        self.take_corrections(reader, fields.get("corrections"));
        self.take_tools(reader, fields.get("tools"));
    }

    fn take_tools(&mut self, reader: &mut FieldReader<'_>, entry: Option<&Entry>) {
        let Some(entry) = entry else { return };
        let Some(fields) = reader.fields(&entry.value, Subject::Key("tools"), TOOL_KEYS) else {
            return;
        };
        let source = reader.source.name.clone();
        if let Some(value) = url(reader, fields.get("github_url")) {
            self.tools.github_url = Set { value, source: source.clone() };
        }
        if let Some(value) = url(reader, fields.get("telemetry_url")) {
            self.tools.telemetry_url = Set { value: Some(value), source: source.clone() };
        }
        if let Some(value) = reader.bool(fields.get("model")) {
            self.tools.model = Set { value, source: source.clone() };
        }
        if let Some(value) = reader.count_or_zero(fields.get("cool_down")) {
            self.tools.cool_down = Set { value, source };
        }
    }

    fn take_corrections(&mut self, reader: &mut FieldReader<'_>, entry: Option<&Entry>) {
        let Some(entry) = entry else { return };
        let subject = Subject::Key("corrections");
        let Some(fields) = reader.fields(&entry.value, subject, CORRECTION_KEYS) else { return };
        let source = reader.source.name.clone();
        let permission = reader.choice(fields.get("permission"), PERMISSION_WORDS);
        if let Some(value) = permission.and_then(|word| meaning(PERMISSIONS, word)) {
            self.permission = Set { value, source: source.clone() };
        }
        let mode = reader.choice(fields.get("mode"), MODE_WORDS);
        if let Some(value) = mode.and_then(|word| meaning(MODES, word)) {
            self.mode = Set { value, source };
        }
    }

    /// The models of one backend.
    fn take_models(&mut self, reader: &mut FieldReader<'_>, backend: &Entry) {
        let Some(row) = backend_row(&backend.key) else {
            return no_backend(reader, &backend.key, backend.key_defined);
        };
        let name = row.id;
        if !matches!(backend.value.kind, Kind::Map(_)) {
            let is = backend.value.describe();
            let message = format!("invalid type: `{name}` must be a table of models, this is {is}");
            reader.error("wrong-type", message, backend.value.defined, "");
            return;
        }
        let key = format!("models.{name}");
        let subject = Subject::Key(&key);
        let Some(fields) = reader.fields(&backend.value, subject, MODEL_KEYS) else { return };
        for (tier, entry) in fields.iter() {
            match reader.string(entry) {
                Some(model) if model.trim().is_empty() => {
                    reader.error("settings", "the model's name is empty", entry.value.defined, "");
                }
                Some(model) => {
                    let model = Set { value: model.to_owned(), source: reader.source.name.clone() };
                    self.models.insert((name.to_owned(), (*tier).to_owned()), model);
                }
                None => {}
            }
        }
    }

    fn correction_rows(&self) -> [(String, serde_json::Value, String); 2] {
        let (permission, mode) = (&self.permission, &self.mode);
        let of = word(PERMISSIONS, permission.value);
        [
            ("corrections.permission".into(), of.into(), permission.source.clone()),
            ("corrections.mode".into(), word(MODES, mode.value).into(), mode.source.clone()),
        ]
    }

    fn tool_rows(&self) -> [(String, serde_json::Value, String); 4] {
        let ToolSettings { github_url, telemetry_url, model, cool_down } = &self.tools;
        [
            ("tools.github_url".into(), github_url.value.clone().into(), github_url.source.clone()),
            (
                "tools.telemetry_url".into(),
                telemetry_url.value.clone().into(),
                telemetry_url.source.clone(),
            ),
            ("tools.model".into(), model.value.into(), model.source.clone()),
            ("tools.cool_down".into(), cool_down.value.into(), cool_down.source.clone()),
        ]
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
            let row = backend_row(&value).ok_or_else(|| {
                let hint = backend_hint(&value);
                CommandError::setup(format!("TOWPATH_BACKEND: no agent backend `{value}`: {hint}"))
            })?;
            self.backend = Set { value: row.id.to_owned(), source: "TOWPATH_BACKEND".to_owned() };
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
        rows.extend(self.correction_rows());
        rows.extend(self.tool_rows());
        rows
    }
}

/// An address of a web server, without the slash at its end.
fn url(reader: &mut FieldReader<'_>, entry: Option<&Entry>) -> Option<String> {
    let entry = entry?;
    let text = reader.string(entry)?;
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    if rest.is_none_or(|rest| rest.is_empty() || rest.contains(char::is_whitespace)) {
        let message = format!("`{}` must begin with https:// or http://", entry.key);
        reader.error("settings", message, entry.value.defined, "");
        return None;
    }
    Some(text.trim_end_matches('/').to_owned())
}

fn meaning<T: Copy>(words: &[(&str, T)], word: &str) -> Option<T> {
    words.iter().find(|(known, _)| *known == word).map(|(_, value)| *value)
}

/// The word for a value, from the table of words.
fn word<T: PartialEq>(words: &[(&'static str, T)], value: T) -> &'static str {
    let row = words.iter().find(|(_, known)| *known == value);
    row.expect("every value has a word").0
}

/// As it was written: `600`, not `600.0`.
fn seconds(value: f64) -> serde_json::Value {
    match value.fract() == 0.0 && value < 1e15 {
        true => (value as u64).into(),
        false => value.into(),
    }
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

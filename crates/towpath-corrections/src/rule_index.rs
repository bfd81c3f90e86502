//! Rules by what they look for, so that a call is compared with few of them: a command line that
//! mentions no rule's program is not even parsed.

use crate::rule::{Rule, RuleKind, SHELL_PARAMETER, SHELL_TOOL};
use crate::tool_call::ToolCall;
use crate::{command_prefix, text_matches};
use std::collections::{BTreeSet, HashMap};

/// The enabled rules, ready to correct calls.
#[derive(Debug, Clone, Default)]
pub struct RuleIndex {
    rules: Vec<Rule>,
    /// Rules on a tool's name, by that name.
    tools: HashMap<String, Vec<usize>>,
    /// Rules on a parameter, by the tool.
    parameters: HashMap<String, Vec<usize>>,
    /// Rules on a command, by the program.
    programs: HashMap<String, Vec<usize>>,
    /// Rules on a command whose program has a name that is divided in a line.
    divided: Vec<usize>,
}

/// Where a rule is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Lookup {
    /// By the name of a tool.
    Tool(String),
    /// By a parameter of a tool. A match contains the text, where one is known.
    Parameter { tool: String, required: Option<String> },
    /// By the program of a command. A match contains the text, where one is known, in the line without
    /// its quotes.
    Program { program: String, required: Option<String> },
    /// By no word: its program has a name that is divided in a line.
    Divided,
}

impl Lookup {
    /// `None`: the rule matches nothing.
    pub(crate) fn of(rule: &Rule) -> Option<Lookup> {
        Some(match &rule.kind {
            RuleKind::ToolName { from, .. } | RuleKind::ToolRecipe { from, .. } => {
                Lookup::Tool(from.clone())
            }
            RuleKind::ParameterLiteral { tool, from, .. } => {
                Lookup::Parameter { tool: tool.clone(), required: Some(from.clone()) }
            }
            RuleKind::Regex { tool, from, .. } => {
                let required = text_matches::required_literal(from);
                Lookup::Parameter { tool: tool.clone(), required }
            }
            kind => {
                let mut words = kind.command().and_then(command_prefix::static_words)?.into_iter();
                let program = words.next()?;
                if !divide(&program).eq([program.as_str()]) {
                    return Some(Lookup::Divided);
                }
                let other = match kind {
                    RuleKind::Flag { from, .. } => from.trim_start_matches('-'),
                    RuleKind::Literal { from, .. } => from,
                    _ => "",
                };
                // What bash keeps of quotes inside of quotes is not seen in the line without them.
                // A refused option may be written in other ways.
                let refuses = matches!(kind, RuleKind::Refuse { .. });
                let plain =
                    |text: &String| !(text.contains(QUOTING) || refuses && text.starts_with('-'));
                let texts = words.chain([other.to_owned()]).filter(plain);
                let required = texts.max_by_key(String::len).filter(|text| text.len() > 1);
                Lookup::Program { program, required }
            }
        })
    }
}

/// The words of a line that may be a program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Mentioned<'a> {
    /// With some quotes a name may be written in no letter of its own.
    Anything,
    Words(std::borrow::Cow<'a, str>),
}

impl Mentioned<'_> {
    pub(crate) fn in_line(line: &str) -> Mentioned<'_> {
        match line.contains("$'") {
            true => Mentioned::Anything,
            false => Mentioned::Words(without_quoting(line)),
        }
    }

    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        divide(self.plain())
    }

    /// The line without its quotes.
    pub(crate) fn plain(&self) -> &str {
        match self {
            Mentioned::Anything => "",
            Mentioned::Words(text) => text,
        }
    }
}

/// The names under which rules on parameters of this call are found.
pub(crate) fn parameter_tools(call: &ToolCall) -> impl Iterator<Item = &str> {
    let shell = call.shell.is_some().then_some(SHELL_TOOL);
    let own = Some(call.tool.as_str()).filter(|tool| shell != Some(*tool));
    shell.into_iter().chain(own)
}

impl RuleIndex {
    pub fn new(rules: Vec<Rule>) -> RuleIndex {
        let mut index = RuleIndex { rules, ..RuleIndex::default() };
        index.rules.retain(|rule| rule.enabled);
        for at in 0..index.rules.len() {
            let list = match Lookup::of(&index.rules[at]) {
                Some(Lookup::Tool(tool)) => index.tools.entry(tool).or_default(),
                Some(Lookup::Parameter { tool, .. }) => index.parameters.entry(tool).or_default(),
                Some(Lookup::Program { program, .. }) => index.programs.entry(program).or_default(),
                Some(Lookup::Divided) => &mut index.divided,
                None => continue,
            };
            list.push(at);
        }
        index
    }

    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Rules on the name of the call's tool, in its host.
    pub(crate) fn on_tool(&self, call: &ToolCall) -> impl Iterator<Item = &Rule> {
        self.listed(self.tools.get(&call.tool)).filter(|rule| match &rule.kind {
            RuleKind::ToolName { host, .. } | RuleKind::ToolRecipe { host, .. } => {
                *host == call.host
            }
            _ => false,
        })
    }

    /// Rules on a parameter of the call's tool.
    pub(crate) fn on_parameters(&self, call: &ToolCall) -> impl Iterator<Item = &Rule> {
        parameter_tools(call).flat_map(|tool| self.listed(self.parameters.get(tool)))
    }

    /// Rules on a command whose program is mentioned in the line.
    pub(crate) fn on_commands(&self, line: &str) -> Vec<&Rule> {
        if self.programs.is_empty() && self.divided.is_empty() {
            return Vec::new();
        }
        let mut found: BTreeSet<usize> = self.divided.iter().copied().collect();
        match Mentioned::in_line(line) {
            Mentioned::Anything => found.extend(self.programs.values().flatten()),
            words => found.extend(words.words().filter_map(|w| self.programs.get(w)).flatten()),
        }
        found.into_iter().map(|at| &self.rules[at]).collect()
    }

    fn listed(&self, list: Option<&Vec<usize>>) -> impl Iterator<Item = &Rule> {
        list.into_iter().flatten().map(|at| &self.rules[*at])
    }
}

/// Whether a rule is about the command line of a shell tool.
pub(crate) fn is_on_command_line(rule: &Rule) -> bool {
    match &rule.kind {
        RuleKind::ParameterLiteral { tool, parameter, .. }
        | RuleKind::Regex { tool, parameter, .. } => {
            tool == SHELL_TOOL && parameter == SHELL_PARAMETER
        }
        _ => false,
    }
}

const QUOTING: [char; 3] = ['\'', '"', '\\'];

/// The line without quotes and backslashes, so that a quoted name is seen.
fn without_quoting(line: &str) -> std::borrow::Cow<'_, str> {
    match line.contains(QUOTING) {
        true => line.replace("\\\n", "").replace(QUOTING, "").into(),
        false => line.into(),
    }
}

fn divide(line: &str) -> impl Iterator<Item = &str> {
    let divides = |c: char| c.is_whitespace() || ";&|<>()`/${}".contains(c);
    line.split(divides).filter(|word| !word.is_empty())
}

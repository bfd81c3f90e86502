//! Rules by what they look for, so that a call is compared with few of them: a command line that
//! mentions no rule's program is not even parsed.

use crate::call::ToolCall;
use crate::prefix;
use crate::rule::{Rule, RuleKind, SHELL_PARAMETER, SHELL_TOOL};
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

impl RuleIndex {
    pub fn new(rules: Vec<Rule>) -> RuleIndex {
        let mut index = RuleIndex { rules, ..RuleIndex::default() };
        index.rules.retain(|rule| rule.enabled);
        for at in 0..index.rules.len() {
            let kind = &index.rules[at].kind;
            match kind {
                RuleKind::ToolName { from, .. } | RuleKind::ToolRecipe { from, .. } => {
                    index.tools.entry(from.clone()).or_default().push(at);
                }
                RuleKind::ParameterLiteral { tool, .. } | RuleKind::Regex { tool, .. } => {
                    index.parameters.entry(tool.clone()).or_default().push(at);
                }
                _ => match kind.command().and_then(prefix::program) {
                    Some(program) if divide(&program).eq([program.as_str()]) => {
                        index.programs.entry(program).or_default().push(at);
                    }
                    Some(_) => index.divided.push(at),
                    None => {}
                },
            }
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
        let shell = call.shell.as_ref().and_then(|_| self.parameters.get(SHELL_TOOL));
        let own = match call.shell.is_some() && call.tool == SHELL_TOOL {
            true => None,
            false => self.parameters.get(&call.tool),
        };
        self.listed(shell).chain(self.listed(own))
    }

    /// Rules on a command whose program is mentioned in the line.
    pub(crate) fn on_commands(&self, line: &str) -> Vec<&Rule> {
        if self.programs.is_empty() && self.divided.is_empty() {
            return Vec::new();
        }
        let mut found: BTreeSet<usize> = self.divided.iter().copied().collect();
        // With such quotes a name may be written in no letter of its own.
        if line.contains("$'") {
            found.extend(self.programs.values().flatten());
        } else {
            let plain = without_quoting(line);
            found.extend(divide(&plain).filter_map(|word| self.programs.get(word)).flatten());
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

/// The line without quotes and backslashes, so that a quoted name is seen.
fn without_quoting(line: &str) -> std::borrow::Cow<'_, str> {
    match line.contains(['\'', '"', '\\']) {
        true => line.replace("\\\n", "").replace(['\'', '"', '\\'], "").into(),
        false => line.into(),
    }
}

fn divide(line: &str) -> impl Iterator<Item = &str> {
    let divides = |c: char| c.is_whitespace() || ";&|<>()`".contains(c);
    line.split(divides).filter(|word| !word.is_empty())
}

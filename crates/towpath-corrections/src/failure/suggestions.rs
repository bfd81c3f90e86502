//! Rules that recorded mistakes lead to. A rule is proposed, never applied by itself.

use super::back_test::{BackTest, History};
use super::calls_after_mistake::{Candidate, Failed};
use super::mistake::Mistake;
use super::recorded_call::RecordedCall;
use super::similar_tool_names::{SIMILAR, similar};
use crate::correct_tool_call::correct;
use crate::correction::Correction;
use crate::new_rule::NewRule;
use crate::rule::{Rule, RuleKey, RuleKind};
use crate::rule_index::RuleIndex;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What suggestions are made from.
#[derive(Debug, Clone, Copy)]
pub struct Learning<'a> {
    pub calls: &'a [RecordedCall],
    /// The rules that there are. What they correct is not proposed again.
    pub rules: &'a [Rule],
    pub dismissed: &'a [RuleKey],
    /// A mistake that was made less often is not looked at.
    pub occurrences: usize,
}

/// A rule that would have prevented mistakes, and changed nothing else.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Proposal {
    pub rule: NewRule,
    #[serde(flatten)]
    pub evidence: Evidence,
    /// How many of the mistakes were followed by what the rule writes.
    pub recovered: usize,
    pub back_test: BackTest,
    key: RuleKey,
}

impl Proposal {
    fn new(rule: NewRule, evidence: Evidence, recovered: usize, back_test: BackTest) -> Proposal {
        let key = rule.kind.key();
        Proposal { rule, evidence, recovered, back_test, key }
    }
}

/// How often a mistake was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Evidence {
    pub mistake: Mistake,
    pub occurrences: usize,
    pub sessions: usize,
    /// What was typed, the newest first, without what was typed twice.
    pub commands: Vec<String>,
    /// What the program answered to the newest.
    pub error: String,
}

/// What was learned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Suggestions {
    /// Those that prevent most come first.
    pub proposals: Vec<Proposal>,
    /// Mistakes that are made again and again, and nothing is known that works instead.
    pub unanswered: Vec<Evidence>,
    /// Mistakes whose rule would have changed calls that succeeded, or that worked elsewhere.
    pub harmful: Vec<Proposal>,
}

/// This often, and in more than one session, a mistake is refused if nothing is known instead.
const REFUSED_OCCURRENCES: usize = 3;
/// This many of the commands of a mistake are shown.
const SHOWN: usize = 3;
/// A recovery is looked for in so many calls after the mistake.
const WINDOW: usize = 12;

pub fn suggest(learning: &Learning<'_>) -> Suggestions {
    let history = History::new(learning.calls);
    let known = RuleIndex::new(learning.rules.to_vec());
    let mut groups: BTreeMap<&Mistake, Vec<usize>> = BTreeMap::new();
    for (at, (call, mistake)) in history.calls.iter().enumerate() {
        let Some(mistake) = mistake else { continue };
        if matches!(correct(&call.call, &known), Correction::Unchanged) {
            groups.entry(mistake).or_default().push(at);
        }
    }
    let mut suggestions = Suggestions::default();
    for (mistake, at) in groups {
        if at.len() >= learning.occurrences {
            Group { mistake, at, history: &history, learning }.suggest(&mut suggestions);
        }
    }
    let order = |p: &Proposal| std::cmp::Reverse((p.back_test.prevented, p.evidence.sessions));
    suggestions.proposals.sort_by_key(order);
    suggestions.unanswered.sort_by_key(|evidence| std::cmp::Reverse(evidence.occurrences));
    suggestions
}

/// Checks and back-tests a rule that was written for a mistake. Else why it is no good.
pub fn judge(
    rule: NewRule,
    evidence: &Evidence,
    calls: &[RecordedCall],
) -> Result<Proposal, String> {
    let checked = rule.clone().check(0, false).map_err(|error| error.to_string())?;
    let back_test = History::new(calls).test(&checked, &evidence.mistake);
    if back_test.is_good(evidence.occurrences) {
        return Ok(Proposal::new(rule, evidence.clone(), 0, back_test));
    }
    Err(match back_test.succeeded {
        0 => "it does not change what failed, or changes it to what fails, too".to_owned(),
        1 => "it would have changed 1 call that succeeded".to_owned(),
        calls => format!("it would have changed {calls} calls that succeeded"),
    })
}

/// The calls with the same mistake.
struct Group<'a> {
    mistake: &'a Mistake,
    /// Where they are in the history.
    at: Vec<usize>,
    history: &'a History<'a>,
    learning: &'a Learning<'a>,
}

impl Group<'_> {
    fn suggest(&self, suggestions: &mut Suggestions) {
        let evidence = self.evidence();
        let mut rules = self.recoveries();
        rules.extend(self.refusal(&evidence).map(|rule| (rule, 0)));
        let settled = |key: &RuleKey| {
            let ruled = self.learning.rules.iter().any(|rule| rule.key() == *key);
            ruled || self.learning.dismissed.contains(key)
        };
        if rules.iter().any(|(rule, _)| settled(&rule.kind.key())) {
            return;
        }
        let mut harmful = None;
        for (rule, recovered) in rules {
            let Ok(checked) = rule.clone().check(0, false) else { continue };
            let back_test = self.history.test(&checked, self.mistake);
            let good = back_test.is_good(self.at.len());
            let harms = back_test.succeeded > 0 || self.history.worked(self.mistake);
            let proposal = Proposal::new(rule, evidence.clone(), recovered, back_test);
            match (harms, good) {
                (true, _) => harmful = harmful.or(Some(proposal)),
                (false, true) => return suggestions.proposals.push(proposal),
                (false, false) => {}
            }
        }
        match harmful {
            Some(proposal) => suggestions.harmful.push(proposal),
            None => suggestions.unanswered.push(evidence),
        }
    }

    fn calls(&self) -> impl DoubleEndedIterator<Item = &RecordedCall> {
        self.at.iter().map(|at| self.history.calls[*at].0)
    }

    fn evidence(&self) -> Evidence {
        let sessions: BTreeSet<&str> = self.calls().map(|call| call.session.as_str()).collect();
        let mut commands: Vec<String> = Vec::new();
        for call in self.calls().rev() {
            let typed = call.line().unwrap_or(&call.call.tool);
            if commands.len() < SHOWN && !commands.iter().any(|known| known == typed) {
                commands.push(typed.to_owned());
            }
        }
        Evidence {
            mistake: self.mistake.clone(),
            occurrences: self.at.len(),
            sessions: sessions.len(),
            commands,
            error: self.calls().next_back().map_or(String::new(), |call| call.error.clone()),
        }
    }

    /// The calls of the same session after this one, up to the same mistake.
    fn later(&self, at: usize) -> Vec<&RecordedCall> {
        let session = &self.history.calls[at].0.session;
        let rest = self.history.calls[at + 1..].iter().filter(|(call, _)| call.session == *session);
        let before = rest.take_while(|(_, mistake)| mistake.as_ref() != Some(self.mistake));
        before.take(WINDOW).map(|(call, _)| *call).collect()
    }

    /// The rules that recoveries lead to and that are believed, each with how often it was the way.
    fn recoveries(&self) -> Vec<(NewRule, usize)> {
        let mut found: Vec<(Candidate, usize, BTreeSet<&str>)> = Vec::new();
        for at in &self.at {
            let Some(candidate) = self.recovery(*at) else { continue };
            let session = self.history.calls[*at].0.session.as_str();
            match found.iter_mut().find(|(known, ..)| *known == candidate) {
                Some((_, count, sessions)) => {
                    *count += 1;
                    sessions.insert(session);
                }
                None => found.push((candidate, 1, BTreeSet::from([session]))),
            }
        }
        if found.iter().any(|(candidate, ..)| candidate.near) {
            found.retain(|(candidate, ..)| candidate.near);
        }
        let all: usize = found.iter().map(|(_, count, _)| count).sum();
        found.sort_by_key(|(candidate, count, _)| std::cmp::Reverse((*count, candidate.near)));
        let believed = |(candidate, count, sessions): &(Candidate, usize, BTreeSet<&str>)| {
            (candidate.near || sessions.len() > 1) && count * 2 >= all
        };
        let rule = |kind| NewRule { kind, message: None, directory: None };
        let believed = found.into_iter().filter(believed);
        believed.map(|(candidate, count, _)| (rule(candidate.kind), count)).collect()
    }

    fn recovery(&self, at: usize) -> Option<Candidate> {
        let mut later = self.later(at);
        let failed = self.history.calls[at].0;
        let at_once = later.first().is_some_and(|call| !call.failed && call.line().is_some());
        later.retain(|call| !call.failed);
        match self.mistake {
            Mistake::Tool { host, tool } => self.other_tool(host, tool, &later),
            _ => {
                let lines: Vec<&str> = later.iter().filter_map(|call| call.line()).collect();
                Failed::new(self.mistake, failed.line()?)?.recovered_by(&lines, at_once)
            }
        }
    }

    /// The most similar tool that the session used next, or that the host has.
    fn other_tool(&self, host: &str, tool: &str, later: &[&RecordedCall]) -> Option<Candidate> {
        let next = later.iter().map(|call| call.call.tool.as_str());
        let of_host =
            self.history.calls.iter().filter(|(call, _)| !call.failed && call.call.host == host);
        let known = of_host.map(|(call, _)| call.call.tool.as_str());
        let nearest = similar(tool, next, SIMILAR).into_iter().next();
        let nearest = nearest.or_else(|| similar(tool, known, SIMILAR).into_iter().next())?;
        let kind = RuleKind::ToolName {
            from: tool.to_owned(),
            to: nearest.name.to_owned(),
            host: host.to_owned(),
        };
        Some(Candidate { kind, near: true })
    }

    /// A mistake that is made again and again is refused with the program's own words.
    fn refusal(&self, evidence: &Evidence) -> Option<NewRule> {
        let often = evidence.occurrences >= REFUSED_OCCURRENCES && evidence.sessions > 1;
        let from = self.mistake.words().filter(|_| often)?;
        let program = from.split(' ').next().unwrap_or_default();
        let message = match self.mistake {
            Mistake::Command { .. } => format!("`{program}` is not installed here."),
            Mistake::Flag { command, .. } => {
                format!("`{from}` does not exist. The help of `{command}` lists what does.")
            }
            _ => format!("`{from}` does not exist. The help of `{program}` lists what does."),
        };
        let kind = RuleKind::Refuse { from, option: String::new() };
        Some(NewRule { kind, message: Some(message), directory: None })
    }
}

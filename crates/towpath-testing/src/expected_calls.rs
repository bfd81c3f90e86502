//! The agent calls that a case expects: how many, or each of them with as much as the case names.
//! A list is exact in its order and its length; of each call only what is named is compared.

use crate::problem::Problem;
use crate::run_record::AgentCall;
use crate::suite::Name;

#[derive(Debug, Clone)]
pub enum ExpectedCalls {
    Count(usize),
    Each(Vec<ExpectedCall>),
}

#[derive(Debug, Clone, Default)]
pub struct ExpectedCall {
    pub step: Option<Name>,
    pub kind: Option<&'static str>,
    /// Inside: none where no model is to be named.
    pub model: Option<Option<String>>,
    pub session: Option<&'static str>,
}

impl ExpectedCalls {
    /// The steps that are named.
    pub fn steps(&self) -> impl Iterator<Item = &Name> {
        let each = match self {
            ExpectedCalls::Count(_) => [].iter(),
            ExpectedCalls::Each(list) => list.iter(),
        };
        each.filter_map(|call| call.step.as_ref())
    }

    pub fn problem(&self, calls: &[AgentCall]) -> Option<Problem> {
        let differs = |what, wanted, got| Some(Problem::differs("calls", what, wanted, got));
        match self {
            ExpectedCalls::Count(count) if *count == calls.len() => None,
            ExpectedCalls::Count(count) => {
                differs("the number of agent calls", count.to_string(), calls.len().to_string())
            }
            ExpectedCalls::Each(list) => {
                let rest = std::iter::repeat(&UNNAMED).skip(list.len());
                let wanted: Vec<String> = list.iter().map(ExpectedCall::describe).collect();
                let asked = list.iter().chain(rest).zip(calls);
                let got: Vec<String> =
                    asked.map(|(wanted, call)| wanted.describe_actual(call)).collect();
                if wanted == got {
                    return None;
                }
                differs("the list of agent calls", lines(&wanted), lines(&got))
            }
        }
    }
}

/// Of a call that was not expected, its step is shown.
static UNNAMED: ExpectedCall = ExpectedCall { step: None, kind: None, model: None, session: None };

impl ExpectedCall {
    fn describe(&self) -> String {
        let step = self.step.as_ref().map(|step| step.text.clone());
        let model = self.model.as_ref().map(|model| named(model.as_deref()));
        joined([step, self.kind.map(str::to_owned), model, self.session.map(str::to_owned)])
    }

    /// A call with the same parts as were named of the expected one.
    fn describe_actual(&self, call: &AgentCall) -> String {
        let nothing = self.kind.is_none() && self.model.is_none() && self.session.is_none();
        let step = (nothing || self.step.is_some()).then(|| call.step.clone());
        let model = self.model.as_ref().map(|_| named(call.model.as_deref()));
        let session = if call.resumed { "resumed" } else { "new" };
        joined([
            step,
            self.kind.map(|_| call.kind.clone()),
            model,
            self.session.map(|_| session.to_owned()),
        ])
    }
}

fn named(model: Option<&str>) -> String {
    model.unwrap_or("no model").to_owned()
}

fn joined(words: [Option<String>; 4]) -> String {
    words.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn lines(calls: &[String]) -> String {
    if calls.is_empty() { "none".to_owned() } else { calls.join("\n") }
}

//! A recipe as a picture: what its steps are and what follows from what, free of how it is drawn.
//! `text` draws it on a terminal, `svg` as an image, `mermaid` writes it for programs that draw. Names are foreign text: each writer escapes them for its own language.

mod arrange_rows;
mod chart_from_program;
pub mod draw;
mod folded;
mod machine_bounds_text;
pub mod mermaid;
mod step_recipe_edges;
pub mod svg;
#[cfg(test)]
mod tests;

pub use chart_from_program::called;
pub use machine_bounds_text::{RESTARTS_EXCEEDED, bounds, refused_restart};

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The recipe asked for, then those it calls.
#[derive(Debug, Clone, Default)]
pub struct Chart {
    pub parts: Vec<Part>,
}

/// One recipe.
#[derive(Debug, Clone)]
pub struct Part {
    pub title: String,
    pub about: String,
    /// Lines below the drawing.
    pub notes: Vec<String>,
    pub cards: Vec<Card>,
    pub shape: Shape,
}

/// One step.
#[derive(Debug, Clone, Default)]
pub struct Card {
    pub name: String,
    pub kind: Kind,
    /// A few words about it: its model, the recipe it calls.
    pub detail: String,
    /// What it does, in one line of its author's.
    pub text: String,
    /// Why it never runs, where that is known.
    pub idle: Option<String>,
    /// The part that it calls.
    pub calls: Option<usize>,
    /// The steps that it is drawn instead of.
    pub steps: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kind {
    #[default]
    Agent,
    Command,
    Recipe,
}

impl Kind {
    pub fn word(self) -> &'static str {
        match self {
            Kind::Agent => "agent",
            Kind::Command => "command",
            Kind::Recipe => "recipe",
        }
    }
}

#[derive(Debug, Clone)]
pub enum Shape {
    /// One batch after the other.
    Line(Vec<Batch>),
    /// What follows depends on what a step reports.
    Machine { first: usize, ways: Vec<Way> },
}

/// Steps that run at the same time; mostly one.
#[derive(Debug, Clone)]
pub struct Batch {
    pub cards: Vec<usize>,
    pub group: Option<String>,
    /// What must be true for the batch's only step to run.
    pub condition: Option<String>,
}

/// A step, what it reports, and what follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    pub from: usize,
    pub label: String,
    pub to: To,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum To {
    Card(usize),
    /// `exit done`, `fail gave-up`.
    Exit(String),
    /// The recipe that begins in a new session.
    Restart(String),
}

impl To {
    /// `exit done`, `restart build`; nothing for a step.
    pub fn ending(&self) -> Option<String> {
        match self {
            To::Card(_) => None,
            To::Exit(words) => Some(words.clone()),
            To::Restart(recipe) => Some(format!("restart {recipe}")),
        }
    }
}

impl Card {
    /// The words beside its name, where there are any.
    fn words(&self, kind: &'static str) -> Option<String> {
        let words = [kind, self.detail.as_str(), self.idle.as_deref().unwrap_or("")];
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        (!words.is_empty()).then(|| words.join(" · "))
    }

    /// An agent is what one expects in a state machine; anything else is named.
    fn unusual(&self) -> &'static str {
        if self.kind == Kind::Agent { "" } else { self.kind.word() }
    }
}

/// The beginning of a text that is `width` columns wide at most.
fn fit(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut used = 1;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0);
        used <= width
    };
    let kept: String = text.chars().take_while(fits).collect();
    kept + "…"
}

/// A text in lines of whole words; a word that is wider than a line is cut.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(fit(word, width)),
        }
    }
    lines
}

//! The findings of `doctor` in groups: printed, as JSON, and the verdict on all of them.

use super::finding::{Finding, Level};
use crate::terminal::out;
use crate::terminal::screen::Screen;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr as _;

/// What a group of findings is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Topic {
    Directories,
    Settings,
    Programs,
    Hooks,
    Journal,
    Runs,
    Recipes,
    Tools,
}

impl Topic {
    fn title(self) -> &'static str {
        match self {
            Topic::Directories => "directories",
            Topic::Settings => "settings",
            Topic::Programs => "programs",
            Topic::Hooks => "hooks",
            Topic::Journal => "journal",
            Topic::Runs => "runs",
            Topic::Recipes => "recipes",
            Topic::Tools => "tools",
        }
    }

    /// The name in JSON, which does not change.
    fn id(self) -> &'static str {
        match self {
            Topic::Directories => "places",
            Topic::Journal => "record",
            other => other.title(),
        }
    }
}

#[derive(Debug)]
pub struct Group {
    topic: Topic,
    findings: Vec<Finding>,
}

impl Group {
    pub fn new(topic: Topic, findings: Vec<Finding>) -> Group {
        Group { topic, findings }
    }
}

/// The level of all findings together: that of the worst.
pub fn worst(groups: &[Group]) -> Level {
    all(groups).map(|finding| finding.level).max().unwrap_or(Level::Ok)
}

fn all(groups: &[Group]) -> impl Iterator<Item = &Finding> {
    groups.iter().flat_map(|group| &group.findings)
}

/// The findings that are not in order.
pub fn wrong(groups: &[Group]) -> impl Iterator<Item = &Finding> {
    all(groups).filter(|finding| finding.level != Level::Ok)
}

pub fn as_json(groups: &[Group]) -> Vec<Value> {
    let of = |group: &Group| {
        let id = group.topic.id();
        let each = group.findings.iter().map(move |finding| {
            json!({
                "group": id,
                "name": finding.name,
                "status": finding.level.word(),
                "text": finding.text,
                "fix": finding.fix,
            })
        });
        each.collect::<Vec<_>>()
    };
    groups.iter().flat_map(of).collect()
}

pub fn print(groups: &[Group], screen: &Screen) {
    for group in groups.iter().filter(|group| !group.findings.is_empty()) {
        out::line(group.topic.title());
        for line in lines(group, screen) {
            out::line(line);
        }
        out::line("");
    }
}

/// The last line: how many findings are broken or need attention.
pub fn verdict(groups: &[Group]) {
    let number = |level| all(groups).filter(|finding| finding.level == level).count();
    let (broken, attention) = (number(Level::Broken), number(Level::Attention));
    let need = if attention == 1 { "needs" } else { "need" };
    out::line(match (broken, attention) {
        (0, 0) => "no problems found".to_owned(),
        (0, _) => format!("nothing is broken, {attention} {need} attention"),
        (_, 0) => format!("{broken} broken"),
        _ => format!("{broken} broken, {attention} {need} attention"),
    });
}

/// The word for the level, and a gap on both sides.
const MARGIN: usize = 2 + "attention".len() + 2;

fn lines(group: &Group, screen: &Screen) -> Vec<String> {
    let name = group.findings.iter().map(|finding| finding.name.width()).max().unwrap_or(0);
    let indent = MARGIN + name + 2;
    // On a terminal too narrow for columns every word is still printed, each on its line.
    let room = screen.width.map(|width| width.saturating_sub(indent).max(24));
    let mut lines = Vec::new();
    for finding in &group.findings {
        let word = finding.level.word();
        let gap = " ".repeat(MARGIN - 2 - word.len());
        let level = screen.paint(finding.level.tint(), word);
        let space = " ".repeat(name - finding.name.width() + 2);
        let mut head = format!("  {level}{gap}{}{space}", finding.name);
        for piece in wrapped(&finding.text, room) {
            lines.push(format!("{head}{piece}").trim_end().to_owned());
            head = " ".repeat(indent);
        }
        if let Some(fix) = &finding.fix {
            // A command is never wrapped: it is there to be copied.
            lines.push(format!("{}fix: {fix}", " ".repeat(indent)));
        }
    }
    lines
}

/// A text in lines of at most `room` columns, as far as its words allow.
fn wrapped(text: &str, room: Option<usize>) -> Vec<String> {
    let Some(room) = room else { return vec![text.to_owned()] };
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("it begins with one line");
        if last.is_empty() {
            last.push_str(word);
        } else if last.width() + 1 + word.width() <= room {
            last.push(' ');
            last.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_lines_that_fit_and_commands_in_one_piece() {
        let text = "a text that is longer than what fits beside its name";
        let findings = vec![
            Finding::ok("bash", "5.2"),
            Finding::broken("recipes", text, "towpath validate a-very-long-path/to/a/recipe.yaml"),
        ];
        let group = Group::new(Topic::Recipes, findings);
        let screen = |width| Screen { width, color: false };
        assert_eq!(
            lines(&group, &screen(Some(50))),
            [
                "  ok         bash     5.2",
                "  broken     recipes  a text that is longer than",
                "                      what fits beside its name",
                "                      fix: towpath validate a-very-long-path/to/a/recipe.yaml",
            ]
        );
        assert_eq!(lines(&group, &screen(None))[1], format!("  broken     recipes  {text}"));
    }
}

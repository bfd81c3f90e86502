//! What the terminal on stdout can show: its width, its colours, and lines cut to fit it.

use crate::environment::Environment;
use crate::terminal::out;
use crate::terminal::wrap::wrap;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// What stdout can show.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    /// None: it is no terminal, lines may be as long as they are.
    pub width: Option<usize>,
    pub color: bool,
}

impl Screen {
    pub fn new(env: &Environment) -> Screen {
        let size = || rustix::termios::tcgetwinsize(std::io::stdout()).ok();
        let columns = || size().map(|s| usize::from(s.ws_col)).filter(|c| *c > 0).unwrap_or(80);
        Screen { width: env.stdout_terminal.then(columns), color: env.stdout_color }
    }

    /// A line of ours, cut where the terminal ends.
    pub fn line(&self, text: &str) {
        out::line(self.cut(text));
    }

    /// A message of ours, wrapped where the terminal ends.
    pub fn message(&self, text: &str) {
        out::line(self.width.map_or_else(|| text.to_owned(), |width| wrap(text, width)));
    }

    fn cut(&self, text: &str) -> String {
        self.width.map_or_else(|| text.to_owned(), |width| cut(text, width))
    }

    pub fn paint(&self, tint: Tint, text: &str) -> String {
        let code = match tint {
            Tint::None => return text.to_owned(),
            Tint::Good => "32",
            Tint::Bad => "31",
            Tint::Attention => "33",
            Tint::Dim => "2",
        };
        if self.color && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Colour by meaning. It never carries information that the text does not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tint {
    #[default]
    None,
    Good,
    Bad,
    Attention,
    Dim,
}

/// The beginning of a text that is `width` columns wide at most, with `…` where something is left
/// out.
pub fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > width {
            break;
        }
        kept.push(c);
    }
    if width > 0 {
        kept.push('…');
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_by_what_is_seen() {
        assert_eq!(cut("abc", 0), "");
        assert_eq!(cut("日本", 2), "…");
    }
}

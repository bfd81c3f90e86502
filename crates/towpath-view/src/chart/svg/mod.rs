//! A chart as one self-contained image: no script, no font, nothing to fetch, light or dark as the
//! reader's screen is. The layout is ours: steps from top to bottom, ends beside their step, loops
//! there and back, and other ways along a rail at the left, so that no way crosses a label.

mod draw_state_machine;
mod draw_step_recipe;
mod svg_elements;

use super::{Chart, Part, Shape, fit, wrapped};
use std::fmt::Write as _;
use svg_elements::{Ink, Style, escaped};

const MARGIN: i64 = 32;
/// How wide a title and a description may be, in columns.
const WIDEST: usize = 96;

/// Something drawn, and the room it takes from 0, 0.
#[derive(Debug, Default)]
struct Drawing {
    ink: Vec<Ink>,
    width: i64,
    height: i64,
}

impl Drawing {
    fn grow(&mut self, right: i64, bottom: i64) {
        self.width = self.width.max(right);
        self.height = self.height.max(bottom);
    }
}

/// The image by itself.
pub fn write(chart: &Chart) -> String {
    image(chart, false)
}

/// The image as a part of a page: the page has the style, and finds each step by its attributes. Large
/// groups are folded.
pub fn write_for_page(chart: &Chart) -> String {
    image(&chart.clone().folded(), true)
}

fn image(chart: &Chart, on_page: bool) -> String {
    let (mut body, mut width, mut y) = (String::new(), 320, MARGIN);
    for (number, part) in chart.parts.iter().enumerate() {
        let drawing = drawn(part);
        let number = if on_page { format!(" data-part=\"{number}\"") } else { String::new() };
        let _ = writeln!(body, "<g{number} transform=\"translate({MARGIN} {y})\">");
        drawing.ink.iter().for_each(|ink| ink.write(&mut body, on_page));
        body.push_str("</g>\n");
        width = width.max(drawing.width + 2 * MARGIN);
        y += drawing.height + 2 * MARGIN;
    }
    let height = (y - MARGIN).max(MARGIN);
    let style = if on_page { String::new() } else { format!("<style>{STYLE}</style>\n") };
    let (title, about) = chart.parts.first().map_or(("", ""), |part| (&part.title, &part.about));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
         <title>{}</title>\n<desc>{}</desc>\n{style}\
         <rect class=\"ground\" width=\"{width}\" height=\"{height}\" rx=\"12\"/>\n{body}</svg>\n",
        escaped(title),
        escaped(about),
    )
}

/// A part with its words above and below.
fn drawn(part: &Part) -> Drawing {
    let mut drawing = Drawing::default();
    let title = fit(&part.title, WIDEST / 2);
    drawing.ink.push(Ink::text(0, 18, Style::Title, title.clone()));
    drawing.grow(Style::Title.width(&title), 28);
    for text in few_lines(&part.about) {
        let y = drawing.height + 14;
        drawing.grow(Style::About.width(&text), y + 6);
        drawing.ink.push(Ink::text(0, y, Style::About, text));
    }
    let top = drawing.height + 20;
    let inner = match &part.shape {
        Shape::Line(batches) => draw_step_recipe::draw(part, batches, top),
        Shape::Machine { .. } => draw_state_machine::draw(part, top),
    };
    drawing.ink.extend(inner.ink);
    drawing.grow(inner.width, inner.height);
    drawing.height += 12;
    for text in part.notes.iter().flat_map(|note| few_lines(note)) {
        let y = drawing.height + 14;
        drawing.grow(Style::Note.width(&text), y + 4);
        drawing.ink.push(Ink::text(0, y, Style::Note, text));
    }
    drawing
}

/// A text in a few lines; a longer one is for the recipe's file.
fn few_lines(text: &str) -> Vec<String> {
    const MOST: usize = 4;
    let mut lines = wrapped(text, WIDEST);
    if lines.len() > MOST {
        lines.truncate(MOST);
        lines[MOST - 1].push_str(" …");
    }
    lines
}

const STYLE: &str = "
text{white-space:pre;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#1f2328}
.title{font:600 20px ui-sans-serif,system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif}
.about{font:13.5px ui-sans-serif,system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif;fill:#59636e}
.note{font-size:11.2px;fill:#59636e}
.name{font-size:14px;font-weight:600}
.detail,.code{font-size:11.2px;fill:#59636e}
.label{font-size:11.2px;fill:#424a53}
.end{font-size:12px}
.ground{fill:#ffffff}
.card{fill:#ffffff;stroke:#c6cdd5;stroke-width:1.2}
.agent{fill:#8250df}.command{fill:#0969da}.recipe{fill:#1a7f37}
.idle{opacity:.45;stroke-dasharray:5 4}
.pill{fill:#f3f5f8;stroke:#d0d7de}
.restart{fill:#fff8e6;stroke:#d4a72c}
.frame{fill:#f6f8fa;stroke:#afb8c1;stroke-dasharray:5 4}
.way{fill:none;stroke:#818b98;stroke-width:1.4}
.tip,.dot{fill:#818b98}
@media (prefers-color-scheme:dark){
text{fill:#e6edf3}.about,.note,.detail,.code{fill:#9198a1}.label{fill:#c3cad2}
.ground{fill:#0d1117}.card{fill:#161b22;stroke:#3d444d}
.agent{fill:#a371f7}.command{fill:#4493f8}.recipe{fill:#3fb950}
.pill{fill:#21262d;stroke:#3d444d}.restart{fill:#2b2414;stroke:#9e6a03}
.frame{fill:#12171e;stroke:#3d444d}.way{stroke:#7d8590}.tip,.dot{fill:#7d8590}
}
";

//! The picture in the README, as a real browser draws it: it ends with what a run of the demo leaves on
//! a terminal, every letter is in the column where the terminal has it, and there is time to read it.

use super::tmux_terminal::{Terminal, settled};
use super::{page, root};
use crate::support::User;
use std::process::Command;

const PICTURE: &str = "docs/images/demo.svg";

/// The size of a character and the margin, as in `tools/picture`.
const WIDTH: f64 = 8.4;
const HEIGHT: f64 = 18.0;
const MARGIN: f64 = 16.0;

fn attribute(element: &str, name: &str) -> f64 {
    let value =
        element.split_once(&format!(" {name}=\"")).and_then(|(_, rest)| rest.split_once('"'));
    value.and_then(|(number, _)| number.parse().ok()).unwrap_or_else(|| panic!("{name}: {element}"))
}

fn unescaped(text: &str) -> String {
    let pairs = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#x27;", "'"), ("&amp;", "&")];
    pairs.into_iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// The screens of the picture, each as a terminal would show it.
fn screens(picture: &str) -> Vec<String> {
    let screen = |group: &str| {
        let mut rows: Vec<Vec<char>> = Vec::new();
        for element in group.lines().filter(|line| line.starts_with("<text ")) {
            let (_, text) = element.split_once('>').expect("a text element");
            let text = unescaped(text.strip_suffix("</text>").expect("a text element"));
            let column = ((attribute(element, "x") - MARGIN) / WIDTH).round() as usize;
            let row = ((attribute(element, "y") - MARGIN) / HEIGHT - 0.75).round() as usize;
            rows.resize(rows.len().max(row + 1), Vec::new());
            let row = &mut rows[row];
            assert!(row.len() <= column, "two texts in one position: {element}");
            row.resize(column, ' ');
            row.extend(text.chars());
        }
        let lines: Vec<String> = rows.into_iter().map(String::from_iter).collect();
        lines.join("\n")
    };
    picture.split("<g id=\"f").skip(1).map(screen).collect()
}

/// The first word of a line behind the marks and spinners of the live view.
fn first_word(line: &str) -> Option<&str> {
    line.split_whitespace().find(|word| word.chars().any(char::is_alphanumeric))
}

/// The two steps of the group end in either order, and what they print comes in that order.
fn in_step_order(screen: &str) -> String {
    let (syntax, expected) = ("syntax\n  the script is sound bash\n", "expected\n  9\n");
    screen.replace(&format!("{expected}{syntax}"), &format!("{syntax}{expected}"))
}

/// Reads the picture as a browser draws it. Prints what is wrong, one line each: a letter that is not
/// in its column, an instant with no screen or with two, an end that is gone before it can be read. Then
/// prints the last screen, each letter in the row and column where it is drawn.
const MEASURE: &str = "
const wrong = [];
let letters = 0;
for (const text of document.querySelectorAll('#demo text')) {
  const shown = text.textContent;
  if (text.getNumberOfChars() !== shown.length) wrong.push('blanks are lost: ' + shown);
  for (let i = 1; i < text.getNumberOfChars(); i++, letters++) {
    const gap = text.getStartPositionOfChar(i).x - text.getStartPositionOfChar(i - 1).x;
    if (Math.abs(gap - 8.4) > 0.5) { wrong.push(gap + ' at ' + i + ': ' + shown); break; }
  }
}
for (const text of document.querySelectorAll('#chart text'))
  if (text.getNumberOfChars() !== text.textContent.length) wrong.push('blanks are lost: ' + text.textContent);
if (letters < 1000) wrong.push(letters + ' letters');
const screens = [...document.querySelectorAll('#demo g[id]')];
const animations = document.getAnimations();
const total = Math.max(...animations.map(animation => animation.effect.getTiming().duration));
const at = instant => {
  for (const animation of animations) { animation.pause(); animation.currentTime = instant; }
  return screens.filter(screen => getComputedStyle(screen).opacity === '1');
};
let rest = 0;
for (let instant = 0; instant < total; instant += 50) {
  const now = at(instant);
  if (now.length !== 1) wrong.push(now.length + ' screens at ' + instant);
  if (now[0] === screens.at(-1)) rest += 50;
}
if (!(rest >= 10000)) wrong.push('the last screen is there for ' + rest + ' ms');
if (!(total - rest >= 5000)) wrong.push('the run is there for ' + (total - rest) + ' ms');
const rows = [];
for (const text of at(total - 1)[0].querySelectorAll('text')) {
  for (let i = 0; i < text.getNumberOfChars(); i++) {
    const { x, y } = text.getStartPositionOfChar(i);
    const row = rows[Math.round((y - 16) / 18 - 0.75)] ??= [];
    row[Math.round((x - 16) / 8.4)] = text.textContent[i];
  }
}
const line = row => Array.from(row ?? [], letter => letter ?? ' ').join('');
const result = document.createElement('pre');
result.id = 'result';
result.textContent = wrong.slice(0, 20).join('\\n') + '\\n==\\n' + Array.from(rows, line).join('\\n');
document.body.append(result);
";

/// What a real browser makes of the picture and of a recipe's drawing: what is wrong, and the screen
/// that it shows in the end.
fn read_by_a_browser(demo: &str, chart: &str, user: &User) -> (String, String) {
    let html = format!(
        "<!doctype html><meta charset=\"utf-8\"><body><div id=\"demo\">{demo}</div>\
         <div id=\"chart\">{chart}</div><script>{MEASURE}</script></body>"
    );
    std::fs::write(user.path("page.html"), html).expect("the page is written");
    let flags = "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
                 --disable-background-networking --disable-component-update --disable-sync";
    let drawn = Command::new("timeout")
        .args(["--kill-after=5", "120", "chromium"])
        .args(flags.split_whitespace())
        .arg(format!("--user-data-dir={}", user.path("profile").display()))
        .arg("--dump-dom")
        .arg(format!("file://{}", user.path("page.html").display()))
        .env("HOME", user.path("home"))
        .current_dir(root())
        .output()
        .expect("`timeout` starts");
    let dom = String::from_utf8_lossy(&drawn.stdout);
    let result =
        dom.split_once("<pre id=\"result\">").and_then(|(_, rest)| rest.split_once("</pre>"));
    let result = result.and_then(|(result, _)| result.split_once("\n==\n"));
    let Some((wrong, screen)) = result else {
        let printed = String::from_utf8_lossy(&drawn.stderr);
        panic!("no browser drew it ({}; Debian package `chromium`): {printed}", drawn.status);
    };
    (unescaped(wrong), unescaped(screen))
}

#[test]
fn a_browser_shows_what_a_run_of_the_demo_shows() {
    let recipe = "name: blanks\nsteps:\n  - {id: a, command: \"echo 'a   b'    c\"}\n";
    let user = User::new().file("r.yaml", recipe);
    let chart = user.towpath(&["explain", "r.yaml", "--format", "svg"]).exits(0).stdout;
    assert!(chart.contains("a   b"), "the blanks are in the image: {chart}");
    let picture = page(PICTURE);
    let (wrong, last) = read_by_a_browser(&picture, &chart, &user);
    assert_eq!(wrong, "");

    let mut terminal = Terminal::new();
    let shown = format!("$ towpath run demo\n{}", terminal.types("towpath run demo"));
    // The id of the run that was recorded; the terminal's is replaced by the pages' first one.
    let id = last.split("· run ").nth(1).and_then(|rest| rest.split(' ').next());
    let last = last.replace(id.expect("the run's id"), "7f3k");
    let [last, now] = [&last, &shown].map(|screen| in_step_order(&settled(screen)));
    assert_eq!(last, now, "make the picture again with tools/picture");
    assert!(now.contains("\n-tr ' '") && now.contains("\n+wc -w"), "the agent's change: {now}");
    let screens = screens(&picture);
    let (_, earlier) = screens.split_last().expect("the picture has screens");
    assert!(earlier.len() > 5, "it moves");
    for line in earlier.iter().flat_map(|screen| screen.lines()).filter(|line| !line.is_empty()) {
        let known = first_word(line).is_none_or(|word| shown.contains(word));
        assert!(known || line.ends_with("keeps everything"), "no run shows {line:?}");
    }
}

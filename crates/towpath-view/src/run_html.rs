//! A run as one HTML file that opens without a server: no script, nothing to fetch. Whatever comes from
//! recipes and steps is escaped here, with what cannot be seen made visible.

use crate::foreign_text::visible;
use serde_json::Value;
use std::fmt::Write as _;

/// What one job printed, or an agent answered.
#[derive(Debug)]
pub struct HtmlOutput {
    pub title: String,
    pub text: String,
    /// How many bytes of it were left out at its beginning.
    pub left_out: u64,
}

/// `run` is the JSON of the run, `why` a sentence about it, `chart` an SVG image.
pub fn run_html(run: &Value, why: &str, chart: &str, outputs: &[HtmlOutput]) -> String {
    let text = |key: &str| escape(run[key].as_str().unwrap_or(""));
    let title = format!("{} · {} · {}", text("recipe_name"), text("run_id"), text("status"));
    let mut rows = String::new();
    add_rows(&run["steps"], 0, &mut rows);
    let mut printed = String::new();
    for output in outputs {
        let cut = match output.left_out {
            0 => String::new(),
            bytes => format!("<p>{bytes} bytes before this are left out.</p>"),
        };
        let (title, text) = (escape(&output.title), escape(&output.text));
        let _ = writeln!(
            printed,
            "<details><summary>{title}</summary>{cut}<pre>{text}</pre></details>"
        );
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n\
         <h1>{title}</h1>\n<p>{why}</p>\n<p>{directory} · started {started} · {cost}</p>\n\
         <h2>Steps</h2>\n<table>\n<thead><tr><th>step</th><th>status</th><th>took</th>\
         <th>attempts</th><th>about it</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n\
         <h2>Chart</h2>\n<div class=\"chart\" tabindex=\"0\" role=\"region\" aria-label=\"Chart\">\
         {chart}</div>\n<h2>Output</h2>\n{printed}\
         </main>\n</body>\n</html>\n",
        why = escape(why),
        directory = text("directory"),
        started = text("started"),
        cost = cost(run),
    )
}

fn cost(run: &Value) -> String {
    match (run["cost_usd"].as_f64(), run["cost_complete"] == true) {
        (Some(0.0), true) => "no cost".to_owned(),
        (Some(usd), true) => crate::amounts_and_times::money(usd),
        (Some(usd), false) => format!("at least {}", crate::amounts_and_times::money(usd)),
        (None, _) => "cost unknown".to_owned(),
    }
}

fn add_rows(steps: &Value, depth: usize, rows: &mut String) {
    let mut restarts = 0;
    for step in steps.as_array().into_iter().flatten() {
        let before = step["restarts"].as_u64().unwrap_or(0);
        if before > restarts {
            restarts = before;
            let _ =
                writeln!(rows, "<tr><th colspan=\"5\">Restart {restarts}: a new session</th></tr>");
        }
        let text = |key: &str| escape(step[key].as_str().unwrap_or(""));
        let about = [text("outcome"), text("skip_reason"), text("error")];
        let about: Vec<String> = about.into_iter().filter(|text| !text.is_empty()).collect();
        let took = step["duration"].as_f64().map_or(String::new(), |s| format!("{s:.1} s"));
        let _ = writeln!(
            rows,
            "<tr><td>{}{}</td><td>{}</td><td>{took}</td><td>{}</td><td>{}</td></tr>",
            "&#160;&#160;".repeat(depth),
            text("path"),
            text("status").replace('_', " "),
            step["attempts"],
            about.join(" · "),
        );
        add_rows(&step["children"], depth + 1, rows);
    }
}

fn escape(text: &str) -> String {
    let seen = visible(text);
    seen.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

const STYLE: &str = "
:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
main{max-width:72rem;margin:0 auto;padding:1rem}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.2rem .6rem;border-bottom:1px solid #8886}
pre{white-space:pre-wrap;overflow-wrap:anywhere;font:13px/1.4 ui-monospace,monospace}
.chart{overflow-x:auto}
";

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn nothing_of_a_run_becomes_markup() {
        let evil = "<script>alert(1)</script>\"'&\u{1b}[31m\u{202e}";
        let step = json!({ "path": evil, "status": evil, "error": evil, "attempts": 1 });
        let run = json!({
            "recipe_name": evil, "run_id": "7f3k", "status": "failed", "directory": evil,
            "started": "2026", "cost_usd": 0.5, "cost_complete": false, "steps": [step],
        });
        let output = HtmlOutput { title: evil.to_owned(), text: evil.to_owned(), left_out: 7 };
        let html = run_html(&run, evil, "<svg></svg>", &[output]);
        assert!(!html.contains("<script"), "{html}");
        assert!(
            html.contains("&lt;script&gt;alert(1)") && html.contains("␛[31m⟨U+202E⟩"),
            "{html}"
        );
        assert!(html.contains("at least $0.50") && html.contains("7 bytes before this"));
    }
}

//! The files of the page, inside of the program. They have no data, so they need no token.

use crate::answer::Refusal;
use axum::body::Body;
use axum::http::header::{ACCEPT, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Uri};
use axum::response::IntoResponse as _;

pub(crate) struct PageFile {
    pub path: &'static str,
    content_type: &'static str,
    text: &'static str,
}

macro_rules! page_files {
    ($($name:literal => $kind:literal;)*) => {
        pub(crate) const FILES: &[PageFile] = &[$(PageFile {
            path: concat!("/", $name),
            content_type: $kind,
            text: include_str!(concat!("../page/", $name)),
        },)*];
    };
}

page_files! {
    "index.html" => "text/html; charset=utf-8";
    "icon.svg" => "image/svg+xml";
    "app.css" => "text/css; charset=utf-8";
    "run.css" => "text/css; charset=utf-8";
    "actions.js" => "text/javascript; charset=utf-8";
    "api.js" => "text/javascript; charset=utf-8";
    "app.js" => "text/javascript; charset=utf-8";
    "compare.js" => "text/javascript; charset=utf-8";
    "connection.js" => "text/javascript; charset=utf-8";
    "diff_view.js" => "text/javascript; charset=utf-8";
    "doctor.js" => "text/javascript; charset=utf-8";
    "dom.js" => "text/javascript; charset=utf-8";
    "foreign_text.js" => "text/javascript; charset=utf-8";
    "graph.js" => "text/javascript; charset=utf-8";
    "keyboard.js" => "text/javascript; charset=utf-8";
    "layout.js" => "text/javascript; charset=utf-8";
    "log_view.js" => "text/javascript; charset=utf-8";
    "markdown.js" => "text/javascript; charset=utf-8";
    "questions.js" => "text/javascript; charset=utf-8";
    "questions_watch.js" => "text/javascript; charset=utf-8";
    "run.js" => "text/javascript; charset=utf-8";
    "runs.js" => "text/javascript; charset=utf-8";
    "sha256.js" => "text/javascript; charset=utf-8";
    "start.js" => "text/javascript; charset=utf-8";
    "step.js" => "text/javascript; charset=utf-8";
    "terminal_lines.js" => "text/javascript; charset=utf-8";
    "timeline.js" => "text/javascript; charset=utf-8";
    "transcript_view.js" => "text/javascript; charset=utf-8";
    "words.js" => "text/javascript; charset=utf-8";
}

impl PageFile {
    /// Comments and indentation are for readers of the source.
    fn sent(&self) -> String {
        let lines = self.text.lines().map(|line| line.trim_start_matches('\t'));
        let code = lines.filter(|line| !line.starts_with("//") && !line.starts_with("/**"));
        code.flat_map(|line| [line, "\n"]).collect()
    }
}

/// The addresses of the page's screens: each is answered with the page, which shows the screen.
const SCREENS: &[&str] = &["open", "run", "start", "questions", "compare", "doctor"];

/// Answers what no route has.
pub(crate) async fn answer(method: Method, uri: Uri, headers: HeaderMap) -> Response<Body> {
    let path = uri.path();
    let first = path.split('/').nth(1).unwrap_or_default();
    let screen = path == "/" || SCREENS.contains(&first);
    let known = FILES.iter().find(|file| file.path == path && !screen);
    // A user who follows a wrong link reads that in the page, a program in its own language.
    let browses = first != "api" && headers.get(ACCEPT).is_some_and(accepts_html);
    if known.is_none() && !screen && !browses {
        return Refusal::not_found("there is nothing at this address").into_response();
    }
    if method != Method::GET && method != Method::HEAD {
        return bad_method().await.into_response();
    }
    let status = if known.is_some() || screen { StatusCode::OK } else { StatusCode::NOT_FOUND };
    let file = known.unwrap_or(&FILES[0]);
    (status, [(CONTENT_TYPE, file.content_type)], file.sent()).into_response()
}

fn accepts_html(accept: &HeaderValue) -> bool {
    accept.to_str().is_ok_and(|text| text.contains("text/html"))
}

pub(crate) async fn bad_method() -> Refusal {
    let message = "this address does not know that method";
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "bad-method", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_page_is_small_and_every_file_is_served() {
        let size: usize = FILES.iter().map(|file| file.sent().len()).sum();
        assert!(size < 120_000, "the page has {size} bytes");
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/page");
        let files = std::fs::read_dir(directory).expect("the page's files");
        let names = files.map(|file| file.expect("an entry").file_name());
        let mut written: Vec<String> = names.map(|name| format!("/{}", name.display())).collect();
        written.sort();
        let mut served: Vec<&str> = FILES.iter().map(|file| file.path).collect();
        served.sort_unstable();
        assert_eq!(served, written);
    }

    #[test]
    fn a_comment_of_several_lines_would_be_sent_in_part() {
        for file in FILES {
            let mut lines = file.text.lines().map(str::trim);
            let whole = lines.all(|line| !line.starts_with("/**") || line.ends_with("*/"));
            assert!(whole && !file.text.contains("\n//\n"), "{}", file.path);
        }
    }

    #[test]
    fn no_script_or_style_is_inside_of_markup_and_nothing_comes_from_elsewhere() {
        for file in FILES {
            let text = file.text;
            let others = text.match_indices("://").filter(|(at, _)| {
                !text[..*at].ends_with("http") || !text[*at..].starts_with("://www.w3.org/")
            });
            // The address of the page's own socket is made of the address of the page.
            let others = others.filter(|(at, _)| !text[*at..].starts_with("://${location.host}"));
            assert_eq!(others.count(), 0, "{}", file.path);
            for made in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("]
            {
                assert!(!text.contains(made), "{}: {made}", file.path);
            }
        }
        let html = FILES[0].text;
        assert!(!html.contains("<style") && !html.contains(" style=") && !html.contains(" on"));
        assert_eq!(
            html.matches("<script").count(),
            html.matches("<script type=\"module\" src=").count()
        );
    }
}

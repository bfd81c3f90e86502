//! Removes secrets from a recorded call before it is stored: the values of environment variables
//! with the name of a secret, the known shapes of tokens, and what is written where a password
//! belongs. This is against accidents: a secret that looks like any other word, in a position like
//! any other, is not found.

use regex::{Captures, Regex};
use serde_json::Value;
use std::sync::OnceLock;
use towpath_core::{MASK, SHORTEST_SECRET, Secrets};

/// What is masked in all texts of one process.
#[derive(Debug, Clone, Default)]
pub struct Masking {
    secrets: Secrets,
}

/// A shape of a secret. Its group `s` is masked, or all of it if there is no such group.
struct Shape {
    /// One of these, in lower case, is in every text that has the shape. Most texts have none, and
    /// then no pattern is compiled: a hook is a short process.
    marks: &'static [&'static str],
    /// Matched without regard to case. `@` is one word of a command line, quotes included.
    pattern: &'static str,
    compiled: OnceLock<Regex>,
}

const fn shape(marks: &'static [&'static str], pattern: &'static str) -> Shape {
    Shape { marks, pattern, compiled: OnceLock::new() }
}

/// What the name of a secret has as a word, or ends with.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "pat",
    "secret",
    "token",
    "apikey",
    "api_key",
    "access_key",
    "accesskey",
    "private_key",
    "privatekey",
    "credential",
    "credentials",
    "auth",
    "cookie",
];

/// The last word of a name that is about a secret, but has another value.
const NO_SECRETS: &[&str] = &[
    "sock", "file", "path", "dir", "url", "uri", "stdin", "fd", "name", "id", "type", "ttl",
    "length", "expires", "method", "env",
];

static SHAPES: [Shape; 25] = [
    shape(
        &["private key-----"],
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|\z)",
    ),
    shape(&["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"\bgh[pousr]_[a-z0-9]{16,}"),
    shape(&["github_pat_"], r"\bgithub_pat_[a-z0-9_]{16,}"),
    shape(&["glpat-"], r"\bglpat-[a-z0-9_-]{16,}"),
    shape(&["sk-"], r"\bsk-[a-z0-9_-]{16,}"),
    shape(&["k_live_", "k_test_"], r"\b[sr]k_(?:live|test)_[a-z0-9]{16,}"),
    shape(&["xox"], r"\bxox[a-z]-[a-z0-9-]{10,}"),
    shape(&["akia", "asia"], r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    shape(&["aiza"], r"\bAIza[0-9a-z_-]{30,}"),
    shape(&["ya29."], r"\bya29\.[0-9a-z_-]{16,}"),
    shape(&["eyj"], r"\beyJ[a-z0-9_-]{8,}\.[a-z0-9_-]{8,}(?:\.[a-z0-9_-]*)?"),
    shape(&["npm_"], r"\bnpm_[a-z0-9]{20,}"),
    shape(&["pypi-"], r"\bpypi-[a-z0-9_-]{20,}"),
    shape(&["hf_"], r"\bhf_[a-z0-9]{20,}"),
    shape(&["dop_v1_"], r"\bdop_v1_[a-f0-9]{32,}"),
    shape(&["sg."], r"\bSG\.[a-z0-9_-]{16,}\.[a-z0-9_-]{16,}"),
    shape(&["age-secret-key-"], r"AGE-SECRET-KEY-1[a-z0-9]{40,}"),
    shape(
        &["authorization"],
        r#"\bauthorization\\?["']?\s*[:=]\s*\\?["']?(?:(?:bearer|basic|token|apikey)\s+)?(?P<s>[^\s"'\\]+)"#,
    ),
    shape(&["bearer "], r"\bbearer\s+(?P<s>[a-z0-9._~+/=-]{8,})"),
    // `https://user:password@host`: the password may itself have an `@`.
    shape(&["://"], r#"://[^\s/:@'"]*:(?P<s>[^\s/'"]+)@"#),
    shape(&["-u"], r#"\s(?:-u\s*|--(?:proxy-)?user[=\s]\s*)["']?[^\s:'"]+:(?P<s>@)"#),
    shape(&["mysql", "mariadb"], r"\b(?:mysql|mariadb)\S*\s(?:[^|;&\n]*?\s)?-p(?P<s>@)"),
    shape(
        &["openssl"],
        r"\bopenssl\b[^|;&\n]*?\s-(?:k|K|pass|passin|passout)\s+(?:pass:)?(?P<s>@)",
    ),
    shape(&["sshpass"], r"\bsshpass\s+-p\s*(?P<s>@)"),
    shape(&["login"], r"\blogin\b[^|;&\n]*?\s-p\s+(?P<s>@)"),
];

/// `--password X`, `--api-key=X`, `GITHUB_TOKEN=X`, `"secret": "X"`, `?token=X`.
static NAMED: Shape =
    shape(&[], r#"(?P<n>-{0,2}[a-z][a-z0-9_.-]*)\\?["']?(?P<e>\s*[=:]\s*|\s+)(?P<s>@)"#);

/// One word of a command line, or a value in JSON, as it is written.
const WORD: &str = r#"(?:"[^"\\]*(?:\\.[^"\\]*)*"|'[^']*'|\\.|[^\s&|;<>()])+"#;

impl Shape {
    fn is_possible(&self, lower: &str) -> bool {
        self.marks.iter().any(|mark| lower.contains(mark))
    }

    fn compiled(&self) -> &Regex {
        self.compiled.get_or_init(|| {
            let pattern = self.pattern.replace("(?P<s>@)", &format!("(?P<s>{WORD})"));
            Regex::new(&format!("(?i){pattern}")).expect("a test compiles every pattern")
        })
    }

    fn mask(&self, text: &str) -> String {
        self.compiled().replace_all(text, masked_group).into_owned()
    }
}

impl Masking {
    /// The caller gives the environment, of which the variables with the name of a secret count.
    pub fn new<'a>(environment: impl IntoIterator<Item = (&'a str, &'a str)>) -> Masking {
        let secret = |(name, value): &(&str, &str)| {
            is_secret_name(name) && value.trim().chars().count() >= SHORTEST_VALUE
        };
        let values = environment.into_iter().filter(secret);
        let values = values.map(|(name, value)| (name.to_owned(), value.as_bytes().to_vec()));
        let secrets = Secrets::new(values.collect()).expect("shorter values are left out");
        Masking { secrets }
    }

    /// The text without secrets.
    pub fn text(&self, text: &str) -> String {
        let mut masked = self.secrets.mask(text).into_owned();
        let lower = masked.to_ascii_lowercase();
        for shape in SHAPES.iter().filter(|shape| shape.is_possible(&lower)) {
            masked = shape.mask(&masked);
        }
        if has_secret_name(&lower) {
            masked = mask_named(&masked);
        }
        masked
    }

    /// Masks every string inside, and all of a field with the name of a secret.
    pub fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(fields) => {
                for (name, field) in fields {
                    let plain = field.is_string() || field.is_number();
                    match plain && is_secret_name(name) {
                        true => *field = Value::String(MASK.to_owned()),
                        false => self.value(field),
                    }
                }
            }
            _ => {}
        }
    }
}

/// A shorter value of a variable is a word like `yes`, and would be masked everywhere.
const SHORTEST_VALUE: usize = 6;
const _: () = assert!(SHORTEST_VALUE >= SHORTEST_SECRET);

/// Whether a variable, an option or a field with this name has a secret as its value.
pub fn is_secret_name(name: &str) -> bool {
    let lower = name.trim_start_matches('-').to_ascii_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let names = |known: &&str| match known.split_once('_') {
        Some((first, second)) => words.windows(2).any(|w| w[0].ends_with(first) && w[1] == second),
        None if known.len() <= 4 => words.contains(known),
        None => words.iter().any(|word| word.ends_with(known)),
    };
    let other = words.last().is_some_and(|last| NO_SECRETS.contains(last));
    let working_directory = ["pwd", "oldpwd"].contains(&lower.as_str());
    !other && !working_directory && (NAMES.iter().any(names) || lower == "authorization")
}

/// Whether a word of a text is the name of a secret. Compiling the pattern takes longer than all else
/// that a hook does, and `path` and `$PWD` are in many commands.
fn has_secret_name(lower: &str) -> bool {
    let names = NAMES.iter().map(|name| name.split('_').next().unwrap_or(name));
    let names: Vec<&str> = names.filter(|name| lower.contains(name)).collect();
    let inside = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let mut words = lower
        .split(|c| !inside(c))
        .filter(|word| names.iter().any(|name| word.contains(name)))
        .map(|word| word.trim_start_matches(|c: char| !c.is_alphabetic()));
    !names.is_empty() && words.any(is_secret_name)
}

fn mask_named(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(found) = NAMED.compiled().captures_at(text, at) {
        let (Some(name), Some(sign), Some(value)) =
            (found.name("n"), found.name("e"), found.name("s"))
        else {
            break;
        };
        // What is not masked may be the name of what follows.
        let (start, end) = match is_given(name.as_str(), sign.as_str(), value.as_str()) {
            true => (value.start(), value.end()),
            false => (sign.end(), sign.end()),
        };
        masked.push_str(&text[at..start]);
        masked.push_str(if start < end { MASK } else { "" });
        at = end;
    }
    masked.push_str(&text[at..]);
    masked
}

/// Whether a secret is written behind its name: after a sign, or for an option as the next word.
fn is_given(name: &str, sign: &str, value: &str) -> bool {
    let signed = sign.contains(['=', ':']);
    let option = name.starts_with('-') && !value.starts_with('-');
    let header = name.to_ascii_lowercase().ends_with("authorization");
    (signed || option) && !header && is_secret_name(name) && !is_variable(value)
}

/// `$TOKEN` is not a secret, but where it comes from.
fn is_variable(value: &str) -> bool {
    let inner = value.trim_matches(['"', '\'', '\\']);
    let name = inner.strip_prefix('$').map(|name| name.trim_matches(['{', '}']));
    let plain = |name: &str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    inner == MASK || name.is_some_and(plain)
}

fn masked_group(found: &Captures<'_>) -> String {
    let whole = found.get(0).expect("a match has its text");
    match found.name("s") {
        None => MASK.to_owned(),
        Some(secret) if is_variable(secret.as_str()) => whole.as_str().to_owned(),
        Some(secret) => {
            let (from, to) = (secret.start() - whole.start(), secret.end() - whole.start());
            format!("{}{MASK}{}", &whole.as_str()[..from], &whole.as_str()[to..])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_its_mark_is_in_lower_case() {
        for shape in SHAPES.iter().chain([&NAMED]) {
            shape.compiled();
            assert!(shape.marks.iter().all(|mark| *mark == mark.to_lowercase()));
        }
    }

    #[test]
    fn names_of_secrets_are_known() {
        for name in [
            "GITHUB_TOKEN",
            "password",
            "--password",
            "api-key",
            "OPENAI_API_KEY",
            "X-Api-Key",
            "AWS_SECRET_ACCESS_KEY",
            "dbPassword",
            "PGPASSWORD",
            "client_secret",
            "Cookie",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "PWD",
            "PATH",
            "SSH_AUTH_SOCK",
            "author",
            "max_tokens",
            "token_file",
            "tokenizer",
            "--password-stdin",
            "key",
            "AWS_ACCESS_KEY_ID",
            "keyboard",
            "secretary",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        let masking = Masking::default();
        for text in [
            "git commit -m 'fix the password prompt'",
            "docker login --password-stdin registry.example",
            "curl -H \"Authorization: Bearer $TOKEN\" https://example.com",
            "echo --token \"$TOKEN\" --password ${PASSWORD}",
            "cat ~/.ssh/id_rsa.pub",
            "kubectl create secret generic shop",
            "ls -u",
            "ssh user@host:path",
        ] {
            assert_eq!(masking.text(text), text);
        }
    }
}

//! Many placeholders per script, over every kind of context nested in each other, with random values:
//! each arrives exactly, and nothing of it runs.

#[allow(dead_code)]
use crate::seeded_random::Dice;
use towpath_shell::ShellText;

/// Shell text for one word or statement, and what it means once the values are in.
struct Made {
    text: String,
    means: String,
}

fn made(text: impl Into<String>, means: impl Into<String>) -> Made {
    Made { text: text.into(), means: means.into() }
}

/// Text that means itself in every quoting used here.
const AFFIXES: &[&str] = &["", "", "a", "é-", "x.", "_9", ":"];

struct Script {
    dice: Dice,
    values: Vec<String>,
}

impl Script {
    fn placeholder(&mut self) -> Made {
        let i = self.dice.below(self.values.len());
        let form = ["{{vN}}", "{{ vN }}"][self.dice.below(2)];
        made(form.replace('N', &i.to_string()), self.values[i].clone())
    }

    fn affix(&mut self) -> &'static str {
        AFFIXES[self.dice.below(AFFIXES.len())]
    }

    /// A placeholder with plain text around it, between two quotes.
    fn quoted(&mut self, open: &str, close: &str) -> Made {
        let (before, placeholder, after) = (self.affix(), self.placeholder(), self.affix());
        made(
            format!("{open}{before}{}{after}{close}", placeholder.text),
            format!("{before}{}{after}", placeholder.means),
        )
    }

    /// Text that is one word.
    fn word(&mut self, depth: usize) -> Made {
        let simple = depth == 0;
        match self.dice.below(if simple { 6 } else { 17 }) {
            0 | 1 => self.quoted("", ""),
            2 => self.quoted("\"", "\""),
            3 => self.quoted("'", "'"),
            4 => self.quoted("$'", "'"),
            5 => {
                let (a, b) = (self.quoted("\"", "\""), self.quoted("'", "'"));
                made(a.text + &b.text, a.means + &b.means)
            }
            6 => self.inside(depth, "\"$(printf '%s.' ", ")\"", "."),
            7 => self.backticks(depth),
            8 => self.inside(depth, "${u:-", "}", ""),
            9 => self.quoted("\"${u:-", "}\""),
            10 => self.inside(depth, "\"${X/X/", "}\"", ""),
            11 => self.inside(depth, "\"$(cat <(printf '%s.' ", "))\"", "."),
            12 => self.inside(depth, "\"$(cat <<<", ".)\"", "."),
            13 => self.inside(depth, "\"$(case x in x) printf '%s.' ", ";; esac)\"", "."),
            14 => self.inside(depth, "\"$(f() { printf '%s.' \"$1\"; }; f ", ")\"", "."),
            15 => self.inside(depth, "\"${u:-\"$(printf '%s.' ", ")\"}\"", "."),
            _ => self.here_doc_word(depth),
        }
    }

    fn inside(&mut self, depth: usize, open: &str, close: &str, added: &str) -> Made {
        let word = self.word(depth - 1);
        made(format!("{open}{}{close}", word.text), word.means + added)
    }

    fn backticks(&mut self, depth: usize) -> Made {
        let word = self.word(depth - 1);
        let body = format!("printf '%s.' {}", word.text).replace('\\', "\\\\").replace('`', "\\`");
        let double = self.dice.below(2) == 0;
        let body = if double { body.replace('"', "\\\"") } else { body };
        made(format!("\"`{body}`\""), word.means + ".")
    }

    fn here_doc_word(&mut self, depth: usize) -> Made {
        let doc = self.here_doc(depth - 1);
        made(format!("\"$(cat {}\nprintf .)\"", doc.text), doc.means + ".")
    }

    /// From the operator to the end line.
    fn here_doc(&mut self, depth: usize) -> Made {
        let placeholder = self.placeholder();
        match self.dice.below(5) {
            0 => made(
                format!("<<EOF\n\"'{}$u\\$x\nEOF", placeholder.text),
                format!("\"'{}$x\n", placeholder.means),
            ),
            1 => made(
                format!("<<'EOF'\n$x`\\{}\\\n\\\\$\nEOF", " ".to_owned() + &placeholder.text),
                format!("$x`\\ {}\\\n\\\\$\n", placeholder.means),
            ),
            2 => made(
                format!("<<-\\E_1\n\t\t{}\tEOF it's\n\tE_1", placeholder.text),
                format!("{}\tEOF it's\n", placeholder.means),
            ),
            3 => {
                let word = self.word(depth);
                made(
                    format!("<<-EOF\n\t{}$(printf '%s.' {})\n\tEOF", placeholder.text, word.text),
                    format!("{}{}.\n", placeholder.means, word.means),
                )
            }
            _ => made(
                format!("<<\"EOF\"\n{}${}\nEOF", placeholder.text, placeholder.text),
                format!("{}${}\n", placeholder.means, placeholder.means),
            ),
        }
    }

    /// A statement that prints what it means, ended by a NUL byte.
    fn statement(&mut self, depth: usize) -> Made {
        if depth > 0 && self.dice.below(4) == 0 {
            return self.wrapped(depth);
        }
        let word = self.word(depth);
        let (w, means) = (word.text, word.means);
        match self.dice.below(16) {
            0 => made(format!("printf '%s\\0' {w}"), means),
            1 => made(format!("x={w}; printf '%s\\0' \"$x\""), means),
            2 => made(format!("for x in {w}; do printf '%s\\0' \"$x\"; done"), means),
            3 => made(format!("a=(1 {w} 3); printf '%s\\0' \"${{a[1]}}\""), means),
            4 => made(format!("case {w} in {w}) printf 'y\\0';; *) printf 'n\\0';; esac"), "y"),
            5 => made(format!("[[ {w} == {w} ]] && printf 'y\\0'"), "y"),
            6 => made(format!("[[ {w} =~ ^{w}$ ]] && printf 'y\\0'"), "y"),
            7 => made(format!("s={w}; printf '%s\\0' \"${{s#{w}}}\""), ""),
            8 => made(format!("s={w}; printf '%s\\0' ${{s%{w}}}."), "."),
            9 => made(format!("f() {{ local x={w}; printf '%s\\0' \"$x\"; }}; f"), means),
            10 => made(format!("export x={w}; printf '%s\\0' \"$x\""), means),
            11 => {
                // No substitution in the key: bash 5.2 corrupts its memory on `<(m["$(…)"]=1)`.
                let word = self.word(0);
                let text = format!("m[k{}]=1; printf '%s\\0' \"${{!m[@]}}\"; m=()", word.text);
                made(text, format!("k{}", word.means))
            }
            12 if !w.contains('\n') => made(format!("printf '%s\\0' \\\n  {w} # {w}"), means),
            13 => made(format!("printf '%s\\0' {w} | cat"), means),
            14 => made(format!("printf '%s\\0' {w} >f; cat <f"), means),
            _ => {
                let doc = self.here_doc(depth);
                made(format!("cat {}\nprintf '\\0'", doc.text), doc.means)
            }
        }
    }

    fn wrapped(&mut self, depth: usize) -> Made {
        let inner = self.statement(depth - 1);
        let (open, close) = [
            ("(", "\n)"),
            ("{ ", "\n}"),
            ("if true; then ", "\nfi"),
            ("while true; do ", "\nbreak; done"),
            ("case x in (x) ", "\n;; esac"),
            ("g() { ", "\n}; g"),
            ("true && { ", "\n}"),
            ("cat <(", "\n)"),
        ][self.dice.below(8)];
        // `((` is refused on purpose.
        let gap = if inner.text.starts_with('(') { " " } else { "" };
        made(format!("{open}{gap}{}{close}", inner.text), inner.means)
    }
}

const STATEMENTS: usize = 25;

/// Statements that the parser understands: what nests too deeply may be refused, but not often.
fn generate(seed: u64) -> (Script, Vec<Made>) {
    let mut dice = Dice(seed);
    let count = 1 + dice.below(4);
    let values = (0..count).map(|_| dice.value()).collect();
    let mut script = Script { dice, values };
    let mut made: Vec<Made> = (0..STATEMENTS).map(|_| script.statement(3)).collect();
    made.retain(|m| ShellText::parse(&joined(std::slice::from_ref(m))).is_ok());
    (script, made)
}

fn joined(statements: &[Made]) -> String {
    let mut text = String::from("X=X; declare -A m\n");
    for made in statements {
        text.push_str(&made.text);
        text.push('\n');
    }
    text
}

/// How many statements were checked.
fn check(seed: u64) -> usize {
    let (script, statements) = generate(seed);
    let text = joined(&statements);
    let Ok(parsed) = ShellText::parse(&text) else { return 0 };
    let filled = parsed
        .fill(&mut |path| Some(script.values[path.as_str()[1..].parse::<usize>().unwrap()].clone()))
        .unwrap();
    let ran = crate::run_filled_text_in_bash::bash(&filled);
    let means: Vec<&[u8]> = statements.iter().map(|m| m.means.as_bytes()).collect();
    let printed: Vec<&[u8]> = ran.stdout.split(|b| *b == 0).collect();
    for (i, (made, printed)) in statements.iter().zip(&printed).enumerate() {
        assert_eq!(
            String::from_utf8_lossy(printed),
            String::from_utf8_lossy(made.means.as_bytes()),
            "seed {seed}, statement {i}: {}\nvalues {:?}\n{}",
            made.text,
            script.values,
            ran.stderr,
        );
    }
    assert_eq!(printed.len(), means.len() + 1, "seed {seed}: {}\n{}", ran.stderr, filled.script);
    assert!(!ran.pwned, "seed {seed}: {:?}\n{}", script.values, filled.script);
    statements.len()
}

#[test]
fn every_value_arrives_exactly() {
    let seeds = crate::seeded_random::scale(120);
    let checked: usize = (0..seeds).map(check).sum();
    let made = STATEMENTS * seeds as usize;
    assert!(checked * 100 >= made * 95, "only {checked} of {made} were understood");
}

/// With values that mean nothing to bash, pasting them is the same as filling.
#[test]
fn a_plain_word_is_the_same_pasted() {
    for seed in 1_000_000..1_000_000 + crate::seeded_random::scale(40) {
        let (_, statements) = generate(seed);
        let text = joined(&statements);
        let Ok(parsed) = ShellText::parse(&text) else { continue };
        let filled = parsed.fill(&mut |_| Some("x".into())).unwrap();
        let mut pasted = String::new();
        let mut at = 0;
        for placeholder in parsed.placeholders() {
            pasted.push_str(&text[at..placeholder.range.start]);
            pasted.push('x');
            at = placeholder.range.end;
        }
        pasted.push_str(&text[at..]);
        let (ours, theirs) = (
            crate::run_filled_text_in_bash::bash(&filled),
            crate::run_filled_text_in_bash::plain(&pasted),
        );
        assert_eq!(
            String::from_utf8_lossy(&ours.stdout),
            String::from_utf8_lossy(&theirs.stdout),
            "seed {seed}\n{text}"
        );
        assert_eq!(ours.code, theirs.code);
    }
}

#[test]
fn large_values_arrive() {
    let value = "x'\"$(touch pwned)\\ \n".repeat(20_000);
    let text =
        "printf '%s\\0' {{v}} \"{{v}}\" '{{v}}'\ncat <<'EOF'\n{{v}}\nEOF\ncat <<EOF\n{{v}}\nEOF";
    let ran = crate::run_filled_text_in_bash::bash(&crate::run_filled_text_in_bash::fill(
        text,
        &[("v", &value)],
    ));
    let expected = format!("{value}\0").repeat(3) + &format!("{value}\n").repeat(2);
    assert!(ran.stdout == expected.as_bytes());
    assert!(!ran.pwned);
}

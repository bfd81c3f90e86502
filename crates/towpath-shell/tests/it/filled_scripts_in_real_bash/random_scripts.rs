//! Random bash scripts with placeholders: `{{v}}` anywhere, `{{n}}` where bash calculates.
//!
//! Everything prints, nothing reads the outside, and no output depends on timing. Among the pieces are
//! many without a placeholder and are easily misread.

use crate::seeded_random::Dice;

pub struct Generator {
    pub dice: Dice,
}

/// Words without a placeholder, each one that some parser has read wrongly.
const TRICKY: &[&str] = &[
    r"$'it\'s'",
    r#"$'\'"\\'"#,
    r#""{\"a\": \"$x\"}""#,
    r#""{\"t\": \"$(echo t)\"}""#,
    r"\'",
    r#"\""#,
    r"\{}",
    r"\;",
    r"\#",
    "'\"'",
    "\"'\"",
    "a#b",
    "${x//\\//_}",
    "\"${x%\\\"}\"",
    "\"${x#\\'}\"",
    "${x:-'}'}",
    "\"${x:-\"}\"}\"",
    "`echo b`",
    "\"`echo \\\"b c\\\"`\"",
    "$(echo ')' \"(\")",
    "$(case x in x) echo c;; (y) ;; esac)",
    "$(echo d # it's )\n)",
    "$((1 + (2 * 3)))",
    "$[1+1]",
    "{a,b}",
    "{1..3}",
    "\"a  b\"",
    "a\\\nb",
    "[a-z]?",
    "''",
    "\"$#\"",
    "$'\\x41\\u00e9'",
    "$\"loc\"",
    "\\\\",
];

const AFFIXES: &[&str] = &["", "", "", "a", ".b", "é", "-", ":"];

impl Generator {
    pub fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.dice.below(from.len())]
    }

    pub fn script(&mut self) -> String {
        let mut text = String::from("x=X s=abcabc a=(p q r)\ndeclare -A m=([k]=v)\n");
        for _ in 0..1 + self.dice.below(3) {
            text.push_str(&self.statement(2));
            text.push('\n');
        }
        text
    }

    fn placeholder(&mut self) -> &'static str {
        self.pick(&["{{v}}", "{{v}}", "{{ v }}"])
    }

    /// A number, mostly one that fits.
    fn number(&mut self) -> &'static str {
        self.pick(&["{{n}}", "{{n}}", "{{n}}", "1", "{{v}}", "{{v}}"])
    }

    fn affixed(&mut self, open: &str, close: &str) -> String {
        let (before, placeholder, after) =
            (self.pick(AFFIXES), self.placeholder(), self.pick(AFFIXES));
        format!("{open}{before}{placeholder}{after}{close}")
    }

    pub fn word(&mut self, depth: usize) -> String {
        let pieces = 1 + self.dice.below(5) / 3;
        (0..pieces).map(|_| self.piece(depth)).collect()
    }

    fn piece(&mut self, depth: usize) -> String {
        if depth == 0 || self.dice.below(3) > 0 {
            return match self.dice.below(9) {
                0 | 1 => self.affixed("", ""),
                2 => self.affixed("\"", "\""),
                3 => self.affixed("'", "'"),
                4 => {
                    let close = self.dice_escape();
                    self.affixed("$'", close)
                }
                5 => self.affixed("\"\\\"$x ", " \\\\\\\"\""),
                _ => self.pick(TRICKY).to_owned(),
            };
        }
        let inner = depth - 1;
        match self.dice.below(22) {
            0 => format!("$({})", self.statement(inner)),
            1 => format!("\"$({}\n)\"", self.statement(inner)),
            2 => format!("\"$(cat <({}\n))\"", self.statement(inner)),
            3 => format!("\"`{}`\"", self.simple_inside_backticks()),
            4 => format!("${{u:-{}}}", self.word(inner)),
            5 => format!("\"${{u:-{}}}\"", self.affixed("", "")),
            6 => format!("\"${{u-\"{}\"}}\"", self.affixed("", "")),
            7 => format!("${{x:+{}}}", self.word(inner)),
            8 => format!("\"${{s#{}}}\"", self.word(0)),
            9 => format!("${{s%%{}}}", self.word(0)),
            10 => format!("\"${{s/b/{}}}\"", self.word(0)),
            11 => format!("\"${{s//{}/z}}\"", self.word(0)),
            12 => format!("\"${{s:{}}}\"", self.number()),
            13 => format!("\"${{s:1:{}}}\"", self.number()),
            14 => format!("\"${{a[{}]}}\"", self.number()),
            15 => format!("\"${{m[{}]}}\"", self.key()),
            16 => format!("$(( {} + 1 ))", self.number()),
            17 => format!("\"$(( ({} * 2) ))\"", self.number()),
            18 => format!("{{c,{}}}", self.affixed("", "")),
            19 => format!("${{s^^}}{}", self.placeholder()),
            20 => format!("\"${{a[*]}}\"{}", self.affixed("\"", "\"")),
            _ => format!("\\\n{}", self.affixed("", "")),
        }
    }

    fn dice_escape(&mut self) -> &'static str {
        self.pick(&["'", "\\t'", "\\'x'", "\\\\'"])
    }

    /// Between backticks one level of backslashes is lost.
    fn simple_inside_backticks(&mut self) -> String {
        match self.dice.below(3) {
            0 => format!("printf '%s.' {}", self.affixed("", "")),
            1 => format!("printf '%s.' {}", self.affixed("'", "'")),
            _ => format!("printf '%s.' {}", self.affixed("\\\"", "\\\"")),
        }
    }

    fn words(&mut self, depth: usize) -> String {
        let count = 1 + self.dice.below(3);
        (0..count).map(|_| self.word(depth)).collect::<Vec<_>>().join(" ")
    }

    pub fn statement(&mut self, depth: usize) -> String {
        if depth > 0 && self.dice.below(3) == 0 {
            return self.compound(depth - 1);
        }
        let inner = depth.saturating_sub(1);
        match self.dice.below(12) {
            0..=2 => format!("printf '%s|' {}", self.words(inner)),
            3 => format!("x={}; printf '%s|' \"$x\"", self.word(inner)),
            4 => self.array(inner),
            5 => self.attribute(inner),
            6 => self.here_doc(inner),
            7 => self.redirection(inner),
            8 => format!("printf '%s|' {} # {{{{v}}}} it's\nx=X", self.word(inner)),
            9 => format!("printf '%s|' \\\n  {}", self.words(inner)),
            10 => self.test(),
            _ => self.builtin(inner),
        }
    }

    /// Without a substitution: bash 5.2 corrupts its memory on `$(m["$(…)"]=1)`.
    fn key(&mut self) -> String {
        match self.dice.below(5) {
            0 => self.affixed("", ""),
            1 => self.affixed("\"", "\""),
            2 => self.affixed("'", "'"),
            _ => self.pick(&["k", r"$'it\'s'", "\"a b\"", "\\'"]).to_owned(),
        }
    }

    fn array(&mut self, depth: usize) -> String {
        let (w, y, n, k) = (self.word(depth), self.word(0), self.number(), self.key());
        let print = "; printf '%s|' \"${!b[@]}\" \"${b[@]}\"; unset b";
        match self.dice.below(10) {
            0 => format!("b=({w} {y}){print}"),
            8 | 9 => {
                let quoted = self.pick(&[r"$'it\'s'", r"$'\''", r#""\"'""#, r"\'"]);
                format!("b=({quoted} [{n}]={w} {quoted}){print}")
            }
            1 => format!("b=({y} [{n}]={w} {y}){print}"),
            2 => format!("b=(1\n  {w} # {{{{v}}}} '\n  [5]={y}\n){print}"),
            3 => format!("b[{n}]={w}{print}"),
            4 => format!("b+=({w}); b+=([{n}]+={y}){print}"),
            5 => format!("declare -a b=({w} {y}){print}"),
            6 => format!("m[{k}]={w}; printf '%s|' \"${{#m[@]}}\" \"${{m[{k}]}}\""),
            _ => format!("declare -A h=([{k}]={w}); printf '%s|' \"${{!h[@]}}\" \"${{h[@]}}\""),
        }
    }

    fn attribute(&mut self, depth: usize) -> String {
        let (w, n) = (self.word(depth), self.number());
        match self.dice.below(12) {
            8 => format!("declare -i \"i\"; for i in {n} 2; do printf '%s|' \"$i\"; done"),
            9 => format!("builtin declare -i i; printf -v i '%s' {n}; printf '%s|' \"$i\""),
            10 => format!("\\declare -i i; unset i; i={w}; printf '%s|' \"$i\""),
            11 => format!("unset u; printf '%s|' \"${{u:={w}}}\" \"$u\"; unset u"),
            0 => format!("declare -i i={n}; i+={n}; printf '%s|' \"$i\""),
            1 => format!("declare -u U={w}; printf '%s|' \"$U\""),
            2 => format!("declare -l L; L={w}; printf '%s|' \"$L\""),
            3 => format!("export e={w}; printf '%s|' \"$e\""),
            4 => format!("(readonly r={w}; printf '%s|' \"$r\")"),
            5 => format!("f() {{ local l={w} k=2; printf '%s|' \"$l$k\"; }}; f"),
            6 => format!("declare -n r=x; printf '%s|' \"$r\" {w}; unset -n r"),
            _ => format!("typeset t={w}; printf '%s|' \"$t\""),
        }
    }

    fn body(&mut self) -> String {
        let mut body = String::new();
        for _ in 0..1 + self.dice.below(3) {
            body.push_str(&match self.dice.below(7) {
                0 => "it's \"$x\" `echo y` \\$ \\\\".to_owned(),
                1 => format!("$(printf '%s.' {})", self.word(0)),
                2 => format!("${{u:-{}}} $(({}+1))", self.affixed("", ""), self.number()),
                3 => "${x%\\\"} ' \" #".to_owned(),
                _ => self.affixed("\"", "' $x"),
            });
            body.push('\n');
        }
        body
    }

    fn here_doc(&mut self, depth: usize) -> String {
        let (body, other) = (self.body(), self.body());
        match self.dice.below(9) {
            0 => format!("cat <<E\n{body}E"),
            1 => format!("cat <<'E-X'\n{body}E-X"),
            2 => format!("cat <<\\E\n{body}E"),
            3 => format!("cat <<-\"a b\"\n\t{body}\ta b"),
            4 => format!("cat <<A; cat <<'B'\n{body}A\n{other}B"),
            5 => format!("cat <<A - <<B\n{body}A\n{other}B"),
            6 => format!("printf '%s|' \"$(cat <<E\n{body}E\n)\""),
            7 => format!("cat <<E; printf '%s|' {}\n{body}E", self.word(0).replace('\n', "")),
            _ => format!("cat <<<{}", self.word(depth)),
        }
    }

    fn redirection(&mut self, depth: usize) -> String {
        let w = self.word(depth);
        let file = self.affixed("f", "");
        match self.dice.below(12) {
            10 => format!("printf '%s|' {w} >& {file}; cat {file}"),
            11 => format!("printf '%s|' {w} 1>&\"{file}\"; cat \"{file}\""),
            0 => format!("printf '%s|' {w} > {file}; cat < {file}"),
            1 => format!("printf '%s|' {w} >> \"{file}\"; cat \"{file}\""),
            2 => format!("printf '%s|' {w} >| g 2> h; cat g"),
            3 => format!("printf '%s|' {w} &> g; cat g"),
            4 => format!("printf '%s|' {w} &>> g; cat g"),
            5 => format!("printf '%s|' {w} 2>&1"),
            6 => format!("exec 4<> g; printf '%s|' {w} >&4; exec 4>&-; cat g"),
            7 => format!("exec {{fd}}> g; printf '%s|' {w} >&$fd; exec {{fd}}>&-; cat g"),
            8 => format!("{{ printf '%s|' {w}; }} 3> {file} >&1"),
            _ => format!("> g printf '%s|' {w}; cat g"),
        }
    }

    fn test(&mut self) -> String {
        let (w, y, n) = (self.word(1), self.word(0), self.number());
        let condition = match self.dice.below(8) {
            0 => format!("[[ {w} == {y} ]]"),
            1 => format!("[[ {w} != {y}* ]]"),
            2 => format!("[[ {w} =~ ^{y}(a|')')?$ ]]"),
            3 => format!("[[ {n} -lt 8 && ! -e {w} ]]"),
            4 => format!("[ {y} = {y} ]"),
            5 => format!("(( {n} > 3 ))"),
            6 => format!("[[ -n {w} || ( {y} < z ) ]]"),
            _ => format!("test -z {y}"),
        };
        format!("{condition}; printf '%s|' $?")
    }

    fn builtin(&mut self, depth: usize) -> String {
        let w = self.word(depth);
        match self.dice.below(9) {
            6 => format!("bash -c {}", self.affixed("'printf \"%s|\" ", " \"$#\"' x y")),
            7 => format!("sh -c \"printf '%s|' {} '{}'\"", self.placeholder(), self.placeholder()),
            8 => format!("${{u:={}}} true; unset u", self.affixed("", "")),
            0 => format!("set -- {w} b; printf '%s|' \"$#\" \"$@\""),
            1 => format!("printf -v y '%s' {w}; printf '%s|' \"$y\""),
            2 => format!("IFS= read -r y <<< {w}; printf '%s|' \"$y\""),
            3 => {
                format!("mapfile -t b < <(printf '%s\\n' {w}); printf '%s|' \"${{b[@]}}\"; unset b")
            }
            4 => format!("y=1 true {w}; printf '%s|' {w} | cat"),
            _ => format!("! true {w} || printf '%s|' {w}"),
        }
    }

    fn compound(&mut self, depth: usize) -> String {
        let (s, t) = (self.statement(depth), self.statement(depth));
        let (w, y, n) = (self.word(0), self.word(0), self.number());
        match self.dice.below(16) {
            0 => format!("if true; then\n{s}\nelse\n{t}\nfi"),
            1 => format!("for y in {w} {y}; do\n{s}\nprintf '%s|' \"$y\"; done"),
            2 => format!("for ((j = 0; j < 2 && j < {n}; j++)); do\n{s}\ndone"),
            3 => format!("while :; do\n{s}\nbreak; done"),
            4 => format!("until false; do {s}\nbreak; done"),
            5 => format!("case {w} in\n  {y}) {s}\n;;\n  ({w} | z) {t}\n;& *)\n:;; esac"),
            6 => format!("f() {{\n{s}\n}}\nf {w}"),
            7 => format!("function g\n(\n{s}\n); g"),
            8 => format!("( {s}\n)"),
            9 => format!("{{ {s}\n}} | cat"),
            10 => format!("{{ {s}\n}} && {{\n{t}\n}} || :"),
            11 => format!("{{ {s}\n}} &\nwait"),
            12 => format!("select y in {w} {y}; do {s}\nbreak; done <<<1 2>/dev/null"),
            13 => format!(
                "coproc {{ read -r _; {s}\n}} 2>/dev/null\nexec 5<&\"${{COPROC[0]}}\" \
                 6>&\"${{COPROC[1]}}\"\necho go >&6; exec 6>&-; cat <&5; exec 5<&-; wait"
            ),
            14 => format!("if !(false); then # {{{{v}}}} `\n{s}\nfi"),
            _ => format!("while read -r y; do\n{s}\ndone < <(printf '%s\\n' {w})"),
        }
    }
}

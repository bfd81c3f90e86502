//! Secrets are masked in every form, spelling and split of a stream.

use super::*;
use proptest::prelude::*;

fn secrets(values: &[&[u8]]) -> Secrets {
    let named = values.iter().enumerate().map(|(n, v)| (format!("S{n}"), v.to_vec()));
    Secrets::new(named.collect()).expect("long enough")
}

fn one(value: &str) -> Secrets {
    secrets(&[value.as_bytes()])
}

#[test]
fn a_secret_that_ends_like_an_escape_is_masked_to_its_end() {
    for value in [r"abcdefgh12\x", r"abcdefgh12\", "abcdefgh12&", "abcdefgh12%", r"abcdefgh12\u"] {
        let mut masker = one(value).masker().expect("a secret");
        let mut out = masker.push(value.as_bytes()).to_vec();
        out.extend_from_slice(masker.finish());
        assert_eq!(String::from_utf8_lossy(&out), MASK, "{value}");
    }
}

#[test]
fn a_secret_is_masked_in_every_common_form() {
    let cases = [
        ("s3cr3t-token", "x s3cr3t-token y", "x *** y"),
        // base64 of the value, of the value and a newline, and after `user:`, `me:` and `usr:`.
        ("s3cr3t-token", "czNjcjN0LXRva2Vu", "***"),
        ("s3cr3t-token", "czNjcjN0LXRva2VuCg==", "***"),
        ("s3cr3t-token", "dXNlcjpzM2NyM3QtdG9rZW4=", "dXNlcjp***4="),
        ("s3cr3t-token", "bWU6czNjcjN0LXRva2Vu", "bWU6***"),
        ("s3cr3t-token", "dXNyOnMzY3IzdC10b2tlbg==", "dXNyOn***=="),
        ("s3cr3t-token", "7333637233742d746f6b656e", "***"),
        ("a/b+c d?e", "https://x/?q=a%2Fb%2Bc%20d%3Fe&z", "https://x/?q=***&z"),
        ("a/b+c d?e", "a%2fb%2bc%20d%3fe", "***"),
        ("a/b+c d?e", "a%2Fb%2Bc+d%3Fe", "***"),
        ("q\"uo\\te", r#"{"k":"q\"uo\\te"}"#, r#"{"k":"***"}"#),
        ("q\"uo\\te", r#"{"k":"{\"k\":\"q\\\"uo\\\\te\"}"}"#, r#"{"k":"{\"k\":\"***\"}"}"#),
        ("a/b<c>d", r"a\/b<c>d", "***"),
        ("a/b<c>d", r"a/b\u003cc\u003ed", "***"),
        ("pässwörd", r"p\u00e4ssw\u00f6rd", "***"),
        ("it's it", r"+ echo 'it'\''s it'", "+ echo '***'"),
        ("a$b \"c\"", r#"declare -x K="a\$b \"c\"""#, r#"declare -x K="***""#),
        ("a$b \"c\"", r#"a\$b\ \"c\""#, "***"),
        ("<a>&\"b\"'c'", "<td>&lt;a&gt;&amp;&quot;b&quot;&#39;c&#39;</td>", "<td>***</td>"),
        (" padded ", "[padded]", "[***]"),
        // Escaped by Go, PHP, .NET, Python, Ruby, JavaScript, Perl; once and twice.
        ("ghp_a1", "&#103;&#104;&#112;&#95;&#97;&#49;", "***"),
        ("ghp_a1", "&#x67;&#x68;&#x70;&#x5f;&#x61;&#x31;", "***"),
        ("ghp_a1", r"\u0067\u0068\u0070\u005f\u0061\u0031", "***"),
        ("ghp_a1", r"\u{67}\u{68}\u{70}\u{5f}\u{61}\u{31}", "***"),
        ("ghp_a1", r"\U00000067\U00000068\U00000070\U0000005f\U00000061\U00000031", "***"),
        ("a<b>&c+d", r"a\u003cb\u003e\u0026c+d", "***"),
        ("ä/b\"c€", r#"\u00e4\/b\"c\u20ac"#, "***"),
        ("ä/b\"c+<", r"\u00E4/b\u0022c\u002B\u003C", "***"),
        ("ä/b\"c+<", r#"x = '\xe4/b\"c+<'"#, "x = '***'"),
        ("ä/b\"c+<", r#"b'\xc3\xa4/b"c+<'"#, "b'***'"),
        ("n\u{e9}e\u{1f600}!", r"n\u00e9e\ud83d\ude00!", "***"),
        ("n\u{e9}e\u{1f600}!", r"n\xe9e\U0001f600!", "***"),
        ("n\u{e9}e\u{1f600}!", r"n\u{e9}e\u{1F600}!", "***"),
        ("n\u{e9}e\u{1f600}!", r"n\x{e9}e\x{1f600}!", "***"),
        ("n\u{e9}e\u{1f600}!", r"n\\u00e9e\\ud83d\\ude00!", "***"),
        ("n\u{e9}e\u{1f600}!", "n&#233;e&#x1F600;!", "***"),
        ("n\u{e9}e\u{1f600}!", "n%C3%A9e%f0%9f%98%80!", "***"),
        ("it's <b>", "it&#039;s &lt;b&gt;", "***"),
        ("it's <b>", "it&apos;s &#60;b&#62;", "***"),
        ("it's <b>", "it&amp;#39;s &amp;lt;b&amp;gt;", "***"),
        ("it's <b>", r#"'it'"'"'s <b>'"#, "'***'"),
        ("it's <b>", "it%2527s%2520%253Cb%253E", "***"),
        ("a\tb\nc'd", r"'a'$'\t''b'$'\n''c'\''d'", "'***'"),
        ("s3cr3t-token", r"\x73\x33\x63\x72\x33\x74\x2d\x74\x6f\x6b\x65\x6e", "***"),
        ("s3cr3t-token", "%73%33%63%72%33%74%2D%74%6F%6B%65%6E", "***"),
        ("s3cr3t-token", "73:33:63:72:33:74:2D:74:6F:6B:65:6E", "***"),
        (
            "s3cr3t-token",
            "{0x73, 0x33, 0x63, 0x72, 0x33, 0x74,\n  0x2d, 0x74, 0x6f, 0x6b, 0x65, 0x6e}",
            "{0x***}",
        ),
        ("s3cr3t-token", "0000: 7333 6372 3374 2d74 6f6b 656e  s3cr3t-token", "0000: ***  ***"),
        // base64 in JSON, with the line breaks of its program; `+` and `/` of PHP, .NET and a URL.
        ("s3cr3t-token", r#"{"data":"czNjcjN0\nLXRva2Vu\n"}"#, r#"{"data":"***\n"}"#),
        ("s3cr3t-token", "data: |\n    czNjcjN0\n    LXRva2Vu\n", "data: |\n    ***\n"),
        ("~~~???>>>ab", r"fn5+Pz8\/Pj4+YWI=", "***"),
        ("~~~???>>>ab", r"fn5\u002BPz8/Pj4\u002bYWI=", "***"),
        ("~~~???>>>ab", "fn5%2BPz8%2FPj4%2BYWI%3D", "***"),
        ("~~~???>>>ab", "fn5-Pz8_Pj4-YWI", "***"),
        // Broken by `fold`, at a blank by `fmt`, and continued by the shell.
        ("correct horse battery", "correct ho\nrse battery", "***"),
        ("correct horse battery", "correct horse\n  battery", "***"),
        ("correct horse battery", "correct hor\\\nse battery", "***"),
        ("first line\nsecond one\nx", "    first line\r\n    second one\r\n    x", "    ***"),
        ("first line\nsecond one\nx", "no\n  second one!\n", "no\n  ***!\n"),
        ("first line\nsecond one\nx", "first line\nsecond one\nx", "***"),
        ("first line\nsecond one\nx", r"first line\nsecond one\nx", "***"),
    ];
    for (value, text, masked) in cases {
        assert_eq!(one(value).mask(text), masked, "{value:?} in {text:?}");
        assert_eq!(one(value).found_in(text.as_bytes()), Some("S0"), "{value:?} in {text:?}");
    }
}

#[test]
fn base64_with_broken_lines_is_masked() {
    // `seq 20 | base64` of GNU, whose lines have 76 characters.
    let value: String = (1..=40).map(|n| format!("{n},")).collect();
    let wrapped = "MSwyLDMsNCw1LDYsNyw4LDksMTAsMTEsMTIsMTMsMTQsMTUsMTYsMTcsMTgsMTksMjAsMjEsMjIs\n\
                   MjMsMjQsMjUsMjYsMjcsMjgsMjksMzAsMzEsMzIsMzMsMzQsMzUsMzYsMzcsMzgsMzksNDAs\n";
    assert_eq!(one(&value).mask(wrapped), "***\n");
    let indented = wrapped.replace('\n', "\n  ");
    assert_eq!(one(&value).mask(&indented), "***\n  ");
    let last = wrapped.lines().last().expect("a line");
    assert_eq!(one(&value).mask(last), "***", "the last line alone");
}

#[test]
fn overlapping_secrets_are_one_mask() {
    let both = secrets(&[b"abcd", b"abcdefgh", b"cdefghijkl"]);
    assert_eq!(both.mask("abcde"), "***e");
    assert_eq!(both.mask("abcdefgh"), "***");
    assert_eq!(both.mask("abcdefghijkl"), "***");
    assert_eq!(both.mask("aabcdd"), "a***d");
}

#[test]
fn a_long_beginning_at_the_end_was_interrupted_and_is_masked() {
    let secrets = one("production-key");
    assert_eq!(secrets.mask("prod"), "prod");
    assert_eq!(secrets.mask("production-"), "***");
    assert_eq!(secrets.mask("production-line"), "production-line");
}

#[test]
fn what_was_flushed_is_not_given_twice_and_its_rest_is_masked() {
    let mut masker = one("topsecret").masker().expect("a secret");
    assert_eq!(masker.push(b"a top"), b"a ");
    assert_eq!(masker.flush(), b"top");
    assert_eq!(masker.flush(), b"");
    assert_eq!(masker.push(b"secret z"), b"*** z");
    assert_eq!(masker.push(b"top"), b"");
    assert_eq!(masker.flush(), b"top");
    assert_eq!(masker.push(b"-hats"), b"-hats");
    assert_eq!(masker.push(b"topsecre"), b"");
    assert_eq!(masker.flush(), b"***");
    assert_eq!(masker.push(b"t!"), b"!", "the rest of what is masked already");
    assert_eq!(masker.finish(), b"");
}

#[test]
fn bytes_that_are_no_text_are_masked() {
    let secrets = secrets(&[b"\xff\xfe\x00\x01key"]);
    assert_eq!(*secrets.mask_bytes(b"<\xff\xfe\x00\x01key>"), *b"<***>");
}

#[test]
fn what_is_too_short_is_refused_and_no_secret_costs_nothing() {
    for value in ["", "abc", " abc\n"] {
        let refused = Secrets::new(vec![("PIN".into(), value.into())]);
        assert_eq!(refused.err(), Some(TooShort { name: "PIN".into() }), "{value:?}");
    }
    let none = Secrets::new(Vec::new()).expect("nothing to refuse");
    assert!(none.is_empty() && none.masker().is_none());
    assert!(matches!(none.mask("text"), Cow::Borrowed("text")));
}

#[test]
fn a_secret_is_not_in_what_is_printed_for_debugging() {
    let secrets = one("s3cr3t-token");
    let printed = format!("{secrets:?} {:?}", secrets.masker());
    assert!(printed.contains("S0") && !printed.contains("s3cr3t"), "{printed}");
}

#[test]
fn strings_in_a_value_are_masked_wherever_they_are() {
    let mut value = serde_json::json!({"s3cr3t": ["a s3cr3t", {"b": "s3cr3t"}, 7]});
    one("s3cr3t").mask_value(&mut value);
    assert_eq!(value, serde_json::json!({"s3cr3t": ["a ***", {"b": "***"}, 7]}));
}

/// 93 characters of every kind that tokens have.
const TOKEN: &str =
    "Zq7_Xw4-Kv9.Bm2~Jt8Yp3Lr6Hn5Gd1Fs0CkQe+Ui/Oa=Nz7Wx4Vy9Tb2Ru8Ps3Mq6Lk5Jh1Gf0Dd_Sa-Zx4Cv9Bn2E";

fn printed(script: &str, value: &str, locale: &str) -> Vec<u8> {
    let mut bash = std::process::Command::new("bash");
    bash.args(["-c", script]).env("T", value).env("LC_ALL", locale);
    let output = bash.output().expect("bash starts");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{script}: {errors}");
    [output.stdout, output.stderr].concat()
}

#[test]
fn encodings_are_masked_at_any_width_behind_anything() {
    let secrets = one(TOKEN);
    let before = ["", "u", "us", "user:", "x-access-token:"];
    let widths = (1..=8).chain([19, 60, 64, 75, 76, 77, 124, 125, 300]);
    let whole: Vec<Vec<u8>> = before
        .iter()
        .map(|b| printed(&format!("printf '{b}%s' \"$T\" | base64 -w 0"), TOKEN, "C"))
        .collect();
    for width in widths {
        for (before, encoded) in before.iter().zip(&whole) {
            for end in [&b"\n"[..], b"\r\n", b"\n      ", b"\\n"] {
                let lines: Vec<&[u8]> = encoded.chunks(width).collect();
                let masked = secrets.mask_bytes(&lines.join(end)).into_owned();
                let left = masked.iter().filter(|b| b.is_ascii_alphanumeric()).count();
                // The characters of `before`, and two that the value shares with its neighbours.
                let allowed = (before.len() * 8).div_ceil(6)
                    + 2
                    + masked.windows(2).filter(|w| w == b"\\n").count();
                assert!(left <= allowed, "{width} {before}: {}", String::from_utf8_lossy(&masked));
            }
        }
        let hexadecimal = printed(r#"printf %s "$T" | od -An -v -tx1 | tr -d ' \n'"#, TOKEN, "C");
        let lines: Vec<&[u8]> = hexadecimal.chunks(width).collect();
        assert_eq!(*secrets.mask_bytes(&lines.join(&b'\n')), *b"***", "{width}");
    }
    for script in ["base64", "base64 -w 7", "od -An -v -tx1", "od -An -v -w5 -tx1"] {
        let masked = secrets
            .mask_bytes(&printed(&format!("printf '%s' \"$T\" | {script}"), TOKEN, "C"))
            .into_owned();
        assert_eq!(masked.trim_ascii(), b"***", "{script}");
    }
}

#[test]
fn what_bash_writes_is_masked() {
    let values = [
        "it's Zq7Xw4 \"Kv9Bm2\" $Jt8Yp3 `Lr6Hn5` \\Gd1Fs0!",
        "Zq7Xw4\nKv9Bm2\tJt8Yp3\r\u{1b}[0mLr6Hn5\u{7}",
        "pässwörd-Zq7Xw4-€-Kv9Bm2-\u{1f600}",
        "Zq7\u{e4}\n'Xw4\"Kv9\\Bm2",
        "'Zq7Xw4Kv9'",
        "$(Zq7Xw4) & <Kv9Bm2> | ~Jt8 #Lr6 *?[!]{a,b}",
    ];
    let scripts = [
        r#"printf '%q\n' "$T""#,
        r#"printf '%s\n' "${T@Q}""#,
        r#"declare -p T"#,
        r#"export -p | grep -A9 ' T='"#,
        r#"set -x; : "$T""#,
        r#"set -x; x=$T"#,
        r#"set -x; [[ $T == "$T" ]]"#,
        r#"x=("$T" 1); declare -p x"#,
        r#"f() { declare -p T; }; T=$T f"#,
        r#"alias a="$T"; alias"#,
        r#"trap -- "$T" USR1; trap"#,
    ];
    for value in values {
        let secrets = one(value);
        for locale in ["C", "C.UTF-8"] {
            for script in scripts {
                let text = printed(script, value, locale);
                let masked = secrets.mask_bytes(&text).into_owned();
                let masked = String::from_utf8_lossy(&masked);
                let leaks =
                    ["Zq7", "Xw4", "Kv9", "Bm2", "Jt8", "Lr6"].iter().any(|w| masked.contains(w));
                assert!(!leaks && masked.contains(MASK), "{locale} {script}: {masked}");
            }
        }
    }
}

#[test]
fn ordinary_text_stays_as_it_is() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    let values = [TOKEN, "ghp_16C7e42F292c6912E7710c838347Ae178B4a", "hunter2!", "1729", "0xdead"];
    let values: Vec<&[u8]> = values.iter().map(|v| v.as_bytes()).collect();
    let secrets = secrets(&values);
    for entry in std::fs::read_dir(docs).expect("the documents") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|e| e == "md") {
            let text = std::fs::read_to_string(&path).expect("a text");
            assert_eq!(secrets.mask(&text), text, "{}", path.display());
        }
    }
    let counted: String = (0..3000).map(|n| format!("{n}\n")).collect();
    assert_eq!(one("1234").mask("1\n2\n3\n4\n"), "1\n2\n3\n4\n");
    assert_eq!(secrets.mask(&counted), counted.replace("1729", MASK));
}

#[test]
fn whatever_comes_little_is_kept_back() {
    let secrets = one(TOKEN);
    let stem = &TOKEN[..TOKEN.len() - 1];
    for piece in [
        stem, "Z", "Z\n", "Zq\n\n", "Z\\", "\\", "Z%25", "&amp;", "Z&amp;", "Z' ", "Z\n    ",
        "\\u00",
    ] {
        let mut masker = secrets.masker().expect("a secret");
        let text = piece.repeat(200_000 / piece.len());
        let (mut given, mut most) = (0, 0);
        for (at, part) in text.as_bytes().chunks(1000).enumerate() {
            given += masker.push(part).len();
            most = most.max((at * 1000 + part.len()).saturating_sub(given));
        }
        given += masker.finish().len();
        assert!(most <= TOKEN.len() * 81, "{most} bytes are kept of {piece:?}");
        assert!(given + TOKEN.len() >= text.len(), "{given} of {} bytes of {piece:?}", text.len());
    }
}

#[test]
fn a_line_is_shown_when_its_writer_pauses() {
    let mut masker = one("secret-token").masker().expect("a secret");
    assert_eq!(masker.push(b"listening on ports\n"), b"listening on port");
    assert_eq!(masker.pause(), b"s\n");
    assert_eq!(masker.push(b"se"), b"");
    assert_eq!(masker.pause(), b"", "the beginning of a secret");
    assert_eq!(masker.push(b"cret-token"), b"***");
}

/// A character of a secret as one of the many programs writes it.
fn spelled(letter: char, how: usize) -> String {
    let bytes = letter.to_string().into_bytes();
    let each = |format: &dyn Fn(u8) -> String| bytes.iter().map(|b| format(*b)).collect::<String>();
    match how % 8 {
        0 => each(&|b| format!("%{b:02X}")),
        1 => each(&|b| format!("\\x{b:02x}")),
        2 => each(&|b| format!("\\{b:03o}")),
        3 if !letter.is_ascii_alphanumeric() => {
            letter.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04X}")).collect()
        }
        4 if !letter.is_ascii_alphanumeric() => format!("&#{};", u32::from(letter)),
        5 if !letter.is_alphanumeric() => format!("\\\\\\{letter}"),
        6 => format!("\n  {letter}"),
        _ => letter.to_string(),
    }
}

/// Few letters, so that beginnings, overlaps and whole secrets are frequent.
fn letters(length: std::ops::Range<usize>) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(&b"ab\n\"%"[..]), length)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_split_masks_as_the_whole(
        values in prop::collection::vec(letters(4..14), 1..4),
        parts in prop::collection::vec((letters(0..30), any::<prop::sample::Index>(), any::<bool>()), 0..8),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        prop_assume!(values.iter().all(|v| v.trim_ascii().len() >= SHORTEST_SECRET));
        let values: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
        let secrets = secrets(&values);
        let mut text = Vec::new();
        for (between, which, put) in parts {
            text.extend(between);
            if put {
                text.extend_from_slice(values[which.index(values.len())]);
            }
        }
        let mut cuts: Vec<usize> = cuts.iter().map(|c| c.index(text.len() + 1)).collect();
        cuts.extend([0, text.len()]);
        cuts.sort_unstable();
        let mut masker = secrets.masker().expect("there are secrets");
        let mut pieces = Vec::new();
        for pair in cuts.windows(2) {
            pieces.extend_from_slice(masker.push(&text[pair[0]..pair[1]]));
        }
        pieces.extend_from_slice(masker.finish());
        prop_assert_eq!(&pieces[..], &*secrets.mask_bytes(&text));
    }

    #[test]
    fn no_value_survives_however_it_is_cut_and_flushed(
        value in "[a-z]{9,20}",
        before in "[a-z ]{0,9}",
        after in "[a-z ]{0,9}",
        cuts in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..12),
    ) {
        let text = format!("{before}{value}{after}").into_bytes();
        let mut cuts: Vec<(usize, bool)> =
            cuts.iter().map(|(c, flush)| (c.index(text.len() + 1), *flush)).collect();
        cuts.extend([(0, false), (text.len(), false)]);
        cuts.sort_unstable();
        let mut masker = one(&value).masker().expect("a secret");
        let mut out = Vec::new();
        for pair in cuts.windows(2) {
            out.extend_from_slice(masker.push(&text[pair[0].0..pair[1].0]));
            if pair[1].1 {
                out.extend_from_slice(masker.flush());
            }
        }
        out.extend_from_slice(masker.finish());
        let out = String::from_utf8(out).expect("text");
        prop_assert!(!out.contains(&value), "{}", out);
        prop_assert!(out.contains(MASK), "{}", out);
    }

    #[test]
    fn any_mixture_of_spellings_is_masked(
        value in "[a-zA-Z0-9'\"/<&% äß€😀_-]{8,30}",
        how in prop::collection::vec(any::<usize>(), 30),
        cut in any::<prop::sample::Index>(),
    ) {
        prop_assume!(value.trim() == value);
        let first = value.chars().next().expect("a character");
        let rest = value.chars().skip(1).zip(&how).map(|(letter, how)| spelled(letter, *how));
        let text = format!("<<{first}{}>>", rest.collect::<String>());
        let mut masker = one(&value).masker().expect("a secret");
        let (before, after) = text.as_bytes().split_at(cut.index(text.len()));
        let mut out = masker.push(before).to_vec();
        out.extend_from_slice(masker.push(after));
        out.extend_from_slice(masker.finish());
        let out = String::from_utf8(out).expect("text");
        prop_assert!(out.len() <= 10 && out.contains(MASK), "{:?} as {:?}: {:?}", value, text, out);
    }
}

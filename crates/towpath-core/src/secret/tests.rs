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
    assert_eq!(one(&value).mask(&indented), "***\n  ***\n  ");
}

#[test]
fn the_leftmost_and_then_the_longest_is_taken() {
    let both = secrets(&[b"abcd", b"abcdefgh", b"cdefghijkl"]);
    assert_eq!(both.mask("abcde"), "***e");
    assert_eq!(both.mask("abcdefgh"), "***");
    assert_eq!(both.mask("abcdefghijkl"), "***ijkl");
    assert_eq!(both.mask("aabcdd"), "a***d");
}

#[test]
fn a_long_beginning_at_the_end_was_cut_off_and_is_masked() {
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
    assert_eq!(masker.push(b"t!"), b"***!");
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

/// Masked the slow way: at each place the longest form, and a telling beginning at the end.
fn slowly(known: &Known, text: &[u8]) -> Vec<u8> {
    let (mut out, mut at) = (Vec::new(), 0);
    while at < text.len() {
        let rest = &text[at..];
        let length = match known.forms.whole(rest) {
            _ if rest.len() >= 8 && known.forms.open(rest) => rest.len(),
            Some(form) => form.bytes.len(),
            None => 0,
        };
        match length {
            0 => out.push(text[at]),
            _ => out.extend_from_slice(MASK.as_bytes()),
        }
        at += length.max(1);
    }
    out
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
        let known = secrets.known.as_ref().expect("there are secrets");
        prop_assert_eq!(&pieces, &slowly(known, &text));
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
}

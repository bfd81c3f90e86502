//! The condition language as its users meet it: every row of the case file, the exact words of
//! refusals with their locations, and texts made to exhaust a reader.

use serde_json::{Value, json};
use std::ops::Range;
use towpath_core::Map;
use towpath_recipe::condition::{Condition, ConditionError, truthy};

fn scope(value: Value) -> Map {
    match value {
        Value::Object(map) => map,
        other => panic!("a scope is a map: {other}"),
    }
}

fn value_of(text: &str, context: Value) -> Value {
    Condition::parse(text).unwrap().value(&scope(context)).unwrap()
}

mod cases {
    use super::*;

    const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cases/conditions.jsonl");

    fn text_of_row(row: &Value) -> String {
        if let Some(text) = row["expr"].as_str() {
            return text.to_owned();
        }
        let made = &row["expr_gen"];
        let piece = |name: &str| made[name].as_str().unwrap();
        let count = made["n"].as_u64().unwrap() as usize;
        piece("prefix").repeat(count) + piece("core") + &piece("suffix").repeat(count)
    }

    /// What happened, in the words of the case file.
    fn outcome(text: &str, context: &Map) -> (Value, &'static str) {
        let Ok(condition) = Condition::parse(text) else { return (json!("error"), "load") };
        match condition.is_true(context) {
            Ok(is_true) => (json!(is_true), ""),
            Err(_) => (json!("error"), "run"),
        }
    }

    /// Numbers compare as numbers: `2` is `2.0`.
    fn alike(a: &Value, b: &Value) -> bool {
        match (a, b) {
            (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
            (Value::Array(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b))
            }
            _ => a == b,
        }
    }

    fn problem(row: &Value) -> Option<String> {
        let text = text_of_row(row);
        let context = scope(row["context"].clone());
        if let Some(expected) = row.get("expect_value") {
            let found = Condition::parse(&text).map(|condition| condition.value(&context));
            return match &found {
                Ok(Ok(value)) if alike(value, expected) => None,
                _ => Some(format!("expected {expected}, found {found:?}")),
            };
        }
        let (found, when) = outcome(&text, &context);
        let expected = &row["expect"];
        let met = match expected.as_str() {
            Some("error-or-true") => found == json!("error") || found == json!(true),
            Some("error") => found == json!("error") && row["when"] == json!(when),
            _ => found == *expected,
        };
        (!met).then(|| format!("expected {expected}, found {found} {when}"))
    }

    #[test]
    fn every_row_is_right() {
        let text = std::fs::read_to_string(CASES).unwrap();
        let rows: Vec<Value> =
            text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(rows.len() > 200, "only {} rows", rows.len());
        let problems: Vec<String> = rows
            .iter()
            .filter_map(|row| {
                problem(row).map(|text| format!("{} {}: {text}", row["id"], row["why"]))
            })
            .collect();
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }
}

mod words {
    use super::*;

    /// The bytes above the carets.
    fn marked(carets: &str) -> Range<usize> {
        carets.find('^').unwrap_or(carets.len())..carets.len()
    }

    #[test]
    fn a_refusal_shows_the_location_and_what_to_write() {
        let functions = "the functions are int, float, str, bool, len, min, max";
        let rows = [
            ("a = 1", "  ^", "`=` does not compare", "write `==`"),
            ("a === 1", "  ^^^", "`===` is not an operator", "write `==`"),
            ("!a.b and c", "^", "`!` is not an operator", "write `not a.b`"),
            ("a & b", "  ^", "`&` is not an operator", "write `and`"),
            ("a AND b", "  ^^^", "an operator is expected here, not `AND`", "write `and`"),
            ("(a OR b)", "   ^^", "an operator is expected here, not `OR`", "write `or`"),
            ("NOT a", "^^^", "`NOT` is not an operator", "write `not`"),
            (
                "when a == b",
                "^^^^",
                "`when` is not an operator",
                "leave it out: a condition is the expression alone",
            ),
            ("unless a", "^^^^^^", "`unless` is not an operator", "write `not (…)`"),
            ("a is b", "  ^^", "an operator is expected here, not `is`", "write `==`"),
            ("a is not b", "  ^^", "an operator is expected here, not `is`", "write `!=`"),
            ("a not b", "  ^^^", "`not` cannot follow a value", "write `not in`"),
            ("lenn(a)", "^^^^", "there is no function `lenn`", "did you mean `len`?"),
            ("Len(a)", "^^^", "there is no function `Len`", "did you mean `len`?"),
            ("eval(a)", "^^^^", "there is no function `eval`", functions),
            (
                "strip(a)",
                "^^^^^",
                "there is no function `strip`",
                "`strip` is a method: write `value.strip(…)`",
            ),
            ("a.stirp()", "  ^^^^^", "there is no method `stirp`", "did you mean `strip`?"),
            ("a.b.len()", "    ^^^", "there is no method `len`", "write `len(a.b)`"),
            ("a.int()", "  ^^^", "there is no method `int`", "`int` is a function: write `int(a)`"),
            (
                "a.contains('x')",
                "  ^^^^^^^^",
                "there is no method `contains`",
                "write `'part' in a`",
            ),
            ("x.strip().lower == ''", "          ^^^^^", "`lower` is a method", "write `lower()`"),
            (
                "3 > 2 > 5",
                "      ^",
                "a comparison cannot be compared again",
                "write `3 > 2 and 2 > …`",
            ),
            (
                "a + 1",
                "  ^",
                "conditions do no arithmetic",
                "compute it in an earlier step and compare its output",
            ),
            (
                "a -1",
                "  ^^",
                "conditions do no arithmetic",
                "compute it in an earlier step and compare its output",
            ),
            (
                "a == 1e5",
                "     ^^^",
                "`1e5` is not a number",
                "numbers are written like `42`, `3.14` or `-7`",
            ),
            ("5.strip()", "^^^^^^^", "`5.strip` is not a number", "only strings have methods"),
            (
                "a == .5",
                "     ^",
                "a value is expected after `==`, not `.`",
                "numbers are written like `0.5`",
            ),
            (
                "a == not b",
                "     ^^^",
                "a value is expected after `==`, not `not`",
                "put it in parentheses: `(not …)`",
            ),
            (
                "true garbage",
                "     ^^^^^^^",
                "an operator is expected here, not `garbage`",
                "join conditions with `and` or `or`",
            ),
            ("${a} == 1", "^", "a variable has no `$` here", "write `a`"),
            (
                "a__b",
                " ^^",
                "`__` is not allowed in a condition",
                "a name with two underscores in a row cannot be read here: rename it",
            ),
            (
                "{{ a.b }} == 1",
                "^^^^^^^^^",
                "a condition has no `{{…}}` placeholders: it reads variables by their bare names",
                "write `a.b`",
            ),
            (
                "'x' in '{{a}}'",
                "        ^^^^^",
                "a condition has no `{{…}}` placeholders: it reads variables by their bare names",
                "write `a`, without braces and quotes",
            ),
            (
                r"a.replace('\', '/') == 'b'",
                "                ^",
                "conditions do no arithmetic",
                r"`\'` is a quote inside the string; a backslash is written `\\`",
            ),
        ];
        for (text, carets, message, help) in rows {
            let expected = ConditionError {
                range: marked(carets),
                message: message.to_owned(),
                help: Some(help.to_owned()),
            };
            assert_eq!(Condition::parse(text), Err(expected), "{text}");
        }
    }

    #[test]
    fn a_refusal_without_advice_still_shows_the_location() {
        for (text, carets, message) in [
            ("a ==   ", "    ", "a value is expected after `==`, not the end"),
            ("== 1", "^^", "a condition begins with a value, not `==`"),
            ("()", " ^", "a value is expected after `(`, not `)`"),
            ("true or (a", "        ^", "this `(` is never closed"),
            ("[a, 'b'", "^", "this `[` is never closed"),
            ("true)", "    ^", "this `)` closes nothing"),
            ("a[0)", "   ^", "`]` is expected here, not `)`"),
            ("len(a,)", "      ^", "a value is expected after `,`, not `)`"),
            ("'a' == 'bc", "       ^^^", "this string is never closed with `'`"),
            ("a.", " ^", "a name is missing after this dot"),
            ("a == 'x'.", "        ^", "a name is missing after this dot"),
            ("a @ 1", "  ^", "`@` has no meaning in a condition"),
            ("not min(a)", "    ^^^^^^", "`min` takes at least 2 arguments, not 1"),
            ("len() == 0", "^^^^^", "`len` takes 1 argument, not 0"),
            ("a.strip(b) == c", "  ^^^^^^^^", "`strip` takes no arguments, not 1"),
            ("a.split(b, c)", "  ^^^^^^^^^^^", "`split` takes at most 1 argument, not 2"),
            ("a.replace(b)", "  ^^^^^^^^^^", "`replace` takes 2 arguments, not 1"),
            ("'a'(1)", "   ^", "this cannot be called"),
        ] {
            let expected =
                ConditionError { range: marked(carets), message: message.to_owned(), help: None };
            assert_eq!(Condition::parse(text), Err(expected), "{text}");
        }
    }

    #[test]
    fn a_failure_at_run_time_names_the_culprit() {
        let context = json!({"count": 5, "items": ["a"], "name": "x", "big": 1e300});
        for (text, carets, message) in [
            (
                "1 < 2 and count.strip()",
                "          ^^^^^",
                "`strip` needs a string, but `count` is a number: write `str(count)`",
            ),
            (
                "gone.lower()",
                "^^^^",
                "`lower` needs a string, but `gone` is null (not set): test it first, as in `gone and …`",
            ),
            ("items.count('a')", "^^^^^", "`count` needs a string, but `items` is a list"),
            (
                "name.startswith(gone)",
                "                ^^^^",
                "`startswith` needs a string, but `gone` is null (not set): test it first, as in `gone and …`",
            ),
            (
                "name.strip().find(count)",
                "                  ^^^^^",
                "`find` needs a string, but `count` is a number: write `str(count)`",
            ),
            ("', '.join(name)", "          ^^^^", "`join` needs a list, but `name` is a string"),
            ("int('abc') == 0", "    ^^^^^", "`int` cannot read `abc` as an integer"),
            ("int('3.9')", "    ^^^^^", "`int` cannot read `3.9` as an integer"),
            ("int(big)", "    ^^^", "`int` has 64 bits: `1e+300` does not fit"),
            ("float(name)", "      ^^^^", "`float` cannot read `x` as a number"),
            ("float('inf')", "      ^^^^^", "`float` cannot read `inf` as a number"),
            ("name.split('')", "           ^^", "`split` needs a separator that is not empty"),
        ] {
            let found = Condition::parse(text).unwrap().value(&scope(context.clone()));
            let error = found.expect_err(text);
            assert_eq!((error.range, error.message.as_str()), (marked(carets), message), "{text}");
        }
    }

    #[test]
    fn ranges_count_bytes() {
        let error = Condition::parse("naïve == 'é' ☃").unwrap_err();
        assert_eq!(error.range, 15..18);
        assert_eq!(error.message, "`☃` has no meaning in a condition");
    }
}

mod meaning {
    use super::*;

    #[test]
    fn and_and_or_give_the_operand_that_decided() {
        let context = json!({"a": "", "b": "x", "n": 0});
        for (text, expected) in [
            ("a or b", json!("x")),
            ("b or a", json!("x")),
            ("a or n", json!(0)),
            ("b and n", json!(0)),
            ("a and b", json!("")),
            ("not b", json!(false)),
            ("not not b", json!(true)),
            ("(gone or 'main') == 'main'", json!(true)),
        ] {
            assert_eq!(value_of(text, context.clone()), expected, "{text}");
        }
    }

    #[test]
    fn numbers_from_the_context_keep_their_text_and_are_exact() {
        let context = r#"{"big": 9007199254740993, "less": 9007199254740992, "v": 1.10,
            "huge": 123456789012345678901234567890}"#;
        let context: Value = serde_json::from_str(context).unwrap();
        for (text, expected) in [
            ("big == less", json!(false)),
            ("big > less", json!(true)),
            ("big == '9007199254740992'", json!(false)),
            ("big == 9007199254740992", json!(true)),
            ("huge > big", json!(true)),
            ("str(huge)", json!("123456789012345678901234567890")),
            ("str(v)", json!("1.10")),
            ("v == 1.1", json!(true)),
            ("[big] == [less]", json!(false)),
            ("str(len('abc'))", json!("3")),
            ("str(float(3))", json!("3.0")),
        ] {
            assert_eq!(value_of(text, context.clone()), expected, "{text}");
        }
    }

    #[test]
    fn mixes_compare_by_their_text_and_null_only_with_null() {
        let context = json!({"l": [1, "a"], "m": {"b": 1, "a": 2}, "n": {"a": 2.0, "b": 1},
            "nul": null});
        for (text, expected) in [
            ("l == '[1,\"a\"]'", true),
            ("m == '{\"b\":1,\"a\":2}'", true),
            ("m == n", true),
            ("['1'] == [1]", false),
            ("[1] == [1.0]", true),
            ("[] == ''", false),
            ("nul == gone", true),
            ("nul == 'null'", false),
            ("nul == false", false),
            ("false == 0", false),
            ("'+5' == 5", false),
            ("'5 ' == 5", false),
            ("'1e1' == 10", true),
            ("'inf' > 5 or 'inf' < 5", false),
        ] {
            assert_eq!(value_of(text, context.clone()), json!(expected), "{text}");
        }
    }

    #[test]
    fn what_is_not_set_is_in_no_text() {
        let context = json!({"text": "code 200 true", "code": 200, "list": [null]});
        for (text, expected) in [
            ("gone in text", false),
            ("gone not in text", true),
            ("gone in list", true),
            ("code in text", true),
            ("true in text", true),
            ("list in text", false),
        ] {
            assert_eq!(value_of(text, context.clone()), json!(expected), "{text}");
        }
    }

    #[test]
    fn paths_indexes_and_keys() {
        let context = json!({
            "a": {"b": [10, {"c": "x"}], "in": 1, "k-1": 2, "strip": 3},
            "a.z": 9, "my-var": "v", "naïve": 1, "key": "b", "not-ready": true,
        });
        for (text, expected) in [
            ("a.b.1.c", json!("x")),
            ("a . b [1] . c", json!("x")),
            ("a.b[1]['c']", json!("x")),
            ("a[key][0]", json!(10)),
            ("(a).b['0']", json!(10)),
            ("a.b[2]", json!(null)),
            ("a.b[float(-1)]", json!(null)),
            ("a.b[float(0.5)]", json!(null)),
            ("a[0]", json!(null)),
            ("a.z", json!(9)),
            ("(a).z", json!(null)),
            ("a.in", json!(1)),
            ("a.k-1", json!(2)),
            ("a.strip", json!(3)),
            ("my-var", json!("v")),
            ("naïve", json!(1)),
            ("not not-ready", json!(false)),
            ("'a,b'.split(',')[1]", json!("b")),
            ("['p', 'q'][1]", json!("q")),
        ] {
            assert_eq!(value_of(text, context.clone()), expected, "{text}");
        }
    }

    #[test]
    fn escapes() {
        for (text, expected) in [
            (r"'a\nb\tc'", "a\nb\tc"),
            (r"'\d\\'", "\\d\\"),
            (r#"'it\'s "x"'"#, "it's \"x\""),
            (r#""it's \"x\"""#, "it's \"x\""),
            ("'a\nb'", "a\nb"),
        ] {
            assert_eq!(value_of(text, json!({})), json!(expected), "{text}");
        }
    }

    #[test]
    fn methods_at_their_edges() {
        for (text, expected) in [
            ("'é☃'.find('☃')", json!(2)),
            ("'abc'.count('')", json!(4)),
            ("'abc'.find('')", json!(0)),
            ("'ab'.replace('', '-')", json!("-a-b-")),
            ("'  hello  wORLD\n'.title()", json!("  Hello  World\n")),
            ("''.split(',')", json!([""])),
            ("''.split()", json!([])),
            ("'-'.join([1, true, gone, 'x'])", json!("1.0-true--x")),
            ("'-'.join([])", json!("")),
            ("min('b', 2, 'a')", json!("a")),
            ("min('b', 2, 'c')", json!("b")),
            ("max(1, '3', 2)", json!("3")),
            ("min(gone, 1)", json!(null)),
            ("int(' +7 ')", json!(7)),
            ("int(-3.9)", json!(-3)),
        ] {
            assert_eq!(value_of(text, json!({})), expected, "{text}");
        }
    }

    #[test]
    fn names_are_found_wherever_they_are() {
        let text = "x.a.strip() == [y, 'n'][z . k] or not len(w-1) and none in (v).u";
        let names: Vec<(String, String)> = Condition::parse(text)
            .unwrap()
            .names()
            .into_iter()
            .map(|name| (name.path.to_string(), text[name.range].to_owned()))
            .collect();
        let expected = [
            ("x.a", "x.a"),
            ("y", "y"),
            ("z.k", "z . k"),
            ("w-1", "w-1"),
            ("none", "none"),
            ("v", "v"),
        ];
        assert_eq!(names, expected.map(|(path, text)| (path.to_owned(), text.to_owned())));
    }

    #[test]
    fn values_that_are_true() {
        for value in
            [json!(null), json!(false), json!(0), json!(-0.0), json!(""), json!([]), json!({})]
        {
            assert!(!truthy(&value), "{value}");
        }
        for value in [json!(true), json!(1e-3), json!("0"), json!([null]), json!({"a": null})] {
            assert!(truthy(&value), "{value}");
        }
    }
}

mod endurance {
    use super::*;

    /// Reads, prints, copies, compares, asks and drops on a small stack.
    fn survives(text: String) -> Result<Value, String> {
        let work = move || {
            let condition = Condition::parse(&text).map_err(|error| {
                assert!(text.get(error.range.clone()).is_some(), "{:?}", error.range);
                assert!(error.message.len() < 300, "{}", error.message);
                error.message
            })?;
            assert_eq!(condition.clone(), condition);
            assert!(format!("{condition:?}").len() > text.len());
            condition.names();
            let scope = scope(json!({"a": [[1]], "s": "x"}));
            condition.value(&scope).map_err(|error| error.message)
        };
        std::thread::Builder::new().stack_size(512 << 10).spawn(work).unwrap().join().unwrap()
    }

    #[test]
    fn much_of_anything_is_a_value_or_a_refusal() {
        let pieces = [
            ("(", "a", ")"),
            ("[", "a", "]"),
            ("not ", "a", ""),
            ("not (", "a", ")"),
            ("-", "1", ""),
            ("", "a", ".b"),
            ("a[", "0", "]"),
            ("", "a", "[0]"),
            ("len(", "a", ")"),
            ("", "s", ".strip()"),
            ("s.replace('x',", "s", ")"),
            ("a or ", "a", ""),
            ("a&&", "a", ""),
            ("a or (a and ", "a", ")"),
            ("a == ", "a", ""),
            ("a,", "a", ""),
            ("[a,", "", ""),
            ("min(1,", "2", ")"),
            ("", "'", "\\'"),
            ("1", "", ""),
            ("a", "", ""),
            ("é", "", ""),
            (".", "", ""),
            ("'a' in [", "a", "]"),
        ];
        for (before, core, after) in pieces {
            let most = 8_192_usize.saturating_sub(core.len()) / (before.len() + after.len());
            for count in [1, 2, 30, 64, 65, 200, most, 10_000] {
                let _ = survives(before.repeat(count) + core + &after.repeat(count));
            }
        }
    }

    #[test]
    fn what_people_may_need_works() {
        assert_eq!(survives("(".repeat(64) + "7" + &")".repeat(64)), Ok(json!(7.0)));
        assert_eq!(survives("gone or ".repeat(1_000) + "s"), Ok(json!("x")));
        assert_eq!(survives("s and ".repeat(1_000) + "gone"), Ok(json!(null)));
        assert_eq!(survives("not ".repeat(2_001) + "s"), Ok(json!(false)));
        assert_eq!(survives("s".to_owned() + &".strip()".repeat(1_000)), Ok(json!("x")));
        assert_eq!(survives("a[0]".to_owned() + &"[0]".repeat(2_000)), Ok(json!(null)));
    }

    #[test]
    fn too_much_is_refused_in_words() {
        let deep = survives("(".repeat(65) + "7" + &")".repeat(65));
        assert_eq!(deep, Err("brackets are nested more than 64 deep".to_owned()));
        let error = Condition::parse(&"é".repeat(5_000)).unwrap_err();
        assert_eq!(error.message, "this condition has 10000 bytes; at most 8192 are read");
        assert_eq!(error.range, 8_192..10_000);
        for empty in ["", " \n\t"] {
            let error = Condition::parse(empty).unwrap_err();
            assert_eq!(
                (error.range, error.message.as_str()),
                (0..empty.len(), "the condition is empty")
            );
        }
        let error = Condition::parse(&format!("a == {}", "9".repeat(400))).unwrap_err();
        assert_eq!(error.message, "this number is too large for the language");
    }

    #[test]
    fn a_short_text_cannot_fill_the_memory() {
        let thousand = "a".repeat(1_000);
        let grow = format!(".replace('a', '{thousand}')");
        let refused = Err("this makes more than 128 MiB of text".to_owned());
        assert_eq!(survives("'a'".to_owned() + &grow.repeat(3)), refused);
        let context = scope(json!({"mega": "x".repeat(1 << 20)}));
        let many = "mega, ".repeat(300);
        for text in
            [format!("[{many}]"), format!("mega.join([{many}])"), format!("max([{many}], 1)")]
        {
            let found = Condition::parse(&text).unwrap().value(&context);
            assert_eq!(found.map_err(|error| error.message), refused, "{}", &text[..20]);
        }
        // As many passes as fit into the longest condition, over the largest value.
        let large = scope(json!({"x": "a".repeat(16 << 20)}));
        let passes = "x == 'b' or ".repeat(500) + "x";
        let found = Condition::parse(&passes).unwrap().is_true(&large);
        let message = "this reads more than 1024 MiB of text";
        assert_eq!(found.map_err(|error| error.message), Err(message.to_owned()));
        let some = "x.strip() == x and x != 'b'";
        assert_eq!(Condition::parse(some).unwrap().is_true(&large), Ok(true));
    }

    #[test]
    fn a_look_computes_little() {
        let nothing = scope(json!({}));
        let known = scope(json!({"x": "a".repeat(16 << 20)}));
        let doubled = |times: usize| "'a'".to_owned() + &".replace('a','aa')".repeat(times);
        for (text, context, foreseen) in [
            (doubled(10), &nothing, Some(true)),
            (doubled(27), &nothing, None),
            (format!("{} == 'b'", doubled(27)), &nothing, None),
            (format!("false and {}", doubled(27)), &nothing, Some(false)),
            (format!("u or {}", doubled(27)), &nothing, None),
            ("x.count('a') > 1".to_owned(), &known, None),
            ("x == 'a'".to_owned(), &known, None),
            ("len(x) > 1".to_owned(), &known, Some(true)),
        ] {
            let unknown = |path: &towpath_core::VarPath| path.as_str() == "u";
            let seen = Condition::parse(&text).unwrap().foresee(context, &unknown);
            assert_eq!(seen, Ok(foreseen), "{}", &text[..text.len().min(40)]);
        }
    }
}

/// `u` and `v` have no value yet; `k` is `"yes"`, `n` is 3, `e` is an empty list.
#[test]
fn a_result_is_foreseen_only_where_no_value_could_change_it() {
    let Value::Object(known) = json!({"k": "yes", "n": 3, "e": []}) else { panic!("a map") };
    let unknown = |path: &towpath_core::VarPath| ["u", "v"].contains(&path.root());
    let rows = [
        ("k == 'yes'", Some(true)),
        ("u", None),
        ("u.field", None),
        ("false and u", Some(false)),
        ("u and false", Some(false)),
        ("u or true", Some(true)),
        ("true or u.lower()", Some(true)),
        ("u.lower() or true", None),
        ("u.lower() and false", None),
        ("not (u and false)", Some(true)),
        ("u == v", None),
        ("u in e", Some(false)),
        ("u not in e", Some(true)),
        ("u > e", Some(false)),
        ("u > 1", None),
        ("(u or 'x') and k == 'no'", Some(false)),
        ("bool(u or n)", Some(true)),
        ("int(u) == 1 or true", None),
        ("len(u) == 0 or n == 3", Some(true)),
        ("[u, v]", None),
        ("u or v", None),
        ("gone and u", Some(false)),
    ];
    for (text, expected) in rows {
        let condition = Condition::parse(text).unwrap();
        assert_eq!(condition.foresee(&known, &unknown), Ok(expected), "{text}");
    }
    for text in ["n.lower()", "int(k) == u", "u.find(n.lower())", "u == int('x') or true"] {
        let condition = Condition::parse(text).unwrap();
        assert!(condition.foresee(&known, &unknown).is_err(), "{text}");
    }
    let condition = Condition::parse("u or n.lower()").unwrap();
    assert_eq!(condition.foresee(&known, &unknown), Ok(None), "`u` may decide before the error");
}

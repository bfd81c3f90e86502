//! Whatever a recipe contains, what is written can be read by the programs it is written for, and no
//! text leaves its quotes.

use super::*;
use proptest::prelude::*;

/// Names that were made to break out.
fn nasty() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z-]{1,12}",
        any::<String>(),
        Just("</text><script>alert(1)</script>".to_owned()),
        Just("\"]; x -> y; //".to_owned()),
        Just("`md` **b** #quot; %%{init: {}}%%".to_owned()),
        Just("a\\\"b\\N\\".to_owned()),
        Just("]]> &amp; &#0; --> |x|\nend".to_owned()),
        Just("終わり 🎉 \u{202e}abc\u{0}\u{1b}[2J".to_owned()),
        "[a-z]{300,500}",
    ]
}

fn card() -> impl Strategy<Value = Card> {
    let kind = prop_oneof![Just(Kind::Agent), Just(Kind::Command), Just(Kind::Recipe)];
    (nasty(), kind, nasty(), nasty(), prop::option::of(nasty())).prop_map(
        |(name, kind, detail, text, idle)| Card {
            name,
            kind,
            detail,
            text,
            idle,
            ..Card::default()
        },
    )
}

fn shape(cards: usize) -> BoxedStrategy<Shape> {
    let to = prop_oneof![
        3 => (0..cards).prop_map(To::Card),
        1 => nasty().prop_map(To::Exit),
        1 => nasty().prop_map(To::Restart),
    ];
    let way = (0..cards, nasty(), to).prop_map(|(from, label, to)| Way { from, label, to });
    let machine = (0..cards, prop::collection::vec(way, 0..12))
        .prop_map(|(first, ways)| Shape::Machine { first, ways });
    let line = (1..4_usize, prop::option::of(nasty()), prop::option::of(nasty())).prop_map(
        move |(width, group, condition)| {
            let all: Vec<usize> = (0..cards).collect();
            let batch = |cards: &[usize]| Batch {
                cards: cards.to_vec(),
                group: group.clone(),
                condition: condition.clone(),
            };
            Shape::Line(all.chunks(width).map(batch).collect())
        },
    );
    prop_oneof![machine, line].boxed()
}

fn chart() -> impl Strategy<Value = Chart> {
    let part = prop::collection::vec(card(), 1..7).prop_flat_map(|cards| {
        let shape = shape(cards.len());
        (nasty(), nasty(), prop::collection::vec(nasty(), 0..2), Just(cards), shape).prop_map(
            |(title, about, notes, cards, shape)| Part { title, about, notes, cards, shape },
        )
    });
    prop::collection::vec(part, 1..3).prop_map(|mut parts| {
        let last = parts.len() - 1;
        parts[0].cards[0].calls = Some(last);
        Chart { parts }
    })
}

/// A reader of XML that knows just enough to check whether a text is well formed.
fn well_formed(xml: &str) -> Result<usize, String> {
    let (mut open, mut rest, mut elements) = (Vec::new(), xml.trim(), 0);
    while let Some(at) = rest.find('<') {
        characters(&rest[..at])?;
        let end = rest.find('>').ok_or("a tag without end")?;
        let (tag, after) = (&rest[at + 1..end], &rest[end + 1..]);
        if let Some(name) = tag.strip_prefix('/') {
            let opened = open.pop();
            if opened != Some(name) {
                return Err(format!("</{name}> closes {opened:?}"));
            }
        } else {
            let (tag, closed) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
            let name = tag.split(' ').next().unwrap_or("");
            attributes(&tag[name.len()..])?;
            elements += 1;
            if !closed {
                open.push(name);
            }
        }
        rest = after;
        if open.is_empty() {
            break;
        }
    }
    match (open.is_empty(), rest.is_empty()) {
        (true, true) => Ok(elements),
        _ => Err(format!("open: {open:?}, after the end: {rest:?}")),
    }
}

fn attributes(text: &str) -> Result<(), String> {
    let mut quotes = text.split('"');
    while let (Some(name), Some(value)) = (quotes.next(), quotes.next()) {
        let known = name.trim().strip_suffix('=').filter(|n| !n.is_empty());
        known.filter(|n| n.chars().all(|c| c.is_ascii_alphabetic() || c == '-')).ok_or(name)?;
        characters(value)?;
    }
    Ok(())
}

fn characters(text: &str) -> Result<(), String> {
    let allowed = |c: char| !c.is_control() || c == '\n';
    if let Some(c) = text.chars().find(|c| !allowed(*c) || ('\u{fffe}'..='\u{ffff}').contains(c)) {
        return Err(format!("{c:?} is not allowed"));
    }
    for entity in text.split('&').skip(1) {
        let known = ["amp;", "lt;", "gt;", "quot;"];
        known.iter().find(|k| entity.starts_with(**k)).ok_or(format!("&{entity}"))?;
    }
    Ok(())
}

/// What is outside of quotes, with the quotes' content left out.
fn outside(text: &str) -> Result<String, String> {
    let (mut kept, mut inside) = (String::new(), false);
    for c in text.chars() {
        match c {
            '"' => inside = !inside,
            '\n' if inside => return Err("a line ends inside of quotes".to_owned()),
            c if !inside => kept.push(c),
            _ => {}
        }
    }
    if inside { Err("a quote is open".to_owned()) } else { Ok(kept) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn an_image_is_well_formed_and_fetches_nothing(chart in chart()) {
        let svg = svg::write(&chart);
        let elements = well_formed(&svg);
        prop_assert!(elements.is_ok(), "{elements:?}\n{svg}");
        let drawn: usize = chart.parts.iter().map(|part| part.cards.len()).sum();
        prop_assert_eq!(svg.matches("<rect class=\"card").count(), drawn, "every step is drawn once");
        let outside_texts = svg.replace("http://www.w3.org/2000/svg", "");
        for word in ["<script", "<image", "<a ", "href=", "url(", "@import", "<foreignObject"] {
            prop_assert!(!outside_texts.contains(word), "{word}");
        }
    }

    #[test]
    fn no_name_leaves_its_quotes(chart in chart()) {
        let own = |text: &str, allowed: &str| {
            text.chars().find(|c| !c.is_ascii_alphanumeric() && !allowed.contains(*c))
        };
        let code = |text: String, comment: &str| -> String {
            let lines = text.lines().filter(|line| !line.trim_start().starts_with(comment));
            lines.map(|line| format!("{line}\n")).collect()
        };
        let mermaid = code(mermaid::write(&chart), "%%");
        let kept = outside(&mermaid);
        prop_assert!(kept.is_ok(), "{kept:?}\n{mermaid}");
        prop_assert_eq!(own(&kept.unwrap(), " \n[](){}/|->.,:"), None, "{}", mermaid);
        prop_assert!(!mermaid.contains('<') && !mermaid.contains('`'));
    }

    #[test]
    fn every_way_of_a_machine_is_drawn(chart in chart()) {
        for part in &chart.parts {
            let Shape::Machine { ways, .. } = &part.shape else { continue };
            let rows = arrange_rows::arrange(part);
            let (mut labels, mut cards) = (rows.jumps.len(), rows.rows.len());
            for row in &rows.rows {
                labels += row.down.len();
                for side in &row.sides {
                    match side {
                        arrange_rows::Side::Loop { out, back, ends, .. } => {
                            labels += out.len() + back.len() + ends.len();
                            cards += 1;
                        }
                        _ => labels += 1,
                    }
                }
            }
            prop_assert_eq!((labels, cards), (ways.len(), part.cards.len()));
            prop_assert!(draw::draw(part).len() >= rows.rows.len());
        }
    }
}

fn part(names: &[&str], ways: &[(usize, &str, To)]) -> Part {
    let card = |name: &&str| Card { name: (*name).to_owned(), ..Card::default() };
    let way = |(from, label, to): &(usize, &str, To)| Way {
        from: *from,
        label: (*label).to_owned(),
        to: to.clone(),
    };
    Part {
        title: "t".to_owned(),
        about: String::new(),
        notes: Vec::new(),
        cards: names.iter().map(card).collect(),
        shape: Shape::Machine { first: 0, ways: ways.iter().map(way).collect() },
    }
}

fn drawn(part: &Part) -> String {
    draw::draw(part).iter().map(|line| format!("{}{}\n", line.text, line.dim)).collect()
}

#[test]
fn loops_are_drawn_beside_their_step_and_far_ways_name_theirs() {
    let exit = |reason: &str| To::Exit(format!("exit {reason}"));
    let part = part(
        &["plan", "quick", "careful", "check", "fix"],
        &[
            (0, "small", To::Card(1)),
            (0, "large", To::Card(2)),
            (1, "too-large", To::Card(2)),
            (1, "done", To::Card(3)),
            (2, "retry", To::Card(2)),
            (2, "done", To::Card(3)),
            (3, "failed", To::Card(4)),
            (3, "wrong-plan", To::Card(0)),
            (3, "passed", exit("ok")),
            (4, "complete", To::Card(3)),
            (4, "partial", To::Card(3)),
            (4, "stuck", exit("stuck")),
        ],
    );
    let expected = "\
plan
  ├─ large ─▶ careful (below)
  ▼ small
quick
  ├─ done ─▶ check (below)
  ▼ too-large
careful
  ├─ retry ─▶ again
  ▼ done
check
  ├─ failed ─────▶ fix
  │                ├─ stuck ─▶ exit stuck
  ◀─ complete ─────┤
  ◀─ partial ──────╯
  ├─ passed ─────▶ exit ok
  ╰─ wrong-plan ─▶ plan (above)
";
    assert_eq!(drawn(&part), expected);
}

#[test]
fn wide_letters_keep_the_lines_straight() {
    let exit = To::Exit("exit x".to_owned());
    let part = part(&["始め"], &[(0, "終わり", exit.clone()), (0, "ok", exit)]);
    let expected = "始め\n  ├─ 終わり ─▶ exit x\n  ╰─ ok ─────▶ exit x\n";
    assert_eq!(drawn(&part), expected);
}

#[test]
fn a_machine_of_many_ways_is_drawn_without_a_tangle() {
    let names: Vec<String> = (0..100).map(|at| format!("s{at}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let ways: Vec<(usize, &str, To)> = (0..100)
        .flat_map(|from| (1..6).map(move |by| (from, "go", To::Card((from + by * 7) % 100))))
        .collect();
    let svg = svg::write(&Chart { parts: vec![part(&names, &ways)] });
    assert!(well_formed(&svg).is_ok());
    assert_eq!(svg.matches(">go</text>").count(), 500);
}

/// A step recipe of these steps, those with `?` under a condition.
fn line(names: &[&str]) -> Part {
    let batch = |(at, name): (usize, &&str)| Batch {
        cards: vec![at],
        group: None,
        condition: name.ends_with('?').then(|| "x".to_owned()),
    };
    let batches = names.iter().enumerate().map(batch).collect();
    Part { shape: Shape::Line(batches), ..part(names, &[]) }
}

/// The points of every way of an image, in its own order.
fn ways(svg: &str) -> Vec<Vec<(i64, i64)>> {
    let point = |text: &str| {
        let (x, y) = text.split_once(' ')?;
        Some((x.parse().ok()?, y.parse().ok()?))
    };
    let paths = svg.split("class=\"way\" d=\"").skip(1).map(|rest| rest.split('"').next());
    let points = |path: Option<&str>| {
        path.unwrap_or_default().split(['M', 'L', 'Q']).filter_map(point).collect::<Vec<_>>()
    };
    paths.map(points).collect()
}

#[test]
fn an_image_shows_the_way_round_every_step_with_a_condition() {
    for names in [
        &["a", "b?", "c"][..],
        &["a?", "b"],
        &["a", "b?"],
        &["a?"],
        &["a", "b?", "c?", "d?", "e"],
        &["a?"; 40],
    ] {
        let svg = svg::write(&Chart { parts: vec![line(names)] });
        let conditional = names.iter().filter(|name| name.ends_with('?')).count();
        assert_eq!(svg.matches(">else</text>").count(), conditional, "{names:?}");
        let card = svg.split("<rect class=\"card").nth(1).expect("a card");
        let number = |name: &str| -> i64 {
            let (_, rest) = card.split_once(&format!(" {name}=\"")).expect("a size");
            rest.split('"').next().and_then(|number| number.parse().ok()).expect("a number")
        };
        let (left, width) = (number("x"), number("width"));
        let rounds = ways(&svg).into_iter().filter(|way| {
            let (Some(first), Some(last)) = (way.first(), way.last()) else { return false };
            let beside = way.iter().map(|(x, _)| *x).min().is_some_and(|x| x < first.0 - width / 2);
            // It leaves the line above the step and is back on it below.
            beside && first.0 == last.0 && last.1 - first.1 > number("height")
        });
        assert_eq!(rounds.count(), conditional, "{names:?}: {left} {width}\n{svg}");
    }
    assert_eq!(svg::write(&Chart { parts: vec![line(&["a", "b"])] }).matches("else").count(), 0);
}

#[test]
fn graphs_have_an_edge_to_a_step_with_a_condition_and_one_round_it() {
    let chart = Chart { parts: vec![line(&["a", "b?", "c?", "d"])] };
    let mermaid = mermaid::write(&chart);
    let edges: Vec<&str> = mermaid.lines().filter(|line| line.contains("-->")).collect();
    let expected = [
        "  p0s0 --> p0c1",
        "  p0c1 -->|yes| p0s1",
        "  p0c1 -->|no| p0c2",
        "  p0s1 --> p0c2",
        "  p0c2 -->|yes| p0s2",
        "  p0c2 -->|no| p0s3",
        "  p0s2 --> p0s3",
    ];
    assert_eq!(edges, expected);
    let last = Chart { parts: vec![line(&["a", "b?"])] };
    assert!(mermaid::write(&last).contains("  p0c1 -->|no| p0end(( ))\n"), "the end is shown");
}

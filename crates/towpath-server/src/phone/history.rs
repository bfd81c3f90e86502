//! A session's prompts and answers as messages with numbers, in as many messages as the client takes.

use super::messages::{Gap, HistoryMessage, ServerMessage, SessionHistory};
use super::sessions::{Session, uuid};
use jiff::Timestamp;

/// What one text may take of a message.
const SHARE: usize = 4;

/// What came after a number. A session that is not there yet has no messages.
pub(crate) fn history(
    found: Option<&Session>,
    session: &str,
    since: u64,
    most: usize,
) -> SessionHistory {
    let messages = found.map_or_else(Vec::new, |found| messages(found, session));
    packed(session, messages, since, most)
}

fn messages(found: &Session, session: &str) -> Vec<HistoryMessage> {
    let mut messages = Vec::new();
    for (run, call) in found.exchanges() {
        let prompt = [("user", call.prompt.as_str(), call.started_ms)];
        let answer = call.answer.as_ref().map(|a| ("assistant", a.text.as_str(), a.at_ms));
        for (role, text, at_ms) in prompt.into_iter().chain(answer) {
            messages.push(HistoryMessage {
                uuid: uuid(&format!("message {run} {} {role}", call.number)),
                role,
                text: text.to_owned(),
                timestamp: time(at_ms),
                session_id: session.to_owned(),
                seq: messages.len() as u64 + 1,
            });
        }
    }
    messages
}

pub(crate) fn time(ms: i64) -> String {
    Timestamp::from_millisecond(ms).unwrap_or_default().to_string()
}

fn packed(session: &str, all: Vec<HistoryMessage>, since: u64, most: usize) -> SessionHistory {
    let next_seq = all.len() as u64 + 1;
    let ahead = since >= next_seq && since > 0;
    let gap = ahead.then_some(Gap {
        requested_last_seq: since,
        min_available_seq: 1,
        reason: "client_ahead",
    });
    let since = if ahead { 0 } else { since };
    let wanted = all.into_iter().filter(|message| message.seq > since);
    let mut history = SessionHistory {
        session_id: session.to_owned(),
        messages: Vec::new(),
        first_seq: None,
        last_seq: None,
        next_seq,
        is_complete: true,
        gap,
    };
    // The numbers that are not known yet are longer than `null`.
    let mut size = length(&ServerMessage::SessionHistory(Box::new(history.clone()))) + 32;
    for mut message in wanted {
        shorten(&mut message, most / SHARE);
        size += serde_json::to_string(&message).map_or(0, |text| text.len()) + 1;
        if size > most {
            history.is_complete = false;
            break;
        }
        history.messages.push(message);
    }
    // A client that takes not even one message would ask for it for ever.
    history.is_complete |= history.messages.is_empty();
    history.first_seq = history.messages.first().map(|message| message.seq);
    history.last_seq = history.messages.last().map(|message| message.seq);
    history
}

fn length(message: &ServerMessage) -> usize {
    serde_json::to_string(message).map_or(0, |text| text.len())
}

/// Leaves out the middle of a long text: its beginning and its end have what matters most.
fn shorten(message: &mut HistoryMessage, most: usize) {
    let text = &message.text;
    // In JSON a character may become six bytes.
    let written = serde_json::to_string(text).map_or(0, |text| text.len());
    if written <= most {
        return;
    }
    let part = most.saturating_sub(100) * text.len() / written.max(1) / 2;
    let (start, end) =
        (text.floor_char_boundary(part), text.ceil_char_boundary(text.len().saturating_sub(part)));
    let left_out = end.saturating_sub(start);
    let shortened =
        format!("{}\n[… {left_out} bytes left out …]\n{}", &text[..start], &text[end..]);
    message.text = shortened;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(seq: u64, text: &str) -> HistoryMessage {
        HistoryMessage {
            uuid: uuid(&seq.to_string()),
            role: "user",
            text: text.to_owned(),
            timestamp: time(0),
            session_id: "s".to_owned(),
            seq,
        }
    }

    fn numbers(history: &SessionHistory) -> Vec<u64> {
        history.messages.iter().map(|message| message.seq).collect()
    }

    #[test]
    fn a_client_gets_what_it_does_not_have() {
        let all: Vec<_> = (1..=3).map(|seq| message(seq, "hi")).collect();
        for (since, expected, gap) in
            [(0, &[1, 2, 3][..], false), (2, &[3], false), (3, &[], false), (9, &[1, 2, 3], true)]
        {
            let history = packed("s", all.clone(), since, 10_000);
            assert_eq!((&numbers(&history)[..], history.gap.is_some()), (expected, gap), "{since}");
            assert_eq!(history.first_seq, expected.first().copied());
            assert_eq!((history.next_seq, history.is_complete), (4, true));
        }
        assert_eq!(packed("s", Vec::new(), 0, 100).gap, None);
    }

    #[test]
    fn a_history_is_sent_in_parts_that_the_client_takes() {
        let all: Vec<_> = (1..=9).map(|seq| message(seq, &"é\u{1}".repeat(2000))).collect();
        let (mut since, mut got) = (0, Vec::new());
        for _ in 0..9 {
            let history = packed("s", all.clone(), since, 4096);
            let text = ServerMessage::SessionHistory(Box::new(history.clone())).to_text(usize::MAX);
            assert!(text.len() <= 4096, "{}", text.len());
            assert!(history.messages[0].text.contains("bytes left out"));
            got.extend(numbers(&history));
            since = history.last_seq.expect("a number");
            if history.is_complete {
                break;
            }
        }
        assert_eq!(got, (1..=9).collect::<Vec<u64>>());
        let none = packed("s", all, 0, 10);
        assert!(none.is_complete && none.messages.is_empty());
    }
}

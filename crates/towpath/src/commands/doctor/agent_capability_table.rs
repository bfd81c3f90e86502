//! What each agent's program can do, as a table and as JSON. It applies to a program whether or not
//! it is installed here.

use crate::terminal::out;
use crate::terminal::screen::{Screen, Tint};
use crate::terminal::table::{Cell, Table};
use serde_json::{Value, json};
use towpath_agent::{BACKENDS, Capabilities, SessionIds, UsageOf};

/// One column: its head, and its word for a backend.
type Column = (&'static str, fn(&Capabilities) -> &'static str);

const COLUMNS: &[Column] = &[
    ("session id", |can| match can.session_ids {
        SessionIds::Chosen | SessionIds::ChosenOnce => "ours",
        SessionIds::Returned => "its own",
    }),
    ("resume", |can| if can.resume_elsewhere { "anywhere" } else { "same dir" }),
    ("tiers", |can| if can.tiers { "yes" } else { "settings" }),
    ("system prompt", |can| word(can.system_prompt)),
    ("tokens", |can| match can.usage {
        UsageOf::Call => "call",
        UsageOf::Session => "session",
        UsageOf::Nothing => "no",
    }),
    ("cost", |can| word(can.cost)),
];

fn word(yes: bool) -> &'static str {
    if yes { "yes" } else { "no" }
}

pub fn print(screen: &Screen) {
    out::line("agent capabilities");
    let mut header = vec![""];
    header.extend(COLUMNS.iter().map(|(head, _)| *head));
    let mut table = Table::new(&header);
    for row in BACKENDS {
        let mut cells = vec![Cell::own(format!("  {}", row.id), Tint::None)];
        cells.extend(COLUMNS.iter().map(|(_, of)| of(&row.can).into()));
        table.row(cells);
    }
    table.print(screen);
    out::line("");
}

pub fn as_json(can: &Capabilities) -> Value {
    json!({
        "session_id": match can.session_ids {
            SessionIds::Chosen | SessionIds::ChosenOnce => "chosen",
            SessionIds::Returned => "returned",
        },
        "uuid_sessions": can.uuid_sessions,
        "resume_elsewhere": can.resume_elsewhere,
        "tiers": can.tiers,
        "system_prompt": can.system_prompt,
        "modes": can.modes,
        "tokens": match can.usage {
            UsageOf::Call => json!("call"),
            UsageOf::Session => json!("session"),
            UsageOf::Nothing => Value::Null,
        },
        "cost": can.cost,
        "limit_reset": can.limit_reset,
        "tells_retries": can.reports_retries,
    })
}

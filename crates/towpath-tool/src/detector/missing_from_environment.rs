//! Step 6: the program needs something that this environment does not have. That is neither a fault of
//! the install nor a proof that it works.

use super::line_regex_table::{LineTable, Row, row};
use super::prepared_observation::Reading;
use crate::clean_printed_text::Line;
use crate::verdict_and_evidence::EvidenceKind::{self, *};
use crate::verdict_and_evidence::{Evidence, Judgement, Verdict};

static ENVIRONMENT: LineTable<EvidenceKind> = LineTable::new(ROWS);

const ROWS: &[Row<EvidenceKind>] = &[
    row(
        Display,
        "display",
        r"(can't|cannot|could ?n[o']t|unable to|failed to) (open|connect to|access|find|initiali[sz]e)( the| any)? ?(x |x11 |default )?display",
    ),
    row(
        Display,
        "display",
        r"no display name|\$?DISPLAY (environment variable )?(is )?(not set|unset|missing)|no display (found|specified|available)|missing display",
    ),
    row(
        Display,
        "x server",
        r"(cannot|can't|unable to|could not|failed to) (connect to|open|contact).* X server|(no|missing) X server",
    ),
    row(Display, "wayland", r"(connect|open|find|no).*wayland"),
    row(
        Display,
        "gtk",
        r"(could not|cannot|failed to|unable to) (init|open).*gtk|gtk.*(cannot open|initialization failed)",
    ),
    row(Display, "qt.qpa", r"^qt\.qpa\."),
    row(ReadOnly, "read-only", r"read-only file ?system|\S+ is read-only\b"),
    row(
        Terminal,
        "terminal",
        r"(error opening|cannot open|can't open|unknown|no|not a|not in a|requires? an?|needs? an?|must be (run |used )?(in|on|from) an?|connected to a|isn't a|unable to (open|find|get)( the)?( controlling)?|missing or unsuitable|setup of|initiali[sz]e|initiali[sz]ing( the)?) (\w+ )?terminal|terminal.*(is (not|required|needed)|not fully functional|too dumb|unknown|lacks)",
    ),
    row(
        Terminal,
        "tty",
        r"not a tty|no tty|isn't a tty|must be a tty|requires? a tty|needs? a tty|tty (is )?(required|needed)",
    ),
    row(
        Terminal,
        "/dev/tty",
        r"(can't|cannot|could not|unable to|failed to|error|no such|open(ing)?|denied).*/dev/tty\b|/dev/tty\b.*(no such|not found|denied|missing|not|failed|cannot|can't)",
    ),
    row(Terminal, "inappropriate ioctl", r"inappropriate ioctl for device"),
    row(
        Terminal,
        "term",
        r"\$?TERM (environment variable |variable )?(is )?(not (set|defined)|unset|undefined)",
    ),
    row(Terminal, "_curses.error", r"_curses\.error"),
    row(Terminal, "initscr", r"\binitscr\b"),
    row(Terminal, "setupterm", r"\bsetupterm\b"),
    row(
        Privilege,
        "root",
        r"\b(must|need|needs|have|has|required?|only|should|requires?|not|are you|as|by|become|run)\b.*\broot\b|\broot\b.*\b(privileges?|permissions?|access|required|only|needed|rights)\b",
    ),
    row(Privilege, "superuser", r"\bsuperuser\b"),
    row(Privilege, "super-user", r"\bsuper-user\b"),
    row(
        Privilege,
        "permission",
        r"permission denied|PermissionError|(insufficient|no|not have|lack|without|missing) (the )?(\w+ )?permissions?|permissions? (is|are) (required|needed)",
    ),
    row(Privilege, "not permitted", r"operation not permitted|not permitted"),
    row(
        Privilege,
        "privilege",
        r"(insufficient|need|needs|requires?|not enough|elevated|administrator|without|must have|lacks?) .*privileges?|privileges? (required|needed)",
    ),
    row(Privilege, "access", r"access (is )?denied"),
    row(Privilege, "uid", r"\b(must|should|needs? to|not) be .*set-?uid|not (installed )?setuid"),
    row(Privilege, "not allowed", r"\b(you|user) .*not allowed to\b"),
    row(Privilege, "determine your user", r"cannot determine your user ?name"),
    row(
        Service,
        "connect",
        r"(can't|cannot|could ?n[o']t|unable to|failed to|error while trying to|not) (\w+ )?(connect|open a connection)\b",
    ),
    row(
        Service,
        "connection",
        r"connection (was )?(refused|failed|reset|timed out)|connection to .*(failed|refused)|(error|failed).*(getting|creating|opening).* connection|connectionrefusederror|no connection to",
    ),
    row(Service, "contact", r"(can't|cannot|could not|unable to|failed to) contact\b"),
    row(
        Service,
        "daemon",
        r"is the .*daemon running|daemon.*(not running|not available|unreachable|is not|isn't)|(no|cannot|can't|unable to|could not) .*daemon",
    ),
    row(Service, "dbdriver", r"^debconf: DbDriver .*could not open"),
    row(Service, "is not running", r"\bis not running\b"),
    row(Service, "isn't running", r"\bisn't running\b"),
    row(Service, "not been booted", r"system has not been booted with systemd"),
    row(Service, "d-bus", r"(failed|cannot|could not|unable|error).*\bd-bus\b"),
    row(
        Service,
        "dbus",
        r"(failed|cannot|could not|unable|error|exception).*\bdbus\b|dbus\S*(error|exception)",
    ),
    row(
        Service,
        "agent",
        r"(authentication|ssh|gpg|polkit|key) agent\b.*|no .*agent (running|found|available)",
    ),
    row(Service, "ssh_auth_sock", r"SSH_AUTH_SOCK"),
    row(Service, "socket", r"(cannot|can't|unable to|could not|failed to|error) .*socket\b"),
    row(Network, "network is unreachable", r"network is unreachable"),
    row(
        Network,
        "name resolution",
        r"temporary failure in name resolution|name resolution (failed|error)",
    ),
    row(Network, "resolve", r"(can't|cannot|could not|couldn't|unable to|failed to) resolve\b"),
    row(Network, "name or service not known", r"name or service not known"),
    row(Network, "getaddrinfo", r"getaddrinfo\b"),
    row(Network, "no route to host", r"no route to host"),
    row(
        Network,
        "network",
        r"(no|without|requires?|needs?|check your|unable to access the) network( connection| access|$)|network (is )?(down|unavailable|error)",
    ),
    row(
        Network,
        "internet",
        r"(no|without|requires?|needs?|check your|unable to access the) internet( connection| access|$)",
    ),
    row(Network, "address", r"cannot assign requested address|address family not supported"),
    row(
        License,
        "licen",
        r"licen[sc]e (file|server|key|manager|checkout).*(not|missing|invalid|expired|failed|cannot)|(no|invalid|missing|expired|accept|agree to) (the |a |valid )*licen[sc]e",
    ),
    row(
        Device,
        "/dev/",
        r"(can't|cannot|could not|unable to|failed to|error|no such|denied).*/dev/|/dev/\S+:? .*(no such|not found|denied|missing|not)",
    ),
    row(
        Device,
        "/proc",
        r"(can't|cannot|could not|unable to|failed to|error|no such).*/proc\b|/proc\S*:? .*(no such|not found|denied|missing|not (be )?mounted)|mount /proc",
    ),
    row(
        Device,
        "/sys/",
        r"(can't|cannot|could not|unable to|failed to|error|no such).*/sys/|/sys/\S+:? .*(no such|not found|denied|missing|not)",
    ),
    row(
        Device,
        "/run/",
        r"(can't|cannot|could not|unable to|failed to|error|no such).*/run/|/run/\S+:? .*(no such|not found|denied|missing|not)",
    ),
    row(
        Device,
        "/lib/modules",
        r"/lib/modules\S*:? .*(no such|not found|denied|missing|not)|(can't|cannot|could not|unable to|failed to).*/lib/modules",
    ),
    row(Device, "no such device", r"no such device"),
    row(Device, "device", r"no (\w+ )?devices? (found|available|present)|\bdevice not found\b"),
    row(
        Device,
        "driver",
        r"(can't|cannot|could ?n[o']t|unable to|failed to) communicate with .*\bdriver\b",
    ),
    row(Device, "module loaded?", r"\bmodule loaded\?"),
    row(
        Device,
        "kernel module",
        r"(can't|cannot|could not|unable to|failed to) (access|load|find)\b.*\bkernel module",
    ),
    row(
        Device,
        "kernel",
        r"kernel (support|module|modules).*(not|missing|unavailable)|not supported by (the|this|your) kernel",
    ),
    row(Device, "function not implemented", r"function not implemented"),
    row(
        Resource,
        "home",
        r"\$?HOME (environment variable )?(is )?(not set|unset|not defined)|(cannot|can't|could not|unable to) (find|determine|create|write).*home",
    ),
    row(
        Resource,
        "environment variable",
        r"environment variable .*(not set|unset|undefined|must be set|is required|missing)",
    ),
    row(Resource, "environment variable", r"\bset (the |your )?\$?\w+ environment variable to\b"),
    row(
        Resource,
        "not set in the environment",
        r"\b[A-Z_]+ is (invalid or )?not set in the environment\b",
    ),
    row(Resource, "utf-8", r"\b(requires?|needs?) an? UTF-8( native)? (locale|environment)\b"),
    row(Resource, "please create", r"\bdoes not exist\b.{0,20}\bplease create\b"),
    row(Resource, "no alternatives for", r"\bno alternatives for \S+"),
    row(Privilege, "not designed for running", r"\bnot designed for running (in )?this way\b"),
    row(Resource, "no space left", r"no space left on device"),
    row(Resource, "memory", r"cannot allocate memory|out of memory"),
    row(Resource, "resource temporarily unavailable", r"resource temporarily unavailable"),
    row(Resource, "too many open files", r"too many open files"),
    row(Resource, "locale", r"(unsupported|cannot set|invalid|failed).*locale"),
];

pub(super) fn judge(reading: &Reading<'_>) -> Option<Judgement> {
    let evidence = find(reading, |_| true)?;
    Some(Judgement::new(Verdict::Environment, evidence))
}

/// Entries of lists, which describe and do not complain: options, and names of errors.
static LISTED: LineTable<()> = LineTable::new(&[
    row((), "-", r"^\s+--?[a-z0-9]"),
    row((), "e", r"^\s*(?-i:E[A-Z0-9]{2,})\s+\d+\s"),
]);

/// Whether a line complains about a missing display or terminal.
pub(super) fn lacks_screen(line: &Line) -> bool {
    let kinds = ENVIRONMENT.matches(line).map(|(kind, _)| kind);
    LISTED.find(line).is_none() && kinds.into_iter().any(|kind| matches!(kind, Display | Terminal))
}

/// Whether a line complains about the environment.
pub(super) fn is_complaint(line: &Line) -> bool {
    ENVIRONMENT.find(line).is_some()
}

/// The first line that complains about the environment, of the kinds that are asked for.
pub(super) fn find(
    reading: &Reading<'_>,
    wanted: impl Fn(EvidenceKind) -> bool,
) -> Option<Evidence> {
    let mut lines = reading.own_lines().filter(|(_, line)| LISTED.find(line).is_none());
    lines.find_map(|(_, line)| {
        let kind = ENVIRONMENT.matches(line).map(|(kind, _)| kind).find(|kind| wanted(*kind))?;
        Some(Evidence::new(kind, line.text.trim()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_can_be_used() {
        ENVIRONMENT.compile_all();
        LISTED.compile_all();
    }
}

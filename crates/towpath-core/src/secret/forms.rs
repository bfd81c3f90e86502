//! What a secret looks like where it turns up: as it is, and as the common ways of writing a value
//! leave it (JSON, URLs, markup, base64, hexadecimal, shell quotes, single lines of a longer one).
//! Who wants to carry a secret out can always invent another; this is against accidents.

use super::SHORTEST_SECRET;
use std::collections::BTreeSet;

/// A line of a longer secret, or a piece of an encoding, is masked from this length on.
const SHORTEST_PIECE: usize = 8;
/// Where `base64` breaks its lines.
const BASE64_LINE: usize = 76;

/// All forms of all secrets, by their first byte, the longest first.
pub(super) struct Forms {
    by_first: Vec<Vec<Form>>,
}

pub(super) struct Form {
    pub bytes: Vec<u8>,
    /// Whose form it is, by its place in the list.
    pub secret: usize,
}

impl Forms {
    pub fn of<'a>(values: impl Iterator<Item = &'a [u8]>) -> Forms {
        let mut by_first: Vec<Vec<Form>> = (0..256).map(|_| Vec::new()).collect();
        for (secret, value) in values.enumerate() {
            for bytes in forms(value) {
                by_first[usize::from(bytes[0])].push(Form { bytes, secret });
            }
        }
        for forms in &mut by_first {
            forms.sort_by_key(|form| std::cmp::Reverse(form.bytes.len()));
        }
        Forms { by_first }
    }

    /// Whether some form begins with this byte.
    pub fn begins(&self, byte: u8) -> bool {
        !self.by_first[usize::from(byte)].is_empty()
    }

    /// The longest form that this text begins with.
    pub fn whole(&self, text: &[u8]) -> Option<&Form> {
        let forms = &self.by_first[usize::from(*text.first()?)];
        forms.iter().find(|form| text.starts_with(&form.bytes))
    }

    /// Whether this whole text is the beginning of a longer form.
    pub fn open(&self, text: &[u8]) -> bool {
        let Some(first) = text.first() else { return false };
        let longer = |form: &&Form| form.bytes.len() > text.len();
        let mut forms = self.by_first[usize::from(*first)].iter().take_while(longer);
        forms.any(|form| form.bytes.starts_with(text))
    }
}

fn forms(value: &[u8]) -> BTreeSet<Vec<u8>> {
    let mut forms = BTreeSet::new();
    // `$(…)` and many programs drop the space around a value.
    for text in [value, value.trim_ascii()] {
        forms.extend(written(text));
        forms.extend(encoded(text));
        forms.extend(encoded(&[text, b"\n"].concat()));
    }
    let lines = value.split(|b| *b == b'\n').map(<[u8]>::trim_ascii);
    for line in lines.filter(|line| line.len() >= SHORTEST_PIECE) {
        forms.extend(written(line));
    }
    forms.retain(|form| form.len() >= SHORTEST_SECRET);
    forms
}

/// As text, in the quotes of one language or another.
fn written(value: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = vec![value.to_owned()];
    forms.push(escaped(value, &|byte| (byte == b'\'').then_some(r"'\''".into())));
    forms.push(escaped(value, &|byte| b"\"\\$`".contains(&byte).then(|| backslash(byte))));
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || b"@%+=:,./_-".contains(&byte);
    forms.push(escaped(value, &|byte| (byte.is_ascii() && !bare(byte)).then(|| backslash(byte))));
    forms.push(escaped(value, &|byte| markup(byte, "&#39;")));
    forms.push(escaped(value, &|byte| markup(byte, "&#x27;")));
    let json = json(&String::from_utf8_lossy(value));
    let ascii = ascii(&json);
    // A text that holds JSON, put into JSON: what an agent tells of a program's output.
    forms.push(self::json(&json).into_bytes());
    for json in [json, ascii] {
        forms.push(json.replace('/', "\\/").into_bytes());
        let tags = json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
        forms.push(tags.into_bytes());
        forms.push(json.into_bytes());
    }
    for also_plain in ["-_.~", "-_.!~*'()", "-_.~/"] {
        let upper = percent(value, also_plain);
        forms.push(upper.replace("%20", "+").into_bytes());
        forms.push(lower_percent(&upper).into_bytes());
        forms.push(upper.into_bytes());
    }
    forms
}

/// As data, whole or inside of more.
fn encoded(value: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    for table in [STANDARD, URL_SAFE] {
        let whole = base64(value, table);
        let padded = whole.clone() + &"=".repeat((4 - whole.len() % 4) % 4);
        let lines: Vec<&[u8]> = padded.as_bytes().chunks(BASE64_LINE).collect();
        forms.push(lines.join(&b'\n'));
        let long = lines.iter().filter(|line| line.len() >= SHORTEST_PIECE);
        forms.extend(long.map(|line| line.to_vec()));
        forms.push(padded.clone().into_bytes());
        // After `user:` or other bytes the characters are others, for each of the three ways in
        // which a value can lie in groups of three bytes.
        for (before, start) in [(0, 0), (1, 2), (2, 3)] {
            let shifted = base64(&[&b"\0\0"[..before], value].concat(), table);
            let end = (before + value.len()) * 8 / 6;
            let inner = shifted.as_bytes().get(start..end).unwrap_or_default();
            forms.extend((inner.len() >= SHORTEST_PIECE).then(|| inner.to_owned()));
        }
    }
    let hex: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
    forms.extend([hex.to_uppercase().into_bytes(), hex.into_bytes()]);
    forms
}

fn escaped(value: &[u8], escape: &dyn Fn(u8) -> Option<String>) -> Vec<u8> {
    let one = |byte: &u8| escape(*byte).map_or_else(|| vec![*byte], String::into_bytes);
    value.iter().flat_map(one).collect()
}

fn backslash(byte: u8) -> String {
    format!("\\{}", char::from(byte))
}

fn markup(byte: u8, apostrophe: &str) -> Option<String> {
    let name = match byte {
        b'&' => "&amp;",
        b'<' => "&lt;",
        b'>' => "&gt;",
        b'"' => "&quot;",
        b'\'' => apostrophe,
        _ => return None,
    };
    Some(name.to_owned())
}

/// Inside the quotes of JSON.
fn json(text: &str) -> String {
    let quoted = serde_json::to_string(text).expect("a text can be written as JSON");
    quoted[1..quoted.len() - 1].to_owned()
}

/// JSON as some programs write it, in ASCII alone.
fn ascii(json: &str) -> String {
    let mut out = String::new();
    for letter in json.chars() {
        if letter.is_ascii() && letter != '\u{7f}' {
            out.push(letter);
        } else {
            let units = letter.encode_utf16(&mut [0; 2]).to_vec();
            out.extend(units.iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    out
}

fn percent(value: &[u8], also_plain: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || also_plain.as_bytes().contains(&byte);
    let one = |byte: &u8| match plain(*byte) {
        true => char::from(*byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    value.iter().map(one).collect()
}

/// `%2f` for `%2F`.
fn lower_percent(text: &str) -> String {
    let mut parts = text.split('%');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (digits, rest) = part.split_at(2);
        out.extend(["%", &digits.to_lowercase(), rest]);
    }
    out
}

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL_SAFE: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Without padding.
fn base64(bytes: &[u8], table: &[u8; 64]) -> String {
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..=group.len() {
            out.push(char::from(table[(bits >> (18 - 6 * at)) as usize & 63]));
        }
    }
    out
}

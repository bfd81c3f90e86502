//! Which rules of a list a call may need, found without decoding the others.
//!
//! A row is a number made of what the rule is looked up by, and where the rule is. A rule whose
//! matches all contain some text is left out unless the first and the last three bytes of that text
//! occur in the call. Numbers may be the same by chance: then a rule is decoded that changes nothing.

use super::codec::{Decoder, Encoder};
use super::{Bytes, SnapshotError};
use crate::rule::Rule;
use crate::rule_index::{Lookup, Mentioned, parameter_tools};
use crate::tool_call::ToolCall;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::Range;

/// Where the rows of a list of rules are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Table {
    start: u64,
    rows: u64,
}

/// One row: `key`, `detail`, where the rule's JSON begins, and its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    key: u32,
    detail: u32,
    start: u32,
    length: u32,
}

const ROW: usize = 16;
/// More rules than this were not written by us.
const MOST_ROWS: u64 = 4 << 20;

/// The kinds of lookups, as the last two bits of a key.
const TOOL: u32 = 0;
const PARAMETER: u32 = 1;
const PROGRAM: u32 = 2;
const DIVIDED: u32 = 3;

impl Table {
    /// Appends the rules and their rows to a body that begins at `start` of the file.
    pub fn write(rules: &[Rule], body: &mut Vec<u8>, start: u64) -> Table {
        let mut rows = Vec::with_capacity(rules.len());
        for rule in rules {
            let Some(lookup) = Lookup::of(rule) else { continue };
            let (key, required) = match &lookup {
                Lookup::Tool(tool) => (key(TOOL, tool), &None),
                Lookup::Parameter { tool, required } => (key(PARAMETER, tool), required),
                Lookup::Program { program, required } => (key(PROGRAM, program), required),
                Lookup::Divided => (DIVIDED, &None),
            };
            let detail = required.as_deref().map_or(0, end_grams);
            let json = serde_json::to_vec(rule).expect("a rule has nothing but texts and numbers");
            let at = start + body.len() as u64;
            let (Ok(at), Ok(length)) = (u32::try_from(at), u32::try_from(json.len())) else {
                continue;
            };
            rows.push(Row { key, detail, start: at, length });
            body.extend(json);
        }
        rows.sort_unstable();
        let table = Table { start: start + body.len() as u64, rows: rows.len() as u64 };
        for row in rows {
            for number in [row.key, row.detail, row.start, row.length] {
                body.extend(number.to_le_bytes());
            }
        }
        table
    }

    pub fn encode(&self, head: &mut Encoder) {
        head.number(self.start);
        head.number(self.rows);
    }

    pub fn decode(head: &mut Decoder<'_>) -> Result<Table, SnapshotError> {
        let (start, rows) = (head.number()?, head.number()?);
        match rows > MOST_ROWS {
            true => Err(SnapshotError::Damaged),
            false => Ok(Table { start, rows }),
        }
    }

    /// The rules that a call may need, by their numbers.
    pub fn candidates<B: Bytes + ?Sized>(
        &self,
        bytes: &B,
        call: &ToolCall,
    ) -> Result<Vec<Rule>, SnapshotError> {
        if self.rows == 0 {
            return Ok(Vec::new());
        }
        let rows = Rows { bytes: self.read(bytes)? };
        let mut found: Vec<Row> = rows.with_key(key(TOOL, &call.tool)).collect();
        let mut grams = Grams::of(&call.input);
        found.extend(
            parameter_tools(call)
                .flat_map(|tool| rows.with_key(key(PARAMETER, tool)))
                .filter(|row| grams.may_contain(row.detail)),
        );
        if let Some((_, line)) = call.command() {
            found.extend(rows.with_key(DIVIDED));
            match Mentioned::in_line(line) {
                Mentioned::Anything => {
                    found.extend(rows.all().filter(|row| row.key & 3 == PROGRAM));
                }
                mentioned => {
                    let words = mentioned.words().map(|word| key(PROGRAM, word));
                    let keys: BTreeSet<u32> = words.collect();
                    grams.add(mentioned.plain());
                    let programs = keys.into_iter().flat_map(|key| rows.with_key(key));
                    found.extend(programs.filter(|row| grams.may_contain(row.detail)));
                }
            }
        }
        found.iter().map(|row| row.rule(bytes)).collect()
    }

    pub fn all<B: Bytes + ?Sized>(&self, bytes: &B) -> Result<Vec<Rule>, SnapshotError> {
        let rows = Rows { bytes: self.read(bytes)? };
        let mut rules: Vec<Rule> =
            rows.all().map(|row| row.rule(bytes)).collect::<Result<_, _>>()?;
        rules.sort_by_key(|rule| rule.number);
        Ok(rules)
    }

    fn read<B: Bytes + ?Sized>(&self, bytes: &B) -> Result<Vec<u8>, SnapshotError> {
        bytes.range(self.start, self.rows as usize * ROW).ok_or(SnapshotError::Damaged)
    }
}

impl Row {
    fn rule<B: Bytes + ?Sized>(&self, bytes: &B) -> Result<Rule, SnapshotError> {
        let json = bytes.range(u64::from(self.start), self.length as usize);
        json.and_then(|json| serde_json::from_slice(&json).ok()).ok_or(SnapshotError::Damaged)
    }
}

/// The rows as they are in the file, sorted.
struct Rows {
    bytes: Vec<u8>,
}

impl Rows {
    fn len(&self) -> usize {
        self.bytes.len() / ROW
    }

    fn number(&self, at: usize) -> u32 {
        let bytes = self.bytes.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        u32::from_le_bytes(bytes.expect("a row of the table has four numbers"))
    }

    fn row(&self, index: usize) -> Row {
        let at = index * ROW;
        Row {
            key: self.number(at),
            detail: self.number(at + 4),
            start: self.number(at + 8),
            length: self.number(at + 12),
        }
    }

    fn all(&self) -> impl Iterator<Item = Row> {
        (0..self.len()).map(|index| self.row(index))
    }

    fn with_key(&self, key: u32) -> impl Iterator<Item = Row> {
        self.starting_at(key).map(|index| self.row(index)).take_while(move |row| row.key == key)
    }

    /// The rows from the first with at least this key on.
    fn starting_at(&self, key: u32) -> Range<usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.number(middle * ROW) < key {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low..self.len()
    }
}

fn key(kind: u32, text: &str) -> u32 {
    (hash(text.as_bytes()) << 2) | kind
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// How many different numbers there are for three bytes.
const GRAMS: usize = 1 << 16;

/// The first and the last three bytes of a text as one number; zero for a text that is shorter.
fn end_grams(text: &str) -> u32 {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first_chunk::<3>(), bytes.last_chunk::<3>()) else {
        return 0;
    };
    gram(first) as u32 | (gram(last) as u32) << 16
}

fn gram(bytes: &[u8]) -> usize {
    let hash = hash(bytes);
    ((hash ^ (hash >> 16)) as usize) % GRAMS
}

/// Which three bytes follow each other anywhere in the texts of an input.
struct Grams {
    bits: Vec<u64>,
}

impl Grams {
    fn of(input: &Value) -> Grams {
        let mut grams = Grams { bits: vec![0; GRAMS / 64] };
        let texts = input.as_object().into_iter().flat_map(|fields| fields.values());
        texts.filter_map(Value::as_str).for_each(|text| grams.add(text));
        grams
    }

    fn add(&mut self, text: &str) {
        for bytes in text.as_bytes().windows(3) {
            let gram = gram(bytes);
            self.bits[gram / 64] |= 1 << (gram % 64);
        }
    }

    /// Whether a text with these ends may occur. It may where they are not known.
    fn may_contain(&self, end_grams: u32) -> bool {
        let occurs = |gram: usize| self.bits[gram / 64] & (1 << (gram % 64)) != 0;
        let gram = end_grams as usize;
        gram == 0 || occurs(gram % GRAMS) && occurs(gram / GRAMS)
    }
}

//! How the characters of a form may be written: as they are, in the escapes of JSON, C, bash, Python,
//! HTML and URLs, also nested, and with line breaks between them. A [`Thread`] is one way to read what
//! has come so far as the beginning of a form. It takes one byte at a time and becomes none, one or
//! several others; it remembers no text. So a stream is read once, wherever it is cut.

use super::encoded_forms::{Alphabet, Form, Forms};

/// Bytes between two characters of a form: escapes, a line break, indentation.
const LONGEST_GAP: u8 = 80;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Thread {
    form: u32,
    /// Bytes of the form that have been read.
    at: u32,
    within: Within,
    /// Bytes since the last of them.
    gap: u8,
    /// Where in the stream it began.
    pub start: u64,
    /// Where in the stream its last character ended.
    pub reach: u64,
}

/// What has been read of the next character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Within {
    Nothing,
    /// A line break, and perhaps indentation.
    Break,
    /// What separates the bytes of a hexadecimal dump.
    Separator,
    /// `0` of a `0x` there.
    Zero,
    Backslashes,
    Digits {
        of: Numeral,
        value: u32,
        count: u8,
    },
    /// The first half of a pair of UTF-16, `\ud83d`, and backslashes after it.
    HighSurrogate,
    Ampersand,
    /// So much of a name in [`ENTITIES`].
    Entity {
        index: u8,
        read: u8,
    },
    NumberSign,
    /// After a `'` that closed a quoted part: `'\''`, `'"'"'`, `''`, `'$'`.
    Closed,
    ClosedBackslash,
    ClosedDouble,
    ClosedDollar,
    /// The apostrophe is read; what follows opens the next quoted part.
    DoubleAgain,
    OpensAgain,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Numeral {
    /// `%c3`
    Percent,
    /// `\xc3`
    Byte,
    /// `\303`
    Octal,
    /// `\u00e4`
    Unit,
    /// The second half of a pair.
    LowUnit,
    /// `\U0001f600`
    Long,
    /// `\u{1f600}`
    Braced,
    /// `&#228;`
    Decimal,
    /// `&#xe4;`
    Hexadecimal,
}

const ENTITIES: [(&[u8], u8); 5] =
    [(b"amp;", b'&'), (b"lt;", b'<'), (b"gt;", b'>'), (b"quot;", b'"'), (b"apos;", b'\'')];

/// One byte on its way into a thread's successors.
struct Reading<'a> {
    thread: Thread,
    form: &'a Form,
    byte: u8,
    offset: u64,
    next: &'a mut dyn FnMut(Thread),
}

impl Thread {
    pub fn new(form: usize) -> Thread {
        let form = u32::try_from(form).expect("a process has fewer secrets");
        Thread { form, at: 0, within: Within::Nothing, gap: 0, start: 0, reach: 0 }
    }

    /// The same, begun at this offset of the stream by its first byte.
    pub fn begun(self, offset: u64) -> Thread {
        Thread { start: offset, reach: offset + 1, ..self }
    }

    /// Gives what it becomes by this byte, which is at `offset` of the stream.
    pub fn read(&self, forms: &Forms, byte: u8, offset: u64, next: &mut dyn FnMut(Thread)) {
        let thread = Thread { gap: self.gap + 1, ..*self };
        if thread.gap <= LONGEST_GAP {
            let form = forms.form(self.form as usize);
            Reading { thread, form, byte, offset, next }.read();
        }
    }

    /// The secret that has been read, if this is all of it.
    pub fn complete(&self, forms: &Forms) -> Option<usize> {
        let form = forms.form(self.form as usize);
        let read = self.at as usize == form.bytes.len() && self.within == Within::Nothing;
        read.then_some(form.secret)
    }

    /// Bytes of the form that have been read.
    pub fn length(&self) -> usize {
        self.at as usize
    }

    pub fn in_break(&self) -> bool {
        self.within == Within::Break
    }

    /// Whether two are the same from here on.
    pub fn same(&self, other: &Thread) -> bool {
        let ahead = |t: &Thread| (t.form, t.at, t.within, t.gap);
        ahead(self) == ahead(other)
    }
}

impl Reading<'_> {
    fn read(&mut self) {
        match (self.thread.within, self.byte) {
            (Within::Nothing | Within::Break | Within::Separator, _) => self.character(),
            (Within::Zero, b'x' | b'X') => self.turn(Within::Separator),
            (Within::Backslashes, _) => self.escape(),
            (Within::Digits { of, value, count }, _) => self.digit(of, value, count),
            (Within::HighSurrogate, b'\\') => self.turn(Within::HighSurrogate),
            (Within::HighSurrogate, b'u') => self.number(Numeral::LowUnit),
            (Within::Ampersand, b'#') => self.turn(Within::NumberSign),
            (Within::Ampersand, _) => self.entities(),
            (Within::Entity { index, read }, _) => self.entity(index, read),
            (Within::NumberSign, b'x' | b'X') => self.number(Numeral::Hexadecimal),
            (Within::NumberSign, _) => self.digit(Numeral::Decimal, 0, 0),
            (Within::Closed, b'\\') => self.turn(Within::ClosedBackslash),
            (Within::Closed, b'"') => self.turn(Within::ClosedDouble),
            (Within::Closed, b'$') => self.turn(Within::ClosedDollar),
            (Within::Closed | Within::ClosedDollar, b'\'') => self.turn(Within::Nothing),
            (Within::ClosedBackslash, b'\\') => self.turn(Within::ClosedBackslash),
            (Within::ClosedBackslash, b'"') => self.turn(Within::ClosedDouble),
            (Within::ClosedBackslash, b'\'') => self.apostrophe(Within::OpensAgain),
            (Within::ClosedDouble, b'\'') => self.apostrophe(Within::DoubleAgain),
            (Within::DoubleAgain, b'\\') => self.turn(Within::DoubleAgain),
            (Within::DoubleAgain, b'"') => self.turn(Within::OpensAgain),
            (Within::OpensAgain, b'\'') => self.turn(Within::Nothing),
            _ => {}
        }
    }

    /// The form's bytes that are still to come; one at least.
    fn expected(&self) -> u8 {
        self.form.bytes[self.thread.at as usize]
    }

    fn is_alphanumeric(&self) -> bool {
        self.expected().is_ascii_alphanumeric()
    }

    /// Whether anything writes the next byte in an escape. Letters and digits are sometimes written by
    /// their code, all of them alike; an encoding of an encoding is not looked for.
    fn has_escapes(&self) -> bool {
        self.form.alphabet == Alphabet::Text || !self.is_alphanumeric()
    }

    fn turn(&mut self, within: Within) {
        (self.next)(Thread { within, ..self.thread });
    }

    fn number(&mut self, of: Numeral) {
        self.turn(Within::Digits { of, value: 0, count: 0 });
    }

    /// So many bytes of the form are read.
    fn advance(&mut self, bytes: usize, within: Within) {
        let at = self.thread.at + bytes as u32;
        (self.next)(Thread { at, within, gap: 0, reach: self.offset + 1, ..self.thread });
    }

    fn if_byte(&mut self, byte: u8) {
        if self.form.is(self.thread.at as usize, byte) {
            // What follows a line's end may be indented.
            let last = self.thread.at as usize + 1 == self.form.bytes.len();
            let broken = byte == b'\n' && self.form.breaks() && !last;
            self.advance(1, if broken { Within::Break } else { Within::Nothing });
        }
    }

    fn if_scalar(&mut self, value: u32) {
        if let Ok(byte @ 0..=127) = u8::try_from(value) {
            self.if_byte(byte);
        } else if let Some(letter) = self.letter().filter(|letter| u32::from(*letter) == value) {
            self.advance(letter.len_utf8(), Within::Nothing);
        }
    }

    fn letter(&self) -> Option<char> {
        self.form.character(self.thread.at as usize)
    }

    /// Between two characters of the form.
    fn character(&mut self) {
        self.if_byte(self.byte);
        let (inside, text) = (self.thread.at > 0, self.form.alphabet == Alphabet::Text);
        match self.byte {
            b'\\' if inside || self.has_escapes() => self.turn(Within::Backslashes),
            b'%' if self.has_escapes() => self.number(Numeral::Percent),
            b'&' if self.has_escapes() => self.turn(Within::Ampersand),
            b'+' if text && self.expected() == b' ' => self.advance(1, Within::Nothing),
            b'\'' if text && (inside || self.expected() == b'\'') => self.turn(Within::Closed),
            b'\r' | b'\n' if inside => self.line_break(),
            b' ' | b'\t' if self.thread.within == Within::Break => self.turn(Within::Break),
            _ => self.separator(),
        }
    }

    fn line_break(&mut self) {
        if !self.form.breaks() {
            return;
        }
        self.turn(Within::Break);
        // Text is often broken at a blank, which is lost.
        if self.expected() == b' ' && (self.thread.at as usize) + 1 < self.form.bytes.len() {
            self.advance(1, Within::Break);
        }
    }

    /// `73:33`, `73 33`, `0x73, 0x33`.
    fn separator(&mut self) {
        let whole_bytes = self.thread.at > 0 && self.thread.at.is_multiple_of(2);
        if self.form.alphabet != Alphabet::Hexadecimal || !whole_bytes {
            return;
        }
        match (self.thread.within, self.byte) {
            (_, b' ' | b',' | b':' | b'-') => self.turn(Within::Separator),
            (Within::Separator | Within::Break, b'0') => self.turn(Within::Zero),
            _ => {}
        }
    }

    /// After one backslash or, where text was escaped twice, several.
    fn escape(&mut self) {
        let byte = self.byte;
        if !byte.is_ascii_alphanumeric() {
            self.if_byte(byte);
        }
        let named = match byte {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'a' => 7,
            b'b' => 8,
            b'e' | b'E' => 27,
            b'f' => 12,
            b'v' => 11,
            _ => 0,
        };
        if named != 0 {
            self.if_byte(named);
        }
        match byte {
            b'\\' => self.turn(Within::Backslashes),
            b'u' if self.has_escapes() => self.number(Numeral::Unit),
            b'U' if self.has_escapes() => self.number(Numeral::Long),
            b'x' if self.has_escapes() => self.number(Numeral::Byte),
            b'0'..=b'7' if self.has_escapes() => self.digit(Numeral::Octal, 0, 0),
            b'n' | b'r' | b'\n' | b'\r' if self.thread.at > 0 => self.line_break(),
            _ => {}
        }
    }

    fn digit(&mut self, of: Numeral, value: u32, count: u8) {
        let radix = match of {
            Numeral::Octal => 8,
            Numeral::Decimal => 10,
            _ => 16,
        };
        let ends = match of {
            Numeral::Percent | Numeral::Byte => 2,
            Numeral::Octal => 3,
            Numeral::Unit | Numeral::LowUnit => 4,
            // With leading zeros.
            Numeral::Long | Numeral::Braced | Numeral::Decimal | Numeral::Hexadecimal => 8,
        };
        let delimited = matches!(of, Numeral::Braced | Numeral::Decimal | Numeral::Hexadecimal);
        match char::from(self.byte).to_digit(radix) {
            Some(digit) if count < ends => {
                let (value, count) = (value * radix + digit, count + 1);
                if count < ends || delimited {
                    self.turn(Within::Digits { of, value, count });
                }
                if (count == ends && !delimited) || of == Numeral::Octal {
                    self.number_read(of, value);
                }
            }
            None if delimited && count > 0 && matches!(self.byte, b';' | b'}') => {
                self.number_read(of, value);
            }
            None if count == 0
                && self.byte == b'{'
                && matches!(of, Numeral::Unit | Numeral::Byte) =>
            {
                self.number(Numeral::Braced);
            }
            _ => {}
        }
    }

    fn number_read(&mut self, of: Numeral, value: u32) {
        let byte = u8::try_from(value);
        match (of, byte) {
            (Numeral::Percent, Ok(byte)) => {
                self.if_byte(byte);
                if byte == b'%' {
                    self.number(Numeral::Percent);
                }
            }
            (Numeral::Octal, Ok(byte)) => self.if_byte(byte),
            (Numeral::Byte, Ok(byte)) => {
                self.if_byte(byte);
                if byte > 127 {
                    self.if_scalar(value);
                }
            }
            (Numeral::Unit, _) if (0xd800..0xdc00).contains(&value) => {
                if self.surrogates().is_some_and(|[high, _]| u32::from(high) == value) {
                    self.turn(Within::HighSurrogate);
                }
            }
            (Numeral::LowUnit, _) => {
                if self.surrogates().is_some_and(|[_, low]| u32::from(low) == value) {
                    self.advance(4, Within::Nothing);
                }
            }
            _ => self.if_scalar(value),
        }
    }

    fn surrogates(&self) -> Option<[u16; 2]> {
        let mut units = [0; 2];
        (self.letter()?.encode_utf16(&mut units).len() == 2).then_some(units)
    }

    fn entities(&mut self) {
        for (index, (name, _)) in ENTITIES.iter().enumerate() {
            if name[0] == self.byte {
                self.turn(Within::Entity { index: index as u8, read: 1 });
            }
        }
    }

    fn entity(&mut self, index: u8, read: u8) {
        let (name, byte) = ENTITIES[usize::from(index)];
        if name[usize::from(read)] != self.byte {
            return;
        }
        if usize::from(read) + 1 < name.len() {
            return self.turn(Within::Entity { index, read: read + 1 });
        }
        self.if_byte(byte);
        if byte == b'&' {
            self.turn(Within::Ampersand);
        }
    }

    fn apostrophe(&mut self, within: Within) {
        if self.expected() == b'\'' {
            self.advance(1, within);
        }
    }
}

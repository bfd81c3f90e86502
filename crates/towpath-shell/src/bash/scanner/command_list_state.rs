//! How far a list of commands has been read: the compound commands that are open in it, the line
//! that is being read, and what may come next.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// A command begins here: reserved words count.
    Start,
    /// After an assignment or a redirection in front of a command.
    Prefix,
    /// After a command's name.
    Arguments,
    /// After a compound command.
    After,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Open {
    List,
    If,
    Loop,
    Case,
    Brace,
}

/// A list of commands, and the line of it that is being read.
pub struct Frame {
    pub open: Open,
    pub start: usize,
    /// A line of this list may begin: not on the line of `then` or of a pattern.
    pub fresh: bool,
    /// The `then` or `do` of the command was read.
    pub divided: bool,
    /// The first token of the line.
    pub first: Option<usize>,
}

pub struct CommandList {
    pub frames: Vec<Frame>,
    pub state: State,
    /// The command continues after a newline: after `&&`, `|` or a function's name.
    pub continues: bool,
    /// Where the first word of a command ended that may be a function's name.
    pub name_end: Option<usize>,
    /// A word that may be the name of a coprocess comes.
    pub coprocess: bool,
    /// After `!` or `time`, which are nothing without a command before a `)`.
    pub prefixed: bool,
    /// The body of a function comes, which must be a compound command.
    pub function: bool,
    /// After a `|`, where `!` cannot be.
    pub piped: bool,
    /// The command takes arrays as arguments.
    pub declares: bool,
    /// After a redirection: no array can follow, and no word if a compound command is before it.
    pub redirected: bool,
}

impl CommandList {
    /// `closed` where the list ends at a parenthesis: its first line is not a line of the text.
    pub fn new(start: usize, closed: bool) -> CommandList {
        let base = Frame { open: Open::List, start, fresh: !closed, divided: true, first: None };
        CommandList {
            frames: vec![base],
            state: State::Start,
            continues: false,
            name_end: None,
            coprocess: false,
            prefixed: false,
            function: false,
            piped: false,
            declares: false,
            redirected: false,
        }
    }

    pub fn top(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("the outermost list is only left by returning")
    }

    pub fn begin(&mut self) {
        self.state = State::Start;
        self.continues = false;
        self.name_end = None;
        (self.coprocess, self.prefixed, self.function) = (false, false, false);
        (self.piped, self.declares, self.redirected) = (false, false, false);
    }

    pub fn push(&mut self, open: Open, start: usize) {
        let divided = !matches!(open, Open::If | Open::Loop);
        self.frames.push(Frame { open, start, fresh: false, divided, first: None });
        self.begin();
    }

    /// A word that divides the command that is open: its line is not complete in itself.
    pub fn divide(&mut self) {
        let top = self.top();
        (top.fresh, top.divided, top.first) = (false, true, None);
        self.begin();
    }

    pub fn ended(&mut self) {
        self.begin();
        self.state = State::After;
    }
}

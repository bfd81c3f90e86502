//! Where the output of two steps meets on one stream: whether a line break must come between.

use towpath_core::StepPath;

/// How a stream ends at the moment.
#[derive(Debug, Default)]
pub struct LineBreak {
    /// The step whose line has not ended.
    open: Option<StepPath>,
    /// Others were running when it was written.
    amid_others: bool,
}

impl LineBreak {
    /// Notes that `bytes` of a step follow, and returns whether a line break must come first. Steps
    /// that run one after the other are joined as a shell would join them.
    pub fn meets(&mut self, step: &StepPath, bytes: &[u8], several: bool) -> bool {
        let others = self.open.as_ref().is_some_and(|owner| owner != step);
        let apart = others && (several || self.amid_others);
        let ended = bytes.last().is_none_or(|last| *last == b'\n');
        self.open = (!ended).then(|| step.clone());
        self.amid_others = several;
        apart
    }

    /// Whether the last line is this step's, and has not ended.
    pub fn is_open_for(&self, step: &StepPath) -> bool {
        self.open.as_ref() == Some(step)
    }

    /// Notes that a line of ours follows, and returns whether a line break must come first.
    pub fn ours(&mut self) -> bool {
        self.open.take().is_some()
    }
}

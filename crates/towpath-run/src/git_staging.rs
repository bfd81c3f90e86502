//! Staging: after an agent step that went well, what the agent changed is added to git's index. Only
//! what was clean before the step is staged, so that no unfinished work of the user gets in;
//! ignored files never are. A single step's files are staged before its hook, those of a group
//! once the whole group has ended. Outside of a git repository nothing happens.
//!
//! Before the step and after the staging git's index is written as a tree, whose id is in the record: the
//! difference between the two is what the step changed.

use crate::event::EventKind;
use crate::failure::Failure;
use crate::frame::{FrameState, StepAt};
use crate::job::{GIT_TIMEOUT, Job, JobWork};
use crate::job_end::{JobEnd, JobStatus};
use crate::progress::{Activity, Before, Progress, Staging};
use crate::run::Run;
use crate::step_result::StepStatus;
use std::ops::Range;
use std::sync::LazyLock;
use towpath_core::{JobKind, guarded_git};
use towpath_recipe::AgentWork;
use towpath_shell::{Filled, ShellText};

/// Not in a git repository, or there is no git.
const NO_GIT: i32 = 3;

/// Prints git's index as a tree, in a line that no path can be: paths of git are relative. A copy of the
/// index is written, so that no lock is needed; where that is not possible nothing is printed.
const PRINT_TREE: &str = "\
print_tree() {
  local index copy tree
  index=$(git rev-parse --git-path index) && copy=$(mktemp) || return 0
  if [ -e \"$index\" ]; then cp -- \"$index\" \"$copy\"; else rm -f -- \"$copy\"; fi &&
    tree=$(GIT_INDEX_FILE=$copy git write-tree) && printf '/tree %s\\n' \"$tree\"
  rm -f -- \"$copy\" \"$copy.lock\"
} 2>/dev/null
";

const TREE: &str = "/tree ";

/// The changed and new paths, each with git's two letters, quoted as git does; then the tree.
const SNAPSHOT: &str = "\
export GIT_OPTIONAL_LOCKS=0
git rev-parse --is-inside-work-tree >/dev/null 2>&1 || exit 3
git -c core.quotePath=true status --porcelain=v1 --untracked-files=all --no-renames || exit
print_tree";

/// Adds what is dirty now and was not before, and prints it, then the tree. What is in conflict is left alone, and
/// so is a repository within the repository. The index may be locked for a moment: by the staging of a step of
/// the same group, or by the user.
const GIT_ADD: &str = "\
export LC_ALL=C
before={{before}}
new=$(git -c core.quotePath=true status --porcelain=v1 --untracked-files=all --no-renames |
  grep -Ev '^(. |U|.U|AA|DD)' | cut -c4- | grep -v '/$' | sort | comm -13 <(printf '%s\\n' \"$before\" | sort) -)
if [ -n \"$new\" ]; then
  top=$(git rev-parse --show-toplevel) || exit
  for try in {1..50}; do
    error=$(printf '%s\\n' \"$new\" | GIT_LITERAL_PATHSPECS=1 git -C \"$top\" add --pathspec-from-file=- 2>&1) && break
    code=$?
    [[ $try -lt 50 && $error == *index.lock* ]] || { printf '%s\\n' \"$error\" >&2; exit $code; }
    sleep 0.1
  done
  printf '%s\\n' \"$new\"
fi
print_tree";

static SNAPSHOT_TEXT: LazyLock<ShellText> = LazyLock::new(|| guarded(SNAPSHOT));
static GIT_ADD_TEXT: LazyLock<ShellText> = LazyLock::new(|| guarded(GIT_ADD));

fn guarded(script: &str) -> ShellText {
    ShellText::parse(&(guarded_git() + PRINT_TREE + script)).expect("our own text is sound")
}

fn fill(text: &ShellText, before: Option<&[String]>) -> Filled {
    text.fill(&mut |_| before.map(|paths| paths.join("\n")))
        .expect("its one placeholder takes any text")
}

/// What git's index was before an agent step, or after its files were staged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexState {
    /// None: git could not write it, as while a merge is in conflict.
    pub tree: Option<String>,
    /// Before the step: the paths with changes that were not in the index, as git quotes them.
    pub changed: Vec<String>,
}

impl IndexState {
    /// What a job printed that looked at the index; none where it did not succeed.
    pub fn printed_by(kind: JobKind, end: &JobEnd) -> Option<IndexState> {
        let text = end.output.text().filter(|_| end.succeeded())?;
        let tree = text.lines().find_map(|line| line.strip_prefix(TREE)).map(str::to_owned);
        let is_outside = |line: &&str| line.get(1..2).is_some_and(|letter| letter != " ");
        let paths = text.lines().filter(|line| !line.starts_with(TREE)).filter(is_outside);
        let paths = paths.filter_map(|line| line.get(3..)).map(str::to_owned);
        let changed = if kind == JobKind::Snapshot { paths.collect() } else { Vec::new() };
        Some(IndexState { tree, changed })
    }
}

impl Run {
    pub(crate) fn adds_to_git(&self, agent: &AgentWork) -> bool {
        agent.auto_stage && !self.program.plan.no_auto_stage
    }

    pub(crate) fn want_snapshot(&mut self, at: StepAt, directory: String) {
        let activity = Activity::Snapshot { directory: directory.clone() };
        self.visit_mut(at).progress = Progress::Working(activity);
        self.want_git(at, JobKind::Snapshot, directory, fill(&SNAPSHOT_TEXT, None));
    }

    pub(crate) fn snapshot_finished(&mut self, at: StepAt, end: &JobEnd) {
        if end.status == JobStatus::Stopped {
            return self.fail(at, Failure::stopped());
        }
        let progress = std::mem::take(&mut self.visit_mut(at).progress);
        let Progress::Working(Activity::Snapshot { directory }) = progress else { return };
        let before = match (&end.status, end.output.text()) {
            (JobStatus::Exited(0), Some(text)) => {
                Before::Dirty { paths: self.not_ours(text), directory }
            }
            (JobStatus::Exited(NO_GIT), _) => Before::NoGit,
            _ => {
                self.warn_git(at, end);
                Before::NoGit
            }
        };
        self.visit_mut(at).before = Some(before);
        self.begin_work(at);
    }

    /// The dirty paths, without those that this run has staged and that are untouched since.
    fn not_ours(&self, status: &str) -> Vec<String> {
        let mut paths = Vec::new();
        for line in status.lines().filter(|line| !line.starts_with(TREE)) {
            let (Some(letters), Some(path)) = (line.get(..2), line.get(3..)) else { continue };
            let staged_by_us = letters.ends_with(' ') && self.staged.contains(path);
            if !staged_by_us {
                paths.push(path.to_owned());
            }
        }
        paths
    }

    /// Wants the files of a step staged, where it went well and they have not been; whether it does.
    pub(crate) fn want_git_add(&mut self, at: StepAt) -> bool {
        let open = self.frames[at.frame].state == FrameState::Open;
        let visit = self.visit_mut(at);
        let Some(Before::Dirty { paths, directory }) = &visit.before else { return false };
        let (filled, directory) = (fill(&GIT_ADD_TEXT, Some(paths)), directory.clone());
        let Some(end) = visit.progress.end_mut() else { return false };
        let status = &end.result.status;
        let well = matches!(status, StepStatus::Completed | StepStatus::Degraded { .. });
        if !(open && well && end.staging == Staging::No) {
            return false;
        }
        end.staging = Staging::Wanted;
        self.want_git(at, JobKind::GitAdd, directory, filled);
        true
    }

    /// Wants the files of a whole group staged; whether that is still under way.
    pub(crate) fn adds_group_to_git(&mut self, frame: usize, batch: Range<usize>) -> bool {
        let mut under_way = false;
        for step in batch {
            let at = StepAt::new(frame, step);
            self.want_git_add(at);
            let end = self.visit(at).progress.end();
            under_way |= end.is_some_and(|end| end.staging == Staging::Wanted);
        }
        under_way
    }

    /// A staging that was interrupted, or never ran, is forgotten.
    pub(crate) fn forget_staging(&mut self, at: StepAt) {
        if let Some(end) = self.visit_mut(at).progress.end_mut()
            && end.staging == Staging::Wanted
        {
            end.staging = Staging::No;
        }
    }

    /// A staging that was interrupted is wanted again.
    pub(crate) fn repeat_git_add(&mut self, at: StepAt) {
        self.forget_staging(at);
        self.want_git_add(at);
    }

    pub(crate) fn git_add_finished(&mut self, at: StepAt, end: &JobEnd) {
        if end.status == JobStatus::Stopped && self.frames[at.frame].state == FrameState::Open {
            return self.repeat_git_add(at);
        }
        if let Some(work) = self.visit_mut(at).progress.end_mut() {
            work.staging = Staging::Done;
        }
        match end.output.text().filter(|_| end.succeeded()) {
            Some(text) => self.note_staged(at, text),
            None => self.warn_git(at, end),
        }
        if matches!(self.visit(at).progress, Progress::Staging(_)) {
            self.after_work(at);
        }
    }

    fn note_staged(&mut self, at: StepAt, printed: &str) {
        let files = printed.lines().filter(|line| !line.starts_with(TREE));
        let files: Vec<String> = files.map(str::to_owned).collect();
        if !files.is_empty() {
            self.staged.extend(files.iter().cloned());
            let step = self.path(at);
            self.events.push(EventKind::Staged { step, files });
        }
    }

    fn warn_git(&mut self, at: StepAt, end: &JobEnd) {
        let what = end.status.describe(Some(GIT_TIMEOUT));
        // Git prints first what is wrong, then what one might do.
        let first = end.error.lines().find(|line| !line.trim().is_empty());
        let why = first.map_or(what.clone(), |line| format!("{what}: {line}"));
        let message = format!("what it changed is not staged in git: {why}");
        self.warn(at, message);
    }

    fn want_git(&mut self, at: StepAt, kind: JobKind, directory: String, filled: Filled) {
        let work = JobWork::Bash(filled);
        let job = Job::new(self.key(at, kind), work, directory, Some(GIT_TIMEOUT));
        self.ready.push((job, at));
    }
}

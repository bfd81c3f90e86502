//! Where foreign code first runs: build scripts and install scripts, in the sandbox, without network
//! unless a step asks for it, with the fetched files read-only and the install writable. Opened by
//! root, commands run as a user without rights; the install belongs to that user for so long, and is
//! root's again, without setuid bits, before anything is done with it.

use super::installed_programs::real_directory;
use super::registry_clients::{ClientOutput, PrintedLines, failure_message};
use super::source_context::{Progress, SourceContext};
use super::source_error::SourceError;
use rustix::process::geteuid;
use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt as _, lchown};
use std::path::{Path, PathBuf};
use std::time::Duration;
use towpath_process::sandbox::{
    CommandDirectory, Confinement, Limits, Policy, SandboxCommand, SandboxSession,
};

const BUILD_TIME: Duration = Duration::from_secs(60 * 60);
const OUTPUT_LIMIT: u64 = 64 << 20;
/// Linking a large program takes gigabytes.
const LIMITS: Limits =
    Limits { scratch_bytes: 4 << 30, memory_bytes: 16 << 30, processes: 4096, file_bytes: 8 << 30 };
/// The user that the sandbox gives up its rights to.
const NOBODY: u32 = 65534;
const SYSTEM_PATH: &[&str] =
    &["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];
/// Inside of an install, for what only the build needs.
const WORK: &str = ".build";

pub(super) struct BuildSandbox<'a, 'p> {
    context: &'a mut SourceContext<'p>,
    session: Option<SandboxSession>,
    install: PathBuf,
    drops_user: bool,
}

/// A command of a build.
pub(super) struct BuildCommand {
    /// How messages name it.
    pub name: &'static str,
    pub program: PathBuf,
    pub arguments: Vec<OsString>,
    /// Beside a PATH of the system's directories, and an empty home.
    pub variables: Vec<(&'static str, OsString)>,
    /// Before the system's directories.
    pub path: Vec<PathBuf>,
    /// Where it runs; an empty directory if there is none.
    pub directory: Option<PathBuf>,
}

impl<'a, 'p> BuildSandbox<'a, 'p> {
    /// A sandbox that sees `readable` and changes nothing but `install`.
    pub fn open(
        context: &'a mut SourceContext<'p>,
        readable: Vec<PathBuf>,
        install: &Path,
        network: bool,
    ) -> Result<BuildSandbox<'a, 'p>, SourceError> {
        // Where the sandbox does not make directories of its own, the user's parents of the install
        // would be closed for a user without rights.
        let namespaces =
            matches!(context.confinement, Confinement::Bubblewrap { .. } | Confinement::Namespaces);
        let drops_user = namespaces && geteuid().is_root();
        real_directory(install, WORK)?;
        let policy = Policy {
            readable,
            writable: vec![install.to_owned()],
            network,
            drop_user: drops_user,
            limits: LIMITS,
        };
        let mut sandbox =
            BuildSandbox { context, session: None, install: install.to_owned(), drops_user };
        sandbox.change_owner(NOBODY)?;
        let (confinement, own) = (&sandbox.context.confinement, &sandbox.context.own_program);
        sandbox.session = Some(SandboxSession::open(confinement, &policy, own)?);
        Ok(sandbox)
    }

    /// A directory for what only the build needs.
    pub fn work(&self) -> PathBuf {
        self.install.join(WORK)
    }

    pub fn progress(&mut self) -> &mut dyn Progress {
        &mut *self.context.progress
    }

    /// Runs a command, which must succeed. `line` sees what it prints.
    pub fn run(
        &mut self,
        command: BuildCommand,
        mut line: impl FnMut(&str, &mut SourceContext<'p>),
    ) -> Result<ClientOutput, SourceError> {
        let system = SYSTEM_PATH.iter().map(PathBuf::from);
        let path = std::env::join_paths(command.path.iter().cloned().chain(system));
        let path = path.map_err(|_| SourceError::NoFile("a directory with a colon".to_owned()))?;
        let fixed: [(&str, OsString); 4] = [
            ("PATH", path),
            ("LC_ALL", "C".into()),
            ("NO_COLOR", "1".into()),
            ("CI", "true".into()),
        ];
        let variables = fixed.into_iter().chain(command.variables);
        let request = SandboxCommand {
            program: command.program,
            arguments: command.arguments,
            environment: variables.map(|(name, value)| (name.into(), value)).collect(),
            directory: command.directory.map_or(CommandDirectory::Fresh, CommandDirectory::At),
            terminal: false,
            time_limit: BUILD_TIME,
            output_limit: OUTPUT_LIMIT,
        };
        let session = self.session.as_mut().expect("it is open until it is dropped");
        let (mut lines, context) = (PrintedLines::default(), &mut *self.context);
        let end = session.run(&request, &mut |stream, bytes| {
            lines.push(stream, bytes, &mut |text| line(text, context));
        })?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let output =
            ClientOutput { status: end.status, stdout: text(end.stdout), stderr: text(end.stderr) };
        if output.succeeded() {
            return Ok(output);
        }
        let message = failure_message(&output.stdout, &output.stderr);
        Err(SourceError::Client { client: command.name, status: output.status, message })
    }

    fn change_owner(&self, user: u32) -> Result<(), SourceError> {
        if !self.drops_user {
            return Ok(());
        }
        each_below(&self.install, &mut |path| lchown(path, Some(user), Some(user)))
            .map_err(SourceError::io(&self.install))
    }
}

impl Drop for BuildSandbox<'_, '_> {
    fn drop(&mut self) {
        // Everything in it ends before its files are looked at.
        self.session = None;
        let _ = fs::remove_dir_all(self.install.join(WORK));
        let _ = self.change_owner(0);
    }
}

/// Removes what no program of an install may have: the right to run as its owner or group.
pub(super) fn without_special_bits(install: &Path) -> Result<(), SourceError> {
    each_below(install, &mut |path| {
        let metadata = path.symlink_metadata()?;
        let mode = metadata.permissions().mode();
        match metadata.is_symlink() || mode & 0o7000 == 0 {
            true => Ok(()),
            false => fs::set_permissions(path, Permissions::from_mode(mode & 0o777)),
        }
    })
    .map_err(SourceError::io(install))
}

/// A directory and everything below it; links are not followed.
fn each_below(path: &Path, act: &mut dyn FnMut(&Path) -> io::Result<()>) -> io::Result<()> {
    act(path)?;
    if path.symlink_metadata()?.is_dir() {
        for entry in fs::read_dir(path)? {
            each_below(&entry?.path(), act)?;
        }
    }
    Ok(())
}

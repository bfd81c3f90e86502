//! The mechanisms that keep a command inside of its sandbox, strongest first, and what each of them
//! leaves open.

use super::landlock;
use super::policy::Policy;
use super::unprivileged_user::user_can_be_dropped;
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Confinement {
    /// Namespaces made by bubblewrap.
    Bubblewrap {
        #[serde(with = "towpath_core::os_text")]
        program: PathBuf,
    },
    /// The same namespaces, made by ourselves.
    Namespaces,
    /// The kernel's access rules for files, TCP and signals.
    Landlock,
    /// Nothing is kept from the command. All of its processes end with it all the same.
    None,
}

impl Confinement {
    pub fn as_str(&self) -> &'static str {
        match self {
            Confinement::Bubblewrap { .. } => "bubblewrap",
            Confinement::Namespaces => "namespaces",
            Confinement::Landlock => "landlock",
            Confinement::None => "none",
        }
    }

    /// Whether commands live in namespaces of their own, with the server as their first process.
    pub(super) fn has_namespaces(&self) -> bool {
        matches!(self, Confinement::Bubblewrap { .. } | Confinement::Namespaces)
    }

    /// What of the policy this mechanism does not enforce, each as the end of "it does not limit …".
    pub fn not_enforced(&self, policy: &Policy) -> Vec<&'static str> {
        let mut open = self.left_open(policy);
        let stays_root = policy.drop_user && geteuid().is_root();
        open.extend((stays_root && !user_can_be_dropped(self, policy)).then_some("root's rights"));
        open
    }

    fn left_open(&self, policy: &Policy) -> Vec<&'static str> {
        match self {
            Confinement::Bubblewrap { .. } | Confinement::Namespaces => Vec::new(),
            Confinement::Landlock => landlock::not_enforced(policy),
            Confinement::None => {
                let mut open = vec![
                    "reading files",
                    "writing files",
                    "the size of temporary files",
                    "signals to other processes",
                    "the view of other processes",
                    "messages to other programs",
                ];
                open.extend((!policy.network).then_some("the network"));
                open
            }
        }
    }
}

//! `[[steps]]`: one action each, with the parameters that this action has.

use super::check_values;
use super::keys::{ACTION_WORDS, ACTIONS, ANY_ACTION, ARCH, LIBC, OS, WHEN};
use super::read::{Keys, RecipeReader};
use crate::tool_recipe::{Action, InstallStep, Platform};
use towpath_core::fields::{FieldType, Subject};
use towpath_core::spanned_tree::{Entry, Node};

impl RecipeReader<'_> {
    pub fn steps(&mut self, entry: Option<&Entry>) -> Option<Vec<InstallStep>> {
        let entry = entry?;
        let nodes = self.fields.list(entry, FieldType::ListOf("steps"))?;
        if nodes.is_empty() {
            let message = "a recipe needs at least one step";
            self.fields.error("missing-field", message, entry.key_defined, "");
        }
        Some(nodes.iter().filter_map(|node| self.step(node)).collect())
    }

    fn step(&mut self, node: &Node) -> Option<InstallStep> {
        let row = self.kind(node, "action", "step", ACTIONS, ACTION_WORDS, ANY_ACTION)?;
        let keys = self.fields.fields(node, Subject::Noun(row.noun), row.keys)?;
        let when = keys.get("when").and_then(|entry| self.platform(&entry.value));
        let action = self.action(row.word, &keys)?;
        Some(InstallStep { action, when })
    }

    fn action(&mut self, word: &str, keys: &Keys<'_>) -> Option<Action> {
        match word {
            "download" => {
                let url = self.text(keys, "url", check_values::url);
                let sha256 = self.text(keys, "sha256", check_values::sha256);
                let file = self.text(keys, "file", check_values::inner_path);
                Some(Action::Download { url: url?, sha256: sha256?, file })
            }
            "extract" => {
                let file = self.text(keys, "file", check_values::inner_path);
                let strip = self.fields.number(keys.get("strip"), FieldType::Count);
                Some(Action::Extract { file: file?, strip: strip.unwrap_or(0) })
            }
            "install_binaries" => {
                let binaries = self.names(keys, "binaries", check_values::inner_path)?;
                let names = self.texts(keys, "as", check_values::tool_name).unwrap_or_default();
                self.one_name_each(keys);
                Some(Action::InstallBinaries { binaries, names })
            }
            "run" => {
                let command = self.names(keys, "command", check_values::plain);
                let network = self.fields.bool(keys.get("network")).unwrap_or(false);
                Some(Action::Run { command: command?, network })
            }
            _ => self.package_action(word, keys),
        }
    }

    /// `as` renames all or none: a list that is too short would leave open which ones.
    fn one_name_each(&mut self, keys: &Keys<'_>) {
        let length = |name| match &keys.get(name)?.value.kind {
            towpath_core::spanned_tree::Kind::List(items) => Some(items.len()),
            _ => None,
        };
        let (Some(entry), Some(names), Some(binaries)) =
            (keys.get("as"), length("as"), length("binaries"))
        else {
            return;
        };
        if names != binaries {
            let message = format!("`as` has {names} names for {binaries} binaries");
            self.fields.error("bad-value", message, entry.value.defined, "");
        }
    }

    /// The actions that install one package of a registry.
    fn package_action(&mut self, word: &str, keys: &Keys<'_>) -> Option<Action> {
        let package = self.text(keys, "package", check_values::package_name);
        let mut optional =
            |name| self.texts(keys, name, check_values::package_name).unwrap_or_default();
        match word {
            "cargo_install" => {
                let features = optional("features");
                Some(Action::CargoInstall { package: package?, features })
            }
            "pip_install" => {
                let extras = optional("extras");
                Some(Action::PipInstall { package: package?, extras })
            }
            _ => Some(Action::NpmInstall { package: package? }),
        }
    }

    /// A list that is not empty.
    fn names(
        &mut self,
        keys: &Keys<'_>,
        name: &str,
        check: check_values::Check,
    ) -> Option<Vec<String>> {
        let entry = keys.get(name)?;
        let names = self.texts(keys, name, check)?;
        if matches!(&entry.value.kind, towpath_core::spanned_tree::Kind::List(items) if items.is_empty())
        {
            let message = format!("`{name}` is empty");
            self.fields.error("bad-value", message, entry.value.defined, "");
        }
        Some(names)
    }

    fn platform(&mut self, node: &Node) -> Option<Platform> {
        let keys = self.fields.fields(node, Subject::Key("when"), WHEN)?;
        let os = self.fields.choice(keys.get("os"), OS);
        let arch = self.fields.choice(keys.get("arch"), ARCH);
        let libc = self.fields.choice(keys.get("libc"), LIBC);
        Some(Platform { os, arch, libc })
    }
}

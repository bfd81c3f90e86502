//! OpenCode has no hooks that are commands: a plugin calls ours. With a plugin OpenCode wants its own
//! package beside the configuration, and waits for the network until it is there, so it is named in
//! `package.json`. The plugin's file records whether we named it, so that removing takes it back.

use super::file_change::FileChange;
use super::json_edit::{Formatting, append, is_left_of_ours, new_file, remove};
use super::json_node::{Comments, JsonError, Node, parse};
use super::program::Program;
use serde_json::{Value, json};

const PLUGIN: &str = include_str!("plugin.js");
pub const PACKAGE: &str = "@opencode-ai/plugin";
const DEPENDENCIES: &str = "dependencies";
/// The line that the plugin has below its first one if `package.json` got the package from us.
const NAMED: &str = "// It also named @opencode-ai/plugin in ../package.json.\n";

/// Whether the plugin file's text is one of ours.
pub fn is_ours(text: &str) -> bool {
    text.lines().next() == PLUGIN.lines().next()
}

/// The program that a plugin file of ours starts.
pub fn program_in(text: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix("const program = "))?;
    serde_json::from_str(line.trim_end()).ok()
}

/// Adds the plugin and names its package, or takes both back.
pub fn edit(
    plugin: &mut FileChange,
    package: &mut FileChange,
    program: Option<&Program>,
) -> Result<(), JsonError> {
    let was_named = plugin.before.as_deref().is_some_and(|text| text.contains(NAMED));
    let Some(program) = program else {
        plugin.after = plugin.before.clone().filter(|_| plugin.text().is_none());
        if let (true, Some(text)) = (was_named, package.text()) {
            package.after = without_package(text)?;
        }
        return Ok(());
    };
    package.after = Some(with_package(package.text())?);
    let named = was_named || package.after != package.before;
    plugin.after = Some(plugin_text(program, named));
    Ok(())
}

fn plugin_text(program: &Program, named: bool) -> String {
    let program = format!("const program = {}", Value::from(program.name()));
    let text = PLUGIN.replacen("const program = \"towpath\"", &program, 1);
    match text.split_once('\n') {
        Some((first, rest)) if named => format!("{first}\n{NAMED}{rest}"),
        _ => text,
    }
}

fn with_package(text: Option<&str>) -> Result<String, JsonError> {
    let Some(text) = text else {
        return Ok(new_file(&json!({ DEPENDENCIES: { PACKAGE: "latest" } })));
    };
    let root = parse(text, Comments::Refused)?;
    let formatting = Formatting::of(text, &root);
    object(&root, "the file")?;
    match root.get(DEPENDENCIES) {
        None => {
            let value = json!({ PACKAGE: "latest" });
            Ok(append(text, &formatting, &root, Some(DEPENDENCIES), &value))
        }
        Some(dependencies) => {
            object(dependencies, "`dependencies`")?;
            match dependencies.get(PACKAGE) {
                Some(_) => Ok(text.to_owned()),
                None => {
                    Ok(append(text, &formatting, dependencies, Some(PACKAGE), &json!("latest")))
                }
            }
        }
    }
}

/// `None` if nothing is left of the file.
fn without_package(text: &str) -> Result<Option<String>, JsonError> {
    let root = parse(text, Comments::Refused)?;
    let Some(at) = root.position(DEPENDENCIES) else { return Ok(Some(text.to_owned())) };
    let dependencies = &root.children()[at].value;
    let Some(package) = dependencies.position(PACKAGE) else { return Ok(Some(text.to_owned())) };
    let edited = remove(text, dependencies, package);
    let now = parse(&edited, Comments::Refused)?;
    if !is_left_of_ours(&edited, &now.children()[at].value, text) {
        return Ok(Some(edited));
    }
    let edited = remove(&edited, &now, at);
    let now = parse(&edited, Comments::Refused)?;
    Ok((!is_left_of_ours(&edited, &now, text)).then_some(edited))
}

fn object(node: &Node, name: &str) -> Result<(), JsonError> {
    match node.is_object() {
        true => Ok(()),
        false => {
            let message = format!("{name} is {}, and must be an object", node.kind_name());
            Err(JsonError { at: node.span.start, message })
        }
    }
}

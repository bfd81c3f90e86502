//! Rules and corrections as they are stored.

use crate::support::*;
use towpath_corrections::{Correction, Rule, RuleKind};

#[test]
fn rules_and_corrections_have_a_stored_form() {
    let kinds = [
        command("grep", "rg"),
        flag("scp", "r", ""),
        literal("scp", "a", "b"),
        regex("a", "b"),
        recipe("gt x", "a\nb"),
        refuse("gt y"),
    ];
    let mut rules = numbered(&kinds);
    rules[0].message = Some("why".into());
    rules[1].enabled = false;
    let text = serde_json::to_string(&rules).unwrap();
    assert_eq!(serde_json::from_str::<Vec<Rule>>(&text).unwrap(), rules);
    let table = std::collections::BTreeMap::from([("rule", rules.clone())]);
    let text = toml::to_string(&table).unwrap();
    let back: std::collections::BTreeMap<String, Vec<Rule>> = toml::from_str(&text).unwrap();
    assert_eq!(back["rule"], rules);
    let short: Rule = toml::from_str("number = 1\nkind = 'recipe'\nfrom = 'a'\nto = 'b'").unwrap();
    assert!(short.enabled && matches!(short.kind, RuleKind::Recipe { template: true, .. }));
    let correction = corrected("grep a", numbered(&kinds[..1]));
    let text = serde_json::to_string(&correction).unwrap();
    assert_eq!(serde_json::from_str::<Correction>(&text).unwrap(), correction);
}

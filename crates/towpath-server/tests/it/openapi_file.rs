//! `openapi.json` describes exactly the addresses that the router has.

use serde_json::Value;
use std::collections::BTreeSet;
use towpath_server::ROUTES;

fn file() -> Value {
    let text = include_str!("../../openapi.json");
    serde_json::from_str(text).expect("openapi.json is JSON")
}

#[test]
fn the_file_has_every_address_and_no_other() {
    let file = file();
    let mut described = BTreeSet::new();
    for (path, methods) in file["paths"].as_object().expect("addresses") {
        for (method, operation) in methods.as_object().expect("methods") {
            described.insert((method.to_uppercase(), path.clone()));
            let names = |part: &str| -> BTreeSet<String> {
                let parts = part.split('{').skip(1).filter_map(|rest| rest.split('}').next());
                parts.map(str::to_owned).collect()
            };
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let in_path = parameters.filter(|parameter| parameter["in"] == "path");
            let in_path: BTreeSet<String> =
                in_path.map(|p| p["name"].as_str().expect("a name").to_owned()).collect();
            assert_eq!(in_path, names(path), "{method} {path}");
        }
    }
    let routed: BTreeSet<(String, String)> = ROUTES
        .iter()
        .map(|route| (route.method.to_owned(), route.path.replace("{*", "{")))
        .collect();
    assert_eq!(described, routed);
}

#[test]
fn every_reference_leads_to_a_schema() {
    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    match value.as_str().filter(|_| key == "$ref") {
                        Some(reference) => drop(found.insert(reference.to_owned())),
                        None => references(value, found),
                    }
                }
            }
            Value::Array(list) => list.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }
    let file = file();
    let mut found = BTreeSet::new();
    references(&file, &mut found);
    assert!(found.len() > 10, "{found:?}");
    for reference in found {
        let pointer = reference.strip_prefix('#').expect("a reference into this file");
        assert!(file.pointer(pointer).is_some(), "{reference}");
    }
}

#[test]
fn the_page_of_the_interface_has_every_address() {
    let page = include_str!("../../../../docs/api.md");
    for route in ROUTES {
        let path = route.path.strip_prefix("/api/v1/").expect("version 1");
        let names = [
            ("{run}", "ID"),
            ("{*step}", "STEP"),
            ("{output}", "OUTPUT"),
            ("{job}", "JOB"),
            ("{other}", "OTHER"),
            ("{name}", "NAME"),
        ];
        let path =
            names.iter().fold(path.to_owned(), |path, (hole, name)| path.replace(hole, name));
        assert!(page.contains(&path), "{path}");
    }
}

//! The results of all cases, and of the mutations, as one JSON value.

use crate::case_runner::CaseResult;
use crate::mutation::Mutant;
use crate::problem::Problem;
use crate::tested_recipe::TestedRecipe;
use serde_json::{Value, json};

/// `mutants` by file, where the recipes were mutated.
pub fn results_json(
    subjects: &[TestedRecipe],
    results: &[Vec<Option<CaseResult>>],
    mutants: Option<&[Vec<Mutant>]>,
) -> Value {
    let mut files = Vec::new();
    for (index, (subject, results)) in subjects.iter().zip(results).enumerate() {
        let cases = subject.suite.cases.iter().zip(results);
        let cases: Vec<Value> = cases
            .filter_map(|(case, result)| Some(case_json(&case.name, result.as_ref()?)))
            .collect();
        let name = &subject.suite.source.name;
        let mut file = json!({ "file": name, "recipe": subject.recipe(), "cases": cases });
        if let Some(mutants) = mutants {
            file["mutations"] = mutants[index].iter().map(mutant_json).collect();
        }
        files.push(file);
    }
    let all = results.iter().flatten().flatten();
    let failed = all.clone().filter(|result| !result.passed()).count();
    let unnoticed = mutants.into_iter().flatten().flatten().filter(|m| m.noticed_by.is_none());
    json!({
        "schema": 1,
        "success": failed == 0 && unnoticed.count() == 0,
        "passed": all.count() - failed,
        "failed": failed,
        "files": files,
    })
}

fn mutant_json(mutant: &Mutant) -> Value {
    let Mutant { change, ran, noticed_by } = mutant;
    let mut object = json!({ "step": change.step(), "ran": ran, "noticed_by": noticed_by });
    if let Some(outcome) = change.outcome() {
        object["outcome"] = json!(outcome);
    }
    object
}

fn case_json(name: &str, result: &CaseResult) -> Value {
    let problems: Vec<Value> = result.problems.iter().map(Problem::json).collect();
    let mut case = json!({
        "name": name,
        "status": if result.passed() { "passed" } else { "failed" },
        "duration": result.took.as_millis() as f64 / 1000.0,
        "problems": problems,
    });
    if !result.warnings.is_empty() {
        case["warnings"] = json!(result.warnings);
    }
    if let Some(directory) = &result.directory {
        case["directory"] = json!(directory.to_string_lossy());
    }
    case
}

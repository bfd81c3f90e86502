//! Every condition that the pages print, asked twice by the program: once with values for which most
//! of them are true, once with values for which most do not.

use super::runner;
use crate::support::User;

const MOSTLY_TRUE: &str =
    "{analysis: found, status: success, count: 5, exit_code: 0, skip_tests: false,
  has_tests: true, use_cache: false, force_rebuild: true, skip: false, output: an error here,
  roles: [admin, dev], items: [a], retry_count: '2', result: {status: ok}, score_a: 70, score_b: 85,
  name: test_login, filename: a.py, input: '  YES ', path: '\\home\\ann', csv_line: 'a,b,c,d',
  message: a WARNING, log_output: fine, response: {data: {count: 3}}, optional_feature: 'on',
  config: {verbose: true}, debug_output: x, retries: 1, force: false, value: ok, branch: main,
  tests_passed: true, review_result: {approved: true}, environment: staging, notify: true,
  strict: false, ci_result: all PASS, audit_result: PASS}";

const MOSTLY_FALSE: &str = "{analysis: '', status: error, count: 0, exit_code: 1, skip_tests: true,
  has_tests: true, use_cache: false, force_rebuild: false, skip: true, output: fine, roles: [dev],
  items: [], retry_count: '3', result: {}, score_a: 1, score_b: 2, name: login, filename: a.rs,
  input: 'no', path: C, csv_line: 'a,b', message: fine, log_output: an ERROR,
  response: {data: {count: 0}}, config: {verbose: false}, debug_output: '', retries: 5,
  value: disabled, branch: next, tests_passed: false, review_result: {}, environment: local,
  notify: false, strict: true, ci_result: FAIL, audit_result: ''}";

/// As it is in YAML, and whether it is true the first and the second time.
const CONDITIONS: &[(&str, bool, bool)] = &[
    (r#""analysis""#, true, false),
    (r#""true""#, true, true),
    (r#""false""#, false, false),
    (r#""status == 'success'""#, true, false),
    (r#""status != 'error'""#, true, false),
    (r#""status.lower() == 'success'""#, true, false),
    (r#""count > 0""#, true, false),
    (r#""count > 0 and count < 10""#, true, false),
    (r#""int(exit_code) == 0""#, true, false),
    (r#""not skip_tests""#, true, false),
    (r#""has_tests and not skip_tests""#, true, false),
    (r#""use_cache or force_rebuild""#, true, false),
    (r#""(status == 'success' or status == 'partial') and not skip""#, true, false),
    (r#""'error' in output""#, true, false),
    (r#""'error' not in output""#, false, true),
    (r#""'admin' in roles""#, true, false),
    (r#""len(items) > 0""#, true, false),
    (r#""int(retry_count) < 3""#, true, false),
    (r#""bool(result)""#, true, false),
    (r#""max(score_a, score_b) >= 80""#, true, false),
    (r#""name.startswith('test_')""#, true, false),
    (r#""filename.endswith('.py')""#, true, false),
    (r#""input.strip().lower() == 'yes'""#, true, false),
    // Not between YAML's double quotes, as the page has it: see what cannot work as printed.
    (r"path.replace('\\', '/').startswith('/home')", true, false),
    (r#""len(csv_line.split(',')) > 3""#, true, false),
    (r#""message.find('WARNING') >= 0""#, true, false),
    (r#""log_output.count('ERROR') == 0""#, true, false),
    (r#""result.status == 'ok'""#, true, false),
    (r#""response.data.count > 0""#, true, false),
    (r#""optional_feature""#, true, false),
    (r#""config.verbose and len(debug_output) > 0""#, true, false),
    (r#""exit_code == '0'""#, true, false),
    (r#"'status == "success" and (retries < 3 or force == true)'"#, true, false),
    (r#"'name.startswith("test_")'"#, true, false),
    (r#"'value not in "blocked,disabled"'"#, true, false),
    (r#""branch == 'main' and tests_passed == 'true'""#, true, false),
    (r#""review_result.approved == true""#, true, false),
    (r#""review_result.approved != true""#, false, true),
    (r#""environment != 'local'""#, true, false),
    (r#""notify == 'true'""#, true, false),
    (r#""strict == 'true'""#, false, true),
    (r#""strict != 'true'""#, true, false),
    (r#""ci_result and 'PASS' in ci_result""#, true, false),
    (r#""'PASS' in audit_result""#, true, false),
];

#[test]
fn every_condition_of_the_pages_has_the_value_that_they_state() {
    for (context, second) in [(MOSTLY_TRUE, false), (MOSTLY_FALSE, true)] {
        let mut recipe = format!("name: conditions\ncontext: {context}\nsteps:\n");
        for (index, (condition, ..)) in CONDITIONS.iter().enumerate() {
            recipe.push_str(&format!(
                "  - id: c{index}\n    command: 'true'\n    condition: {condition}\n"
            ));
        }
        let user = User::new().file("conditions.yaml", &recipe);
        let printed = runner(&user, &["conditions.yaml", "--output-format", "json"]).exits(0);
        let json = printed.json();
        for (index, (condition, first_time, second_time)) in CONDITIONS.iter().enumerate() {
            let is_true = if second { second_time } else { first_time };
            let expected = if *is_true { "completed" } else { "skipped" };
            assert_eq!(json["steps"][index]["status"], expected, "{condition} {second}");
        }
    }
}

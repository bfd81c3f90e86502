//! The JSON in a text: what is found is found again in its own serialisation, alone, in a fence and
//! in prose.

use towpath_core::extract_json;

pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Some(found) = extract_json(&text) else { return };
    let written = found.to_string();
    assert_eq!(extract_json(&written).as_ref(), Some(&found), "alone");
    let fenced = format!("So it is:\n\n```json\n{written}\n```\nThat is all.\n");
    assert_eq!(extract_json(&fenced).as_ref(), Some(&found), "in a fence");
    // A fence within the value would be looked at first.
    if (found.is_object() || found.is_array()) && !written.contains("```") {
        let prose = format!("So it is: {written} That is all.");
        assert_eq!(extract_json(&prose).as_ref(), Some(&found), "in prose");
    }
}

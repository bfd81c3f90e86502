//! No secret survives in what is recorded, however it is written.

use proptest::prelude::*;
use serde_json::json;
use towpath_corrections::masking::Masking;

/// Where a secret is written, with `@` for it.
const POSITIONS: &[&str] = &[
    "curl -H 'Authorization: Bearer @' https://example.com/a",
    "curl -H \"authorization: Basic @\" https://example.com",
    "curl -H 'X-Api-Key: @' https://example.com",
    "curl -u user:@ https://example.com",
    "curl --user user:@ https://example.com",
    "git clone https://user:@@host.example/a.git",
    "psql postgres://shop:@@localhost/shop -c 'select 1'",
    "tool --password @ --verbose",
    "tool --password=@ --verbose",
    "tool --api-key '@' x",
    "GITHUB_TOKEN=@ gh pr list",
    "export AWS_SECRET_ACCESS_KEY=@; aws s3 ls",
    "curl -d '{\"user\":\"a\",\"password\":\"@\"}' https://example.com",
    "curl -d \"{\\\"client_secret\\\": \\\"@\\\"}\" https://example.com",
    "wget 'https://example.com/a?token=@&x=1'",
    "mysql -u root -p@ shop",
    "sshpass -p @ ssh host",
    "openssl enc -aes-256-cbc -k @ -in f",
    "openssl rsa -passin pass:@ -in f",
    "docker login -u me -p @ registry.example",
    "error: login failed: password=@",
    "{\n  \"token\": \"@\"\n}",
];

const SHAPED: &[&str] = &[
    "ghp_[A-Za-z0-9]{36}",
    "github_pat_[A-Za-z0-9_]{40}",
    "glpat-[A-Za-z0-9_-]{20}",
    "sk-ant-api03-[A-Za-z0-9_-]{40}",
    "sk_live_[A-Za-z0-9]{24}",
    "xoxb-[0-9]{10}-[A-Za-z0-9]{20}",
    "AKIA[0-9A-Z]{16}",
    "AIza[0-9A-Za-z_-]{35}",
    "eyJ[A-Za-z0-9_-]{20}\\.[A-Za-z0-9_-]{30}\\.[A-Za-z0-9_-]{20}",
    "npm_[A-Za-z0-9]{36}",
    "hf_[A-Za-z0-9]{34}",
];

fn shaped() -> impl Strategy<Value = String> {
    prop::sample::select(SHAPED).prop_flat_map(|pattern| {
        prop::string::string_regex(pattern).expect("a pattern of the table")
    })
}

proptest! {
    #[test]
    fn nothing_survives_where_a_password_belongs(
        position in prop::sample::select(POSITIONS),
        secret in "[A-Za-z0-9][A-Za-z0-9_.+~-]{7,30}",
    ) {
        let masked = Masking::default().text(&position.replacen('@', &secret, 1));
        prop_assert!(!masked.contains(&secret), "{masked}");
        prop_assert!(masked.contains("***"));
    }

    #[test]
    fn no_token_of_a_known_shape_survives(
        before in "[ -~]{0,20}",
        secret in shaped(),
        after in "[ -~]{0,20}",
    ) {
        let masked = Masking::default().text(&format!("{before} {secret} {after}"));
        prop_assert!(!masked.contains(&secret), "{masked}");
    }

    #[test]
    fn no_value_of_the_environment_survives(
        before in "[ -~]{0,40}",
        secret in "[!-~]{6,40}",
        after in "[ -~]{0,40}",
    ) {
        let masking = Masking::new([("SHOP_TOKEN", secret.as_str()), ("LANG", "C.UTF-8")]);
        let text = format!("{before}{secret}{after} C.UTF-8");
        let masked = masking.text(&text);
        prop_assert!(!masked.contains(&secret) || "***".contains(&secret), "{masked}");
        let mut value = json!({ "command": text, "env": [{ "password": secret }] });
        masking.value(&mut value);
        prop_assert!(!value.to_string().contains(&secret), "{value}");
    }

    #[test]
    fn any_text_can_be_masked_twice(text in "\\PC{0,80}") {
        let masking = Masking::default();
        let masked = masking.text(&text);
        prop_assert_eq!(masking.text(&masked), masked);
    }
}

#[test]
fn a_quoted_secret_with_blanks_and_signs_is_masked_as_a_whole() {
    let masking = Masking::default();
    for text in [
        "tool --password 'a b;c&d' x",
        "tool --password \"a b;c\\\"&d\" x",
        "tool --password=a\\ b x",
        "tool --password 'a'\"b;\"c x",
    ] {
        assert_eq!(masking.text(text).replace('=', " "), "tool --password *** x");
    }
}

#[test]
fn a_private_key_is_masked_as_a_whole() {
    let key =
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1r\n-----END OPENSSH PRIVATE KEY-----";
    let masked = Masking::default().text(&format!("cat <<E > k\n{key}\nE"));
    assert_eq!(masked, "cat <<E > k\n***\nE");
}

//! Which variables of our own environment an agent may see. When we ourselves were started by an
//! agent, that agent's session marks must not reach the one we start: it would think that it is
//! nested and refuse, or use its parent's sockets and tokens. What the user set to configure the
//! program stays. Nothing here knows values, only names.

/// Marks of a running session. A trailing `*` matches any ending.
const SESSION_MARKS: &[&str] = &[
    "AI_AGENT",
    "CLAUDECODE",
    "CLAUDE_AGENT_SDK_VERSION",
    "CLAUDE_BG_*",
    "CLAUDE_BRIDGE_*",
    "CLAUDE_CODE_*",
    "CLAUDE_EFFORT",
    "CLAUDE_ENV_FILE",
    "CLAUDE_JOB_DIR",
    "CLAUDE_PID",
    "CLAUDE_PLUGIN_DATA",
    "CLAUDE_PLUGIN_ROOT",
    "CLAUDE_PROJECT_DIR",
    "CLAUDE_SESSION_ID",
    "CODEX_APPLY_PATCH_PRESERVE_LINE_ENDINGS",
    "CODEX_CI",
    "CODEX_MANAGED_*",
    "CODEX_SESSION_ID",
    "CODEX_THREAD_ID",
    "CODEX_TOOL_CALL_ID",
    "CODEX_VERSION",
    "COPILOT_AGENT_SESSION_ID",
    "COPILOT_CLI",
    "COPILOT_CLI_BINARY_VERSION",
    "COPILOT_CLI_RESOLVED_DIST_DIR",
    "COPILOT_LOADER_PID",
    "COPILOT_PROJECT_DIR",
    "CURSOR_AGENT",
    "GEMINI_CLI",
    "GEMINI_PROJECT_DIR",
    "GEMINI_SESSION_ID",
    "OPENCODE",
    "OPENCODE_PID",
];

/// The user's own settings among `CLAUDE_CODE_*`, by what follows that prefix. Most are families:
/// new members appear with every release, new families seldom. A `*` at either end matches
/// anything.
const SETTINGS: &[&str] = &[
    // Which service answers, and how we prove who we are.
    "API_BASE_URL",
    "API_KEY_HELPER_TTL_MS",
    "CERT_STORE",
    "CLIENT_CERT",
    "CLIENT_KEY",
    "CLIENT_KEY_PASSPHRASE",
    "CUSTOM_OAUTH_URL",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "OAUTH_REFRESH_TOKEN",
    "OAUTH_SCOPES",
    "OAUTH_TOKEN",
    "PROXY_*",
    "SKIP_*",
    "USE_*",
    // Limits, retries and waiting.
    "AUTO_COMPACT_*",
    "BLOCKING_LIMIT_OVERRIDE",
    "FILE_READ_*",
    "GLOB_*",
    "IDLE_*",
    "MAX_*",
    "NONSTREAMING_TIMEOUT_RETRIES",
    "OVERLOADED_RETRY_*",
    "RETRY_WATCHDOG*",
    "STOP_HOOK_BLOCK_CAP",
    "*_TIMEOUT",
    "*_TIMEOUT_MS",
    // How it works and what it reports.
    "ADDITIONAL_DIRECTORIES_CLAUDE_MD",
    "ALWAYS_ENABLE_EFFORT",
    "ATTRIBUTION_HEADER",
    "DEBUG_*",
    "DISABLE_*",
    "EFFORT_LEVEL",
    "ENABLE_*",
    "ENHANCED_TELEMETRY_BETA",
    "EXPERIMENTAL_*",
    "EXTRA_BODY",
    "EXTRA_METADATA",
    "GIT_BASH_PATH",
    "NO_MODEL_FALLBACK",
    "OTEL_*",
    "PERFORCE_MODE",
    "PLUGIN_*",
    "PROMPT_CACHE_TTL",
    "SAFE_MODE",
    "SHELL",
    "SHELL_PREFIX",
    "SIMPLE",
    "SIMPLE_SYSTEM_PROMPT",
    "SUBAGENT_*",
    "SUBPROCESS_ENV_SCRUB",
    "TMPDIR",
];

/// Is a variable handed to an agent program?
pub(crate) fn keeps(variable: &str) -> bool {
    if let Some(rest) = variable.strip_prefix("CLAUDE_CODE_") {
        return SETTINGS.iter().any(|pattern| fits(pattern, rest));
    }
    !SESSION_MARKS.iter().any(|pattern| fits(pattern, variable))
}

fn fits(pattern: &str, name: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end),
        (None, Some(start)) => name.starts_with(start),
        (None, None) => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_marks_go() {
        for name in [
            "AI_AGENT",
            "CLAUDECODE",
            "CLAUDE_PID",
            "CLAUDE_EFFORT",
            "CLAUDE_PROJECT_DIR",
            "CLAUDE_CODE_ENTRYPOINT",
            "CLAUDE_CODE_SESSION_ID",
            "CLAUDE_CODE_SESSION_ATTENDED",
            "CLAUDE_CODE_SESSION_ACCESS_TOKEN",
            "CLAUDE_CODE_CHILD_SESSION",
            "CLAUDE_CODE_EXECPATH",
            "CLAUDE_CODE_MESSAGING_SOCKET",
            "CLAUDE_CODE_MESSAGING_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR",
            "CLAUDE_CODE_SSE_PORT",
            "CLAUDE_CODE_REMOTE",
            "CLAUDE_CODE_SOMETHING_NEW",
            "COPILOT_CLI",
            "OPENCODE",
            "CODEX_THREAD_ID",
            "CODEX_MANAGED_BY_NPM",
            "GEMINI_CLI",
            "GEMINI_SESSION_ID",
        ] {
            assert!(!keeps(name), "{name}");
        }
    }

    #[test]
    fn the_users_settings_stay() {
        for name in [
            "PATH",
            "HOME",
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_MODEL",
            "CLAUDE_CONFIG_DIR",
            "CLAUDE_CLI_PATH",
            "CLAUDE_STREAM_IDLE_TIMEOUT_MS",
            "CLAUDE_CODE_MAX_RETRIES",
            "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
            "CLAUDE_CODE_SKIP_BEDROCK_AUTH",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
            "CLAUDE_CODE_ENABLE_TELEMETRY",
            "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE",
            "CLAUDE_CODE_CONNECT_TIMEOUT_MS",
            "CLAUDE_CODE_SUBAGENT_MODEL",
            "CLAUDE_CODE_SHELL_PREFIX",
            "CLAUDE_CODE_RETRY_WATCHDOG",
            "COPILOT_HOME",
            "COPILOT_CLI_PATH",
            "OPENCODE_CONFIG",
            "MY_CLAUDECODE",
            "CODEX_HOME",
            "CODEX_API_KEY",
            "CODEX_SANDBOX",
            "GEMINI_API_KEY",
            "GEMINI_CLI_HOME",
            "GEMINI_CLI_PATH",
            "IS_SANDBOX",
        ] {
            assert!(keeps(name), "{name}");
        }
    }
}

//! Which long options of common programs take their value from the next word, as in `--message TEXT`.
//! A new program is a new line. An option that takes a value only behind `=` is not here.

/// Names, and their options without dashes. A program with a subcommand has those of both rows.
type Row = (&'static [&'static str], &'static str);

/// Whether the word after this option is its value.
pub(super) fn takes_next(program: &str, subcommand: &str, option: &str) -> bool {
    let base = program.rsplit('/').next().unwrap_or(program);
    let name = option.trim_start_matches('-');
    let of =
        |row: &Row, wanted: &str| row.0.contains(&wanted) && row.1.split(' ').any(|o| o == name);
    let both = format!("{base} {subcommand}");
    VALUED.iter().any(|row| of(row, base) || of(row, &both))
}

/// Whether the options of a program are in the table.
pub(super) fn is_known(program: &str) -> bool {
    let base = program.rsplit('/').next().unwrap_or(program);
    VALUED.iter().any(|row| row.0.contains(&base))
}

const VALUED: &[Row] = &[
    (&["git"], "git-dir work-tree namespace super-prefix config-env attr-source"),
    (
        &["git commit"],
        "message file author date template fixup squash cleanup reuse-message reedit-message \
         trailer pathspec-from-file",
    ),
    (
        &["git log", "git shortlog", "git rev-list", "git show"],
        "since until after before author committer grep max-count skip max-age min-age glob \
         exclude diff-filter inter-hunk-context",
    ),
    (&["git diff"], "diff-filter inter-hunk-context output src-prefix dst-prefix"),
    (
        &["git clone"],
        "branch origin upload-pack template reference depth jobs config separate-git-dir \
         shallow-since shallow-exclude bundle-uri filter",
    ),
    (
        &["git fetch", "git pull"],
        "depth deepen shallow-since shallow-exclude jobs upload-pack refmap",
    ),
    (&["git push"], "repo receive-pack exec push-option"),
    (&["git merge"], "message file strategy strategy-option cleanup into-name"),
    (&["git rebase"], "onto exec strategy strategy-option whitespace"),
    (&["git checkout"], "orphan conflict pathspec-from-file"),
    (&["git switch"], "create force-create orphan conflict"),
    (&["git tag"], "message file local-user cleanup trailer"),
    (&["git branch"], "set-upstream-to points-at format sort"),
    (&["git stash"], "message pathspec-from-file"),
    (&["git grep"], "max-depth threads max-count after-context before-context context"),
    (&["git blame"], "contents date abbrev ignore-rev ignore-revs-file"),
    (
        &["git add", "git restore", "git reset", "git rm"],
        "pathspec-from-file chmod source conflict",
    ),
    (
        &["curl"],
        "request header data data-raw data-binary data-urlencode form form-string output user \
         user-agent url cookie cookie-jar proxy max-time connect-timeout retry retry-delay \
         retry-max-time upload-file write-out cert key cacert capath referer range resolve \
         limit-rate config dump-header interface max-redirs json url-query output-dir netrc-file",
    ),
    (
        &["wget"],
        "output-document output-file append-output input-file directory-prefix user-agent header \
         post-data post-file tries timeout wait limit-rate quota user password accept reject level \
         domains base referer load-cookies save-cookies method body-data body-file",
    ),
    (
        &["grep", "egrep", "fgrep", "zgrep"],
        "regexp file max-count after-context before-context context include exclude exclude-from \
         exclude-dir label binary-files devices directories group-separator",
    ),
    (
        &["rg"],
        "regexp file glob iglob type type-not type-add type-clear max-count after-context \
         before-context context max-depth maxdepth max-filesize max-columns replace encoding \
         engine sort sortr threads colors color path-separator pre pre-glob ignore-file dfa-size-limit \
         regex-size-limit context-separator field-match-separator field-context-separator",
    ),
    (&["sed", "gsed"], "expression file line-length"),
    (&["head", "tail"], "lines bytes pid sleep-interval max-unchanged-stats"),
    (
        &["tar", "bsdtar"],
        "file directory files-from exclude-from exclude transform owner group mode strip-components \
         use-compress-program blocking-factor record-size after-date newer label tape-length",
    ),
    (&["sort"], "key field-separator output buffer-size temporary-directory parallel batch-size"),
    (&["cut"], "bytes characters delimiter fields output-delimiter"),
    (&["xargs"], "arg-file delimiter max-args max-chars max-procs process-slot-var"),
    (&["du"], "max-depth block-size exclude exclude-from threshold files0-from"),
    (&["df"], "block-size exclude-type"),
    (&["ls"], "ignore block-size width tabsize"),
    (&["cp", "mv", "ln", "install"], "suffix target-directory owner group mode"),
    (&["mkdir"], "mode"),
    (&["touch"], "date reference"),
    (&["date"], "date file reference set"),
    (&["stat"], "format printf"),
    (
        &["diff"],
        "exclude exclude-from ignore-matching-lines label width ifdef starting-file tabsize",
    ),
    (
        &["make", "gmake"],
        "directory file makefile include-dir old-file assume-old what-if new-file",
    ),
    (
        &["rsync"],
        "rsh exclude exclude-from include include-from files-from filter bwlimit port log-file \
         password-file temp-dir compare-dest copy-dest link-dest backup-dir suffix block-size \
         max-size min-size timeout out-format chmod chown partial-dir",
    ),
    (&["jq"], "arg argjson slurpfile rawfile indent from-file"),
    (
        &["docker run", "docker create", "podman run", "podman create"],
        "name env env-file volume publish network user workdir entrypoint mount label hostname \
         memory cpus restart add-host cap-add cap-drop device dns expose platform pull security-opt \
         shm-size tmpfs ulimit link log-driver log-opt gpus ip volumes-from stop-timeout cidfile \
         runtime userns pid ipc",
    ),
    (
        &["docker build", "podman build"],
        "file tag build-arg target platform label cache-from cache-to network output progress secret \
         ssh iidfile add-host build-context",
    ),
    (&["docker exec", "podman exec"], "env env-file user workdir detach-keys"),
    (&["docker ps", "docker images", "podman ps"], "filter format last"),
    (&["docker logs", "podman logs"], "tail since until"),
    (&["docker", "podman"], "context host config log-level"),
    (&["docker compose", "docker-compose"], "file project-name project-directory profile env-file"),
    (
        &["kubectl", "oc"],
        "namespace filename output selector field-selector context cluster user kubeconfig \
         container tail since replicas image type patch port target-port token as server \
         request-timeout sort-by template from-literal from-file overrides grace-period timeout",
    ),
    (
        &["helm"],
        "namespace values set set-string set-file version kube-context output timeout repo \
         description post-renderer",
    ),
    (
        &["gh"],
        "repo title body body-file base head label assignee reviewer milestone project limit state \
         author search json jq template field raw-field method header input branch workflow job \
         event user hostname remote name description visibility tag target notes notes-file ref \
         env app color commit",
    ),
    (
        &["cargo"],
        "package features jobs target target-dir manifest-path profile bin example test bench \
         message-format config exclude version git branch tag rev path registry root index color",
    ),
    (&["npm", "pnpm", "yarn"], "workspace prefix registry tag filter dir loglevel otp access"),
    (
        &["pip", "pip3"],
        "requirement constraint editable target index-url extra-index-url find-links prefix root \
         cache-dir proxy timeout trusted-host platform python-version log",
    ),
    (
        &["pytest"],
        "maxfail rootdir basetemp ignore ignore-glob deselect junit-xml junitxml cov cov-report \
         cov-config durations confcutdir override-ini timeout numprocesses tb color",
    ),
    (&["python", "python3"], "check-hash-based-pycs"),
    (&["node"], "eval print require import loader conditions env-file title"),
    (&["psql"], "command dbname file host port username variable output set pset field-separator"),
    (&["mysql", "mariadb"], "user host port database execute socket protocol"),
    (
        &["find"],
        "name iname path ipath wholename regex iregex type maxdepth mindepth mtime mmin atime amin \
         ctime cmin newer size user group perm printf fprintf fprint lname ilname inum links samefile \
         fstype regextype",
    ),
    (
        &["go"],
        "run bench count timeout cpu parallel coverprofile coverpkg tags ldflags gcflags o mod \
         modfile exec benchtime cpuprofile memprofile trace fuzz fuzztime p",
    ),
    (&["openssl"], "in out inform outform keyform key cert subj days passin passout newkey config"),
    (&["ffmpeg", "ffprobe"], "i c f vf af b r s t ss to map preset crf codec filter_complex"),
];

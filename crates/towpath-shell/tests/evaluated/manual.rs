//! Every way in which bash evaluates a word a second time, or reads it as arithmetic, a name, a
//! pattern, a prompt or code, by section of its manual. Each is tried with hostile values and the
//! real bash: it is refused, or warned about, or the value arrives and nothing of it runs.

use crate::common;
use towpath_shell::ShellText;

/// What must happen to a value at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// The text is refused when it is read.
    Refused,
    /// Only integers are filled in.
    Integer,
    /// A program of the author's choice reads the value as code: said so.
    Warned,
    /// The text prints the value between brackets.
    Arrives,
    /// Bash itself rejects the value, or nothing prints it; nothing of it runs.
    Harmless,
}
use Fate::*;

/// Values that run where bash expands, calculates, or reads a name, a prompt, a pattern or code.
const HOSTILE: &[&str] = &[
    "x$(touch pwned)",
    "a[$(touch pwned)]",
    "($(touch pwned))",
    "([0]=$(touch pwned))",
    "touch pwned",
    "'; touch pwned; '",
    "\n touch pwned\n",
    "x=a[$(touch pwned)]",
    "() { touch pwned; }",
    "-v",
    "!",
    "(",
    "",
];

type Section = (&'static str, &'static [(Fate, &'static str)]);

const MANUAL: &[Section] = &[
    (
        "3.1.2 Quoting",
        &[
            (Arrives, r#"printf '[%s]' {{v}}"#),
            (Arrives, r#"printf '[%s]' "{{v}}""#),
            (Arrives, r#"printf '[%s]' '{{v}}'"#),
            (Arrives, r#"printf '[%s]' $'{{v}}'"#),
            (Arrives, r#"printf '[%s]' $"{{v}}""#),
        ],
    ),
    (
        "3.2.3 Pipelines",
        &[
            (Arrives, "time printf '[%s]' {{v}}"),
            (Harmless, "TIMEFORMAT={{v}}; time :"),
            (Arrives, "printf '[%s]' {{v}} |& cat"),
        ],
    ),
    (
        "3.2.5.1 Looping Constructs",
        &[
            (Arrives, r#"for n in {{v}}; do printf '[%s]' "$n"; done"#),
            (Integer, r#"declare -i n; for n in {{v}}; do :; done"#),
            (Integer, r#"for RANDOM in {{v}}; do :; done"#),
            (Integer, r#"for OPTIND in {{v}}; do :; done"#),
            (Refused, r#"declare -n n; for n in {{v}}; do echo $n; done"#),
            (Refused, r#"for PS4 in {{v}}; do set -x; :; done"#),
            (Integer, r#"for ((i = {{v}}; i < 0; i++)); do :; done"#),
            (Integer, r#"for ((; {{v}} < 0;)); do :; done"#),
        ],
    ),
    (
        "3.2.5.2 Conditional Constructs",
        &[
            (Arrives, r#"case {{v}} in {{v}}) printf '[%s]' {{v}};; esac"#),
            (Arrives, r#"select n in {{v}}; do printf '[%s]' "$n"; break; done <<<1 2>&-"#),
            (Integer, r#"declare -i n; select n in {{v}}; do :; done <<<1"#),
            (Refused, r#"declare -i REPLY; select n in a; do :; done <<<{{v}}"#),
            (Harmless, r#"PS3={{v}}; select n in a; do break; done <<<1"#),
            (Integer, r#"(( n = {{v}} ))"#),
            (Integer, r#"[[ 1 -eq {{v}} ]]"#),
            (Integer, r#"[[ {{v}} -lt 1 ]]"#),
            (Arrives, r#"[[ {{v}} == {{v}} ]] && printf '[%s]' {{v}}"#),
            (Arrives, r#"[[ {{v}} =~ {{v}} ]] && printf '[%s]' {{v}}"#),
            (Harmless, r#"[[ a < {{v}} || -e {{v}} || a -nt {{v}} || -t {{v}} || -o {{v}} ]]"#),
            (Refused, r#"[[ -v {{v}} ]]"#),
            (Refused, r#"[[ -v a[{{v}}] ]]"#),
            (Refused, r#"[[ -R {{v}} ]]"#),
            (Warned, r#"x={{v}}; [[ $x -eq 1 ]]"#),
            (Warned, r#"x={{v}}; (( x ))"#),
        ],
    ),
    (
        "3.2.6 Coprocesses",
        &[
            (Arrives, r#"coproc { printf '[%s]' {{v}}; }; cat <&"${COPROC[0]}""#),
            (Refused, r#"coproc {{v}} { :; }"#),
            (Refused, r#"coproc n { :; }; declare n={{v}}"#),
        ],
    ),
    (
        "3.3 Shell Functions",
        &[
            (Arrives, r#"f() { printf '[%s]' {{v}}; }; f"#),
            (Refused, r#"{{v}}() { :; }"#),
            (Refused, r#"f() { echo {{v}}; }; export -f f; bash -c f"#),
            (Refused, r#"f() { echo {{v}}; }; command export -f f; bash -c f"#),
            (Refused, r#"f() { echo {{v}}; }; 'export' -"f" f; bash -c f"#),
            (Refused, r#"f() { echo {{v}}; }; declare -fx f; bash -c f"#),
            (Refused, r#"set -a; f() { echo {{v}}; }; bash -c f"#),
            (Refused, r#"set -ea; f() { echo {{v}}; }; bash -c f"#),
            (Refused, r#"set -o allexport; f() { echo {{v}}; }; bash -c f"#),
            (Refused, r#"builtin set -o "allexport"; f() { echo {{v}}; }; bash -c f"#),
            (Refused, r#"shopt -so allexport; f() { echo {{v}}; }; bash -c f"#),
            (Refused, r#"set $options; f() { echo {{v}}; }; bash -c f"#),
            (Arrives, r#"set -- $options; f() { printf '[%s]' {{v}}; }; f"#),
            (Arrives, r#"set -a; x={{v}}; bash -c 'printf "[%s]" "$x"'"#),
        ],
    ),
    (
        "3.4 Shell Parameters",
        &[
            (Arrives, r#"n={{v}}; printf '[%s]' "$n""#),
            (Arrives, r#"n+={{v}}; printf '[%s]' "$n""#),
            (Integer, r#"declare -i n; n={{v}}"#),
            (Integer, r#"declare -i n; n+={{v}}"#),
            (Integer, r#"declare -i "n"; n={{v}}"#),
            (Integer, r#"declare -i 'n'; n={{v}}"#),
            (Integer, r#"declare "-i" n; n={{v}}"#),
            (Integer, r#"declare -xi n; n={{v}}"#),
            (Integer, r#"declare -i >/dev/null n; n={{v}}"#),
            (Integer, r#"typeset -i n; n={{v}}"#),
            (Integer, r#"builtin declare -i n; n={{v}}"#),
            (Integer, r#"command declare -i n; n={{v}}"#),
            (Integer, r#"command -p builtin -- declare -i n; n={{v}}"#),
            (Integer, r#"\declare -i n; n={{v}}"#),
            (Integer, r#"de\clare -i n; n={{v}}"#),
            (Integer, r#"'declare' -i n; n={{v}}"#),
            (Integer, r#""declare" -i "n=1"; n={{v}}"#),
            (Integer, r#"\typeset -i n; n={{v}}"#),
            (Integer, r#"eval 'declare -i n'; n={{v}}"#),
            (Integer, r#"eval declare -i n; n={{v}}"#),
            (Integer, r#"trap 'declare -i n' DEBUG; n={{v}}"#),
            (Integer, r#"f() { local -i n; g; }; g() { n={{v}}; }; f"#),
            (Integer, r#"f() { local -i n={{v}}; }; f"#),
            (Integer, r#"declare -i n; export n={{v}}"#),
            (Integer, r#"declare -i n; readonly n={{v}}"#),
            (Integer, r#"declare -i n; n=({{v}})"#),
            (Integer, r#"declare -ia n=({{v}})"#),
            (Refused, r#"declare -i {n,m}; n={{v}}"#),
            (Refused, r#"declare -i "$name"; n={{v}}"#),
            (Refused, r#"declare -i $names; n={{v}}"#),
            (Refused, r#"declare $flags n; n={{v}}"#),
            (Refused, r#"declare "$flag" n; n={{v}}"#),
            (Refused, r#"declare -n r=n; declare -i r; n={{v}}"#),
            (Refused, r#"c=declare; $c -i n; n={{v}}"#),
            (Refused, r#"shopt -s expand_aliases; alias d='declare -i'; d n; n={{v}}"#),
            (Warned, r#"echo 'declare -i n' >f; . ./f; n={{v}}"#),
            (Warned, r#"eval "$code"; n={{v}}"#),
            (Arrives, r#"unset x 2>/dev/null; declare "$k=1" 2>&-; n={{v}}; printf '[%s]' "$n""#),
            (Arrives, r#"declare -i i=0; n={{v}}; printf '[%s]' "$n""#),
            (Arrives, r#"export $(echo A=1); n={{v}}; printf '[%s]' "$n""#),
            (Integer, r#"RANDOM={{v}}"#),
            (Integer, r#"OPTIND={{v}}"#),
            (Integer, r#"HISTCMD={{v}}"#),
            (Integer, r#"SRANDOM={{v}}"#),
            (Integer, r#"SECONDS={{v}}"#),
            (Integer, r#"export RANDOM={{v}}"#),
            (Integer, r#"declare RANDOM={{v}}"#),
            (Refused, r#"declare -n r; r={{v}}; echo $r"#),
            (Refused, r#"declare -n r={{v}}; echo $r"#),
            (Refused, r#"f() { local -n r={{v}}; echo $r; }; f"#),
            (Refused, r#"{{v}}=1"#),
        ],
    ),
    (
        "3.5.1 Brace Expansion",
        &[(Harmless, r#"printf '[%s]' {{{v}},b}"#), (Refused, r#"echo {1..{{v}}}"#)],
    ),
    ("3.5.2 Tilde Expansion", &[(Harmless, r#"echo ~{{v}} x=~{{v}}; x=~{{v}}; x=a:~{{v}}"#)]),
    (
        "3.5.3 Shell Parameter Expansion",
        &[
            (Refused, r#"echo ${{{v}}}"#),
            (Refused, r#"echo ${!{{v}}}"#),
            (Refused, r#"echo ${x@{{v}}}"#),
            (Warned, r#"x={{v}}; echo ${!x}"#),
            (Warned, r#"x={{v}}; echo "${x@P}""#),
            (Harmless, r#"x={{v}}; echo ${x@E} ${x@Q} ${x@A} ${x@a} ${x@K}"#),
            (Arrives, r#"printf '[%s]' ${n:-{{v}}}"#),
            (Arrives, r#"printf '[%s]' ${n:={{v}}}"#),
            (Arrives, r#"printf '[%s]' ${n={{v}}}"#),
            (Arrives, r#"printf '[%s]' "${n:={{v}}}""#),
            (Arrives, r#"printf '[%s]' ${n:="{{v}}"}"#),
            (Arrives, r#"printf '[%s]' ${u:-${n:={{v}}}}"#),
            (Arrives, r#": ${n:={{v}}}; printf '[%s]' "$n""#),
            (Arrives, r#"case {{v}} in ${n:={{v}}}) printf '[%s]' "$n";; esac"#),
            (Refused, r#"printf '[%s]' ${n:='{{v}}'}"#),
            (Refused, r#"printf '[%s]' ${n[i++]:={{v}}}"#),
            (Refused, r#": "${!r:={{v}}}""#),
            (Integer, r#"declare -i n; : ${n:={{v}}}"#),
            (Integer, r#"declare -i n; : "${n:={{v}}}""#),
            (Integer, r#"declare -i n; : "${n={{v}}}""#),
            (Refused, r#": ${PS4:={{v}}}; set -x; :"#),
            (Harmless, r#": ${n:?{{v}}}"#),
            (Integer, r#"x=abc; echo ${x:{{v}}}"#),
            (Integer, r#"x=abc; echo ${x:0:{{v}}}"#),
            (Integer, r#"echo "${@:{{v}}}""#),
            (Integer, r#"a=(1 2); echo "${a[@]:{{v}}:1}""#),
            (Warned, r#"n={{v}}; x=abc; echo ${x:n}"#),
            (Warned, r#"n={{v}}; x=abc; echo ${x:$n}"#),
            (Arrives, r#"x=a; printf '[%s]' "${x/a/{{v}}}""#),
            (Harmless, r#"x=a; echo ${x/{{v}}/b} ${x#{{v}}} ${x%%{{v}}} ${x^{{v}}} ${x,,{{v}}}"#),
        ],
    ),
    (
        "3.5.4 Command Substitution",
        &[
            (Arrives, r#"printf '[%s]' "$(printf '%sx' {{v}})" | sed 's/x]$/]/'"#),
            (Arrives, r#"printf '[%s]' "`printf '%sx' {{v}}`" | sed 's/x]$/]/'"#),
            (Warned, r#"echo $(( $(printf '%s' {{v}}) ))"#),
            (Warned, r#"declare -i n; n=$(printf '%s' {{v}})"#),
            (Warned, r#"a[$(printf '%s' {{v}})]=1"#),
        ],
    ),
    (
        "3.5.5 Arithmetic Expansion",
        &[
            (Integer, r#"echo $(( {{v}} ))"#),
            (Integer, r#"echo $[ {{v}} ]"#),
            (Integer, r#"echo $(( "{{v}}" ))"#),
            (Refused, r#"echo $(( ${n:-{{v}}} ))"#),
        ],
    ),
    (
        "3.5.6 Process Substitution",
        &[
            (Arrives, r#"cat <(printf '[%s]' {{v}})"#),
            (Arrives, r#"printf '[%s]' {{v}} > >(cat); wait"#),
        ],
    ),
    (
        "3.5.7 Word Splitting",
        &[(Harmless, r#"IFS={{v}}; echo $HOME"#), (Arrives, r#"IFS=x; printf '[%s]' {{v}}"#)],
    ),
    (
        "3.5.8 Filename Expansion",
        &[
            (Arrives, r#"touch a b; shopt -s extglob nullglob; printf '[%s]' {{v}}"#),
            (Harmless, r#"GLOBIGNORE={{v}}; echo *{{v}}*"#),
        ],
    ),
    (
        "3.6 Redirections",
        &[
            (Arrives, r#"printf '[%s]' {{v}} >& b-{{v}}.log; cat b*"#),
            (Arrives, r#"printf '[%s]' {{v}} 1>& b-{{v}}.log; cat b*"#),
            (Arrives, r#"printf '[%s]' {{v}} >&"b-{{v}}.log"; cat b*"#),
            (Arrives, r#"printf '[%s]' {{v}}>&'b-{{v}}.log'; cat b*"#),
            (Arrives, r#"printf '[%s]' {{v}} 01>&b$u{{v}}; cat b*"#),
            (Arrives, r#"{ printf '[%s]' {{v}}; } >& b-{{v}}.log; cat b*"#),
            (Refused, r#"printf '[%s]' {{v}} >& b{{v}}-"#),
            (Arrives, r#"x={{v}}; printf '[%s]' "$x" >& "b-$x.log"; cat b*"#),
            (Arrives, r#"set -- {{v}}; printf '[%s]' "$1" >& b-"$1"; cat b*"#),
            (Arrives, r#"printf '[%s]' {{v}} &> b-{{v}}.log; cat b*"#),
            (Arrives, r#"printf '[%s]' {{v}} &>> b-{{v}}.log; cat b*"#),
            (Arrives, r#"printf '[%s]' {{v}} >| b-{{v}}.log; cat b*"#),
            (Arrives, r#"x=x; printf '[%s]' {{v}} ${x+}>&b-{{v}}.log; cat b*"#),
            (Harmless, r#"x=x; echo ${x}>&b{{v}}; echo a{b}>&b{{v}}; echo {a,b}>&b{{v}}"#),
            (Refused, r#"echo >&{{v}}"#),
            (Refused, r#"echo 1>&1{{v}}"#),
            (Refused, r#"echo >&"{{v}}-""#),
            (Harmless, r#"echo 2>&{{v}}; echo 2>&1{{v}}"#),
            (Harmless, r#"cat <&{{v}}; cat <&"a{{v}}""#),
            (Harmless, r#"exec {n}>&{{v}}; exec {n}>&a{{v}}"#),
            (Harmless, r#"echo <> a{{v}}; echo >> a{{v}}; exec {n}> a{{v}}"#),
            (Refused, r#"exec {a[{{v}}]}>f"#),
            (Refused, r#"exec {{{v}}}>f"#),
            (Arrives, "cat <<E\n[{{v}}]\nE"),
            (Arrives, "cat <<'E'\n[{{v}}]\nE"),
            (Arrives, "cat <<<[{{v}}]"),
            (Refused, "cat <<{{v}}\nE"),
        ],
    ),
    (
        "3.7 Executing Commands",
        &[
            (Harmless, r#"{{v}} a"#),
            (Refused, r#"BASH_ENV={{v}} bash -c :"#),
            (Refused, r#"export BASH_ENV={{v}}; bash -c :"#),
            (Refused, r#"ENV={{v}} sh -ic :"#),
            (Arrives, r#"ENV={{v}} sh -c 'printf "[%s]" "$ENV"'"#),
            (Warned, r#"env BASH_ENV={{v}} bash -c :"#),
            (Warned, r#"env "BASH_ENV={{v}}" bash -c :"#),
            (Warned, r#"sudo BASH_ENV={{v}} bash -c :"#),
            (Refused, r#"set -k; echo n={{v}}"#),
        ],
    ),
    (
        "4.1 Bourne Shell Builtins",
        &[
            (Harmless, r#": {{v}}"#),
            (Warned, r#"eval {{v}}"#),
            (Warned, r#"eval "echo {{v}}""#),
            (Warned, r#"trap {{v}} EXIT"#),
            (Warned, r#"trap "echo {{v}}" EXIT"#),
            (Harmless, r#". {{v}}"#),
            (Harmless, r#"source {{v}}"#),
            (Warned, r#"source <(echo "x={{v}}")"#),
            (Warned, r#". /dev/stdin <<<{{v}}"#),
            (Warned, r#"x={{v}}; eval "echo $x""#),
            (Warned, r#"x={{v}}; unset "a[$x]""#),
            (Warned, r#"x={{v}}; [ -v "a[${x}]" ]"#),
            (Arrives, r#"x={{v}}; eval "printf '[%s]' ${x@Q}""#),
            (Harmless, r#"for i in 1; do break {{v}}; continue {{v}}; done"#),
            (Harmless, r#"cd {{v}}"#),
            (Harmless, r#"(exec {{v}})"#),
            (Harmless, r#"(exit {{v}})"#),
            (Harmless, r#"f() { return {{v}}; }; f"#),
            (Harmless, r#"shift {{v}}"#),
            (Harmless, r#"hash -p {{v}} x; hash {{v}}"#),
            (Harmless, r#"umask {{v}}"#),
            (Harmless, r#"times {{v}}"#),
            (Refused, r#"export {{v}}"#),
            (Refused, r#"readonly {{v}}=1"#),
            (Arrives, r#"export n={{v}}; printf '[%s]' "$n""#),
            (Refused, r#"export -a n={{v}}"#),
            (Refused, r#"readonly -a n={{v}}"#),
            (Harmless, r#"getopts {{v}} o -a; getopts a o {{v}}"#),
            (Refused, r#"declare -i OPTARG; getopts a: o -a {{v}}"#),
            (Refused, r#"getopts a {{v}} -a"#),
            (Refused, r#"unset {{v}}"#),
            (Refused, r#"unset "a[{{v}}]""#),
            (Refused, r#"command unset -v "a[{{v}}]""#),
            (Refused, r#"[ -v {{v}} ]"#),
            (Refused, r#"test -v {{v}}"#),
            (Refused, r#"test a -a -v "a[{{v}}]""#),
            (Refused, r#"[ -R {{v}} ]"#),
            (
                Harmless,
                r#"[ {{v}} = x ]; test {{v}}; [ {{v}} -eq 1 ]; [ ! {{v}} ]; [ 1 -lt {{v}} ]"#,
            ),
            (Harmless, r#"[ {{v}} -a {{v}} ]; [ -t {{v}} ]; [ -e {{v}} ]; [ {{v}} -nt {{v}} ]"#),
        ],
    ),
    (
        "4.2 Bash Builtin Commands",
        &[
            (Warned, r#"alias x={{v}}"#),
            (Warned, r#"alias x='echo {{v}}'"#),
            (Harmless, r#"bind {{v}}"#),
            (Harmless, r#"builtin {{v}}; command {{v}}; command -v {{v}}; type {{v}}"#),
            (Harmless, r#"caller {{v}}; help {{v}}; enable {{v}}; logout {{v}}"#),
            (Refused, r#"declare {{v}}"#),
            (Refused, r#"declare "{{v}}=1""#),
            (Refused, r#"declare "a[{{v}}]=1""#),
            (Refused, r#"command declare "a[{{v}}]=1""#),
            (Refused, r#"f() { local {{v}}; }; f"#),
            (Arrives, r#"declare n={{v}}; printf '[%s]' "$n""#),
            (Arrives, r#"declare "n={{v}}"; printf '[%s]' "$n""#),
            (Refused, r#"declare -a n={{v}}"#),
            (Refused, r#"declare -A n={{v}}"#),
            (Refused, r#"declare +i n $x; n={{v}}"#),
            (Refused, r#"n=(1); declare n={{v}}"#),
            (Refused, r#"n=(1); declare n+={{v}}"#),
            (Refused, r#"n=(1); typeset n={{v}}"#),
            (Refused, r#"n=(1); declare "n={{v}}""#),
            (Refused, r#"n[0]=1; declare n={{v}}"#),
            (Refused, r#"((n[0]=1)); declare n={{v}}"#),
            (Refused, r#"let 'n[0]=1'; declare n={{v}}"#),
            (Refused, r#"let n\[0]=1; declare n={{v}}"#),
            (Refused, r#": ${n[0]:=1}; declare n={{v}}"#),
            (Refused, r#"read -a n <<<1; declare n={{v}}"#),
            (Refused, r#"mapfile n <<<1; declare n={{v}}"#),
            (Refused, r#"printf -v 'n[0]' 1; declare n={{v}}"#),
            (Refused, r#"exec {n[0]}>&1; declare n={{v}}"#),
            (Refused, r#"read -a "$n" <<<1; declare n={{v}}"#),
            (Refused, r#"declare -a "$n"; declare n={{v}}"#),
            (Refused, r#"eval 'n=(1)'; declare n={{v}}"#),
            (Refused, r#". ./f; declare n={{v}}"#),
            (Refused, r#"f() { local n=(1); local n={{v}}; }; f"#),
            (Refused, r#"shopt -s localvar_inherit; n=(1); f() { local n={{v}}; }; f"#),
            (Refused, r#"declare PIPESTATUS={{v}}"#),
            (Harmless, r#"echo -e {{v}}; printf %b {{v}}; printf {{v}}"#),
            (Integer, r#"let {{v}}"#),
            (Integer, r#"let n={{v}}"#),
            (Integer, r#"let "n = {{v}}""#),
            (Integer, r#"command let n={{v}}"#),
            (Integer, r#"\let n={{v}}"#),
            (Warned, r#"x={{v}}; let n=x+1"#),
            (Warned, r#"declare -i n; x={{v}}; n=x"#),
            (Warned, r#"declare -i n; x={{v}}; n=$x"#),
            (
                Arrives,
                r#"mapfile -t n <<<{{v}}x; (IFS=$'\n'; printf '[%s' "${n[*]}") | sed '$s/x$/]/'"#,
            ),
            (Refused, r#"declare -ia n; mapfile n <<<{{v}}"#),
            (Refused, r#"declare -ia n; readarray -t n < <(echo {{v}})"#),
            (Refused, r#"mapfile {{v}} <<<1"#),
            (Warned, r#"mapfile -C {{v}} -c 1 <<<1"#),
            (Warned, r#"mapfile -C "echo {{v}}" -c 1 <<<1"#),
            (Harmless, r#"mapfile -n {{v}} x <<<1; mapfile -O {{v}} x <<<1; mapfile -u {{v}}"#),
            (Harmless, r#"printf '%d %*d %.*s %(%Y)T' {{v}} {{v}} 1 {{v}} a {{v}}"#),
            (Refused, r#"printf -v {{v}} 1"#),
            (Refused, r#"printf -v "a[{{v}}]" 1"#),
            (Arrives, r#"printf -v n %s {{v}}; printf '[%s]' "$n""#),
            (Integer, r#"declare -i n; printf -v n %s {{v}}"#),
            (Integer, r#"declare -i n; builtin printf -vn %s {{v}}"#),
            (Integer, r#"printf -v RANDOM %s {{v}}"#),
            (Refused, r#"declare -i n; printf -v "$x" %s {{v}}"#),
            (Refused, r#"printf -v PS4 %s {{v}}; set -x; :"#),
            (Arrives, r#"IFS= read -rd '' n <<<[{{v}}]; printf '%s' "$n" | head -c -1"#),
            (Refused, r#"read {{v}} <<<1"#),
            (Refused, r#"read "a[{{v}}]" <<<1"#),
            (Refused, r#"declare -i n; read n <<<{{v}}"#),
            (Refused, "declare -i n; read n <<E\n{{v}}\nE"),
            (Refused, r#"declare -i n; \read -r n < <(printf %s {{v}})"#),
            (Refused, r#"declare -i n; printf '%s\n' {{v}} | while read n; do :; done"#),
            (Refused, r#"declare -i n; echo {{v}} >f; read n <f"#),
            (Refused, r#"declare -i n; command read n <<<{{v}}"#),
            (Refused, r#"x='declare -i n'; $x; n={{v}}"#),
            (Refused, r#"x=(declare -i); "${x[@]}" n; n={{v}}"#),
            (Arrives, r#"x=printf; f() { local l=1; }; n={{v}}; $x '[%s]' "$n""#),
            (Refused, r#"declare -i n; exec 3> >(read n); echo {{v}} >&3"#),
            (Refused, r#"declare -i n; { echo {{v}}; } | read n"#),
            (Refused, r#"declare -i n; f() { echo {{v}}; }; f | read n"#),
            (Refused, r#"declare -i n; read n <<<1; x=$(echo {{v}}); read n <<<"$x""#),
            (Refused, r#"declare -i _; echo {{v}}"#),
            (Refused, r#"read PS4 <<<{{v}}; set -x; true"#),
            (Refused, r#"read -r PS4 < <(printf '%s' {{v}}); set -x; true"#),
            (Refused, r#"x=b; printf '[%s]' ${x/b/{{v}}}"#),
            (Arrives, r#"x=b; printf '[%s]' "${x/b/{{v}}}""#),
            (Arrives, r#"x=b; y=${x/b/{{v}}}; printf '[%s]' "$y""#),
            (Arrives, r#"declare -i n; read n <<<1; printf '[%s]' {{v}}"#),
            (Refused, r#"declare -i n; read "$x" <<<{{v}}"#),
            (Refused, r#"read n <<<{{v}}; declare -n n"#),
            (
                Harmless,
                r#"read -t {{v}} x <<<a; read -n {{v}} x <<<a; read -u {{v}} x; read -d {{v}} x"#,
            ),
            (Harmless, r#"read -p {{v}} x <<<a; read -ei {{v}} x <<<a"#),
            (Harmless, r#"ulimit {{v}}; ulimit -n {{v}}"#),
            (Harmless, r#"type {{v}}"#),
        ],
    ),
    (
        "4.3 Modifying Shell Behavior",
        &[
            (Arrives, r#"set -- {{v}}; printf '[%s]' "$1""#),
            (Harmless, r#"set -o {{v}}; shopt -s {{v}}"#),
            (Refused, r#"PS4={{v}}; set -x; :"#),
            (Refused, r#"export PS4={{v}}; bash -xc :"#),
            (Refused, r#"PS4={{v}} bash -xc :"#),
            (Warned, r#"env SHELLOPTS=xtrace PS4={{v}} bash -c :"#),
            (Harmless, r#"set -x; : {{v}}; BASH_XTRACEFD={{v}}"#),
        ],
    ),
    (
        "5.2 Bash Variables",
        &[
            (Refused, r#"PROMPT_COMMAND={{v}}"#),
            (Refused, r#"PS1={{v}}; PS2={{v}}; PS0={{v}}"#),
            (
                Harmless,
                r#"HISTCONTROL={{v}}; BASH_COMPAT={{v}}; MAILPATH={{v}}; FUNCNEST={{v}}; TMOUT={{v}}"#,
            ),
            (
                Harmless,
                r#"BASH_ARGV0={{v}}; EPOCHSECONDS={{v}}; COLUMNS={{v}}; LANG={{v}}; HISTSIZE={{v}}"#,
            ),
            (Refused, r#"declare -i PWD; cd {{v}}"#),
            (Refused, r#"declare -i _; : {{v}}; :"#),
        ],
    ),
    (
        "6.4 Bash Conditional Expressions",
        &[
            (Harmless, r#"[[ {{v}} && ! {{v}} || ( {{v}} ) ]]"#),
            (Harmless, r#"[[ -n {{v}} && -z {{v}} ]]"#),
        ],
    ),
    ("6.6 Aliases", &[(Arrives, r#"alias printf='echo no'; printf '[%s]' {{v}}"#)]),
    (
        "6.7 Arrays",
        &[
            (Integer, r#"a[{{v}}]=1"#),
            (Integer, r#"a=([{{v}}]=1)"#),
            (Integer, r#"echo ${a[{{v}}]}"#),
            (Integer, r#"echo "${#a[{{v}}]}""#),
            (Integer, r#"echo ${a["{{v}}"]}"#),
            (Integer, r#"echo ${a[{{v}}]:=1}"#),
            (Arrives, r#"declare -A m; m=(k{{v}} {{v}}); printf '[%s]' "${m[k{{v}}]}""#),
            (Arrives, r#"declare -A m; m=([k{{v}}]={{v}}); printf '[%s]' "${m[k{{v}}]}""#),
            (Integer, r#"(( a[{{v}}]++ ))"#),
            (Warned, r#"x={{v}}; echo ${a[$x]}"#),
            (Warned, r#"x={{v}}; a[x]=1"#),
            (Arrives, r#"declare -A m; m[k{{v}}]={{v}}; printf '[%s]' "${m[k{{v}}]}""#),
            (
                Arrives,
                r#"shopt -s assoc_expand_once; declare -A m; m[k{{v}}]=1; printf '%s]' "${!m[@]}" | sed '1s/^k/[/'"#,
            ),
            (Refused, r#"declare -A m; unset m; m[{{v}}]=1"#),
            (Refused, r#"declare -A m; builtin unset m; m[{{v}}]=1"#),
            (Refused, r#"declare -A m; \unset -v "m"; m[{{v}}]=1"#),
            (Refused, r#"declare -A m; eval 'unset m'; m[{{v}}]=1"#),
            (Refused, r#"declare -A m; trap 'unset m' DEBUG; m[{{v}}]=1"#),
            (Refused, r#"declare -A m; unset $x; m[{{v}}]=1"#),
            (Refused, r#"declare -A m; unset m{,}; m[{{v}}]=1"#),
            (Refused, r#"declare -A m; unset "m[$k]"; m[{{v}}]=1"#),
            (Refused, r#"declare -A m; $c m; m[{{v}}]=1"#),
            (Refused, r#"declare -A m; declare -n r=m; unset r; m[{{v}}]=1"#),
            (Refused, r#"declare -A m; . ./f; m[{{v}}]=1"#),
            (Refused, r#"declare -A m; eval "$x"; m[{{v}}]=1"#),
            (Refused, r#"declare -A m >/nonexistent/f; m[{{v}}]=1"#),
            (Refused, r#"declare -Aq m; m[{{v}}]=1"#),
            (Refused, r#"declare -Aa m; m[{{v}}]=1"#),
            (Integer, r#"declare -Ap m; m[{{v}}]=1"#),
            (Refused, r#"local -A m; m[{{v}}]=1"#),
            (Refused, r#"declare -A m $x; m[{{v}}]=1"#),
            (Refused, r#"declare -A m; coproc m { :; }; m[{{v}}]=1"#),
            (Refused, r#"declare -A m; declare m[{{v}}]=1"#),
            (Refused, r#"declare -A m; (( m[{{v}}]++ ))"#),
            (Refused, r#"declare -A m; [[ -v m[{{v}}] ]]"#),
            (Refused, r#"mapfile m <<<a; declare -A m; m[{{v}}]=2"#),
            (Refused, r#"mapfile m <<<a; declare -A m=([{{v}}]=2)"#),
            (Refused, r#"command mapfile m <<<a; declare -A m; m[{{v}}]=2"#),
            (Refused, r#"command mapfile m <<<a; declare -A m=([{{v}}]=2)"#),
            (Refused, r#"read -a m <<<a; declare -A m; m[{{v}}]=2"#),
            (Refused, r#"read -a m <<<a; declare -A m=([{{v}}]=2)"#),
            (Refused, r#"printf -v "m[0]" x; declare -A m; m[{{v}}]=2"#),
            (Refused, r#"printf -v "m[0]" x; declare -A m=([{{v}}]=2)"#),
            (Refused, r#"read "m[0]" <<<a; declare -A m; m[{{v}}]=2"#),
            (Refused, r#"read "m[0]" <<<a; declare -A m=([{{v}}]=2)"#),
            (Refused, r#"echo ${m[0]:=x}; declare -A m; m[{{v}}]=2"#),
            (Refused, r#"echo ${m[0]:=x}; declare -A m=([{{v}}]=2)"#),
            (Refused, r#"((m[0]=1)); declare -A m; m[{{v}}]=2"#),
            (Refused, r#"((m[0]=1)); declare -A m=([{{v}}]=2)"#),
            (Refused, r#"let "m[0]=1"; declare -A m; m[{{v}}]=2"#),
            (Refused, r#"let "m[0]=1"; declare -A m=([{{v}}]=2)"#),
            (Refused, r#": $((m[0]++)); declare -A m; m[{{v}}]=2"#),
            (Refused, r#": $((m[0]++)); declare -A m=([{{v}}]=2)"#),
            (Refused, r#"[[ m[0]=1 -eq 1 ]]; declare -A m; m[{{v}}]=2"#),
            (Refused, r#"[[ m[0]=1 -eq 1 ]]; declare -A m=([{{v}}]=2)"#),
            (Refused, r#"exec {m[0]}>/dev/null; declare -A m; m[{{v}}]=2"#),
            (Refused, r#"exec {m[0]}>/dev/null; declare -A m=([{{v}}]=2)"#),
            (Refused, r#"eval "m=(1)"; declare -A m; m[{{v}}]=2"#),
            (Refused, r#"eval "m=(1)"; declare -A m=([{{v}}]=2)"#),
            (Refused, r#": ${x[m[0]=1]}; declare -A m; m[{{v}}]=2"#),
            (Refused, r#": ${x[m[0]=1]}; declare -A m=([{{v}}]=2)"#),
            (
                Arrives,
                r#"declare -A m; m[k]=1; m[{{v}}.]=2; unset "m[k]"; printf '[%s]' "${!m[@]}" | sed '$s/\.]$/]/'"#,
            ),
            (Refused, r#"shopt -s expand_aliases; BASH_ALIASES[ll]={{v}}"#),
            (Refused, r#"BASH_ALIASES=([ll]={{v}})"#),
            (Refused, r#"mapfile <<<a; declare MAPFILE={{v}}"#),
            (Refused, r#"declare -A m; unset "m[{{v}}]""#),
            (Refused, r#"declare -A m; read "m[{{v}}]" <<<1"#),
        ],
    ),
    ("6.9 Controlling the Prompt", &[(Warned, r#"x={{v}}; echo "${x@P}""#)]),
    (
        "7.2 Job Control Builtins",
        &[
            (
                Harmless,
                r#"jobs {{v}}; fg {{v}}; bg {{v}}; disown {{v}}; wait {{v}}; wait -n {{v}}; suspend {{v}}"#,
            ),
            (Harmless, r#"kill -{{v}} 0x; kill -s {{v}} 0x; kill -l {{v}}"#),
            (Refused, r#"wait -n -p {{v}}"#),
        ],
    ),
    (
        "8.7 Programmable Completion Builtins",
        &[
            (Warned, r#"compgen -W {{v}}"#),
            (Warned, r#"compgen -C {{v}}"#),
            (Warned, r#"complete -W {{v}} x"#),
            (Harmless, r#"compopt {{v}}"#),
        ],
    ),
    (
        "9.2 Bash History Builtins",
        &[
            (Harmless, r#"set -o history; history -p {{v}}; history -s {{v}}; history {{v}}"#),
            (Harmless, r#"fc -l {{v}}"#),
            (Harmless, r#"set -H; echo "!{{v}}""#),
        ],
    ),
];

fn value_warned(parsed: &ShellText) -> bool {
    parsed.warnings().iter().any(|w| w.code == "value-as-code")
}

/// What is wrong with one row, if anything.
fn fault(fate: Fate, text: &str) -> Option<String> {
    let parsed = match ShellText::parse(text) {
        Ok(_) if fate == Refused => return Some("was read".into()),
        Err(_) if fate == Refused => return None,
        Err(error) => return Some(format!("refused: {error}")),
        Ok(parsed) => parsed,
    };
    if value_warned(&parsed) != (fate == Warned) && fate != Integer {
        return Some(format!("warnings: {:?}", parsed.warnings()));
    }
    HOSTILE.iter().find_map(|value| match parsed.fill(&mut |_| Some((*value).to_owned())) {
        Ok(_) if fate == Warned => None,
        Ok(_) if fate == Integer => Some(format!("filled with {value:?}")),
        Err(_) if fate == Integer => None,
        Err(error) => Some(format!("not filled with {value:?}: {error}")),
        Ok(filled) => {
            let ran = common::bash(&filled);
            let expected = format!("[{value}]");
            let printed = ran.stdout.strip_suffix(b"\n").unwrap_or(&ran.stdout);
            let arrived = fate != Arrives || printed == expected.as_bytes();
            (ran.pwned || !arrived).then(|| {
                let stdout = String::from_utf8_lossy(&ran.stdout);
                format!(
                    "{value:?} pwned: {}\n{stdout}\n{}\n{}",
                    ran.pwned, ran.stderr, filled.script
                )
            })
        }
    })
}

#[test]
fn nothing_is_evaluated_twice() {
    let rows: Vec<_> =
        MANUAL.iter().flat_map(|(s, rows)| rows.iter().map(move |r| (s, r))).collect();
    let faults: Vec<String> = std::thread::scope(|scope| {
        let parts = rows.chunks(rows.len() / 4 + 1).map(|part| {
            scope.spawn(move || {
                let faults = part.iter().filter_map(|(section, (fate, text))| {
                    let fault = fault(*fate, text)?;
                    Some(format!("{section}: {text}\n  {fate:?}, but {fault}"))
                });
                faults.collect::<Vec<_>>()
            })
        });
        let parts: Vec<_> = parts.collect();
        parts.into_iter().flat_map(|p| p.join().expect("no row panics")).collect()
    });
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

//! **Pure.** Tables of what redaction looks for: forms of keys, of addresses and of home folders,
//! and names of settings that hold secrets.
use regex::Regex;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

/// Minimum length of a value that is assigned to a key, a token or a password, in characters.
const SHORTEST_VALUE: usize = 12;
/// Minimum entropy of such a value, in bits for each character; words and dates have less.
const LEAST_ENTROPY: f64 = 3.0;

/// Kinds of what is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Key,
    Email,
    /// Name of a user in the path of a home folder.
    Path,
    /// Name of a user with that of a folder in it.
    Project,
}

/// Form of a text to remove: strings of which one must occur, an expression whose first group with
/// a match is removed, and a test of that match. The expressions are searched without backtracking,
/// and none looks far beyond its match: a text with many matches would take quadratic time.
pub(super) struct Shape {
    kind: Kind,
    hints: &'static [&'static str],
    looks: Regex,
    is_it: Test,
}

impl Shape {
    /// Returns the places of a text that have this form.
    pub(super) fn places(&self, text: &str) -> impl Iterator<Item = (Range<usize>, Kind)> {
        let may_be = |hint: &&str| memchr::memmem::find(text.as_bytes(), hint.as_bytes()).is_some();
        let groups = self.hints.iter().any(may_be).then(|| self.looks.captures_iter(text));
        let places = groups.into_iter().flatten();
        let places = places.filter_map(|groups| groups.iter().skip(1).flatten().next());
        let places = places.filter(|place| (self.is_it)(place.as_str()));
        places.map(|place| (place.range(), self.kind))
    }
}

type Test = fn(&str) -> bool;
type Row = (Kind, &'static [&'static str], String, Test);

fn shapes(rows: impl IntoIterator<Item = Row>) -> Vec<Shape> {
    let shape = |(kind, hints, looks, is_it): Row| {
        Some(Shape { kind, hints, looks: Regex::new(&looks).ok()?, is_it })
    };
    rows.into_iter().filter_map(shape).collect()
}

/// Expression of what ends in a letter or a digit and still does not belong to what follows:
/// escapes of JSON and of addresses, and colours of a terminal.
pub(super) const ESCAPE: &str =
    r"\\[nrtbf]|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|%[0-9A-Fa-f]{2}|\[[0-9;]{0,9}m";

/// Forms of keys that begin with a name of their own.
const PREFIXED: [(&[&str], &str, Test); 25] = [
    (&["sk-"], "sk-[A-Za-z0-9_-]{16,}", has_digit),
    (&["csk-"], "csk-[A-Za-z0-9]{20,}", has_digit),
    (&["gsk_"], "gsk_[A-Za-z0-9]{20,}", is_any),
    (&["xai-"], "xai-[A-Za-z0-9]{20,}", has_digit),
    (&["pplx-"], "pplx-[A-Za-z0-9]{20,}", has_digit),
    (&["nvapi-"], "nvapi-[A-Za-z0-9_-]{20,}", has_digit),
    (&["tvly-"], "tvly-[A-Za-z0-9-]{16,}", has_digit),
    (&["r8_"], "r8_[A-Za-z0-9]{20,}", is_any),
    (&["hf_"], "hf_[A-Za-z0-9]{24,}", is_any),
    (&["lsv2_"], "lsv2_[a-z]{2}_[A-Za-z0-9_]{20,}", is_any),
    (&["k_live_", "k_test_"], "[rs]k_(?:live|test)_[A-Za-z0-9]{16,}", is_any),
    (&["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], "gh[opusr]_[A-Za-z0-9]{20,}", is_any),
    (&["github_pat_"], "github_pat_[A-Za-z0-9_]{20,}", is_any),
    (&["glpat-"], "glpat-[A-Za-z0-9_-]{16,}", is_any),
    (&["npm_"], "npm_[A-Za-z0-9]{30,}", is_any),
    (&["pypi-AgE"], "pypi-AgE[A-Za-z0-9_-]{16,}", is_any),
    (&["dckr_pat_"], "dckr_pat_[A-Za-z0-9_-]{20,}", is_any),
    (&["_v1_"], "do[opr]_v1_[A-Za-z0-9]{20,}", is_any),
    (&["SG."], r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", is_any),
    (&["ya29."], r"ya29\.[A-Za-z0-9_-]{16,}", is_any),
    (&["GOCSPX-"], "GOCSPX-[A-Za-z0-9_-]{16,}", is_any),
    (&["AIza"], "AIza[0-9A-Za-z_-]{35}", is_any),
    (&["AKIA", "ASIA"], r"(?:AKIA|ASIA)[0-9A-Z]{16}(?-u:\b)", is_any),
    (&["xox"], "xox[abeoprs]-[A-Za-z0-9-]{10,}", has_digit),
    (&["eyJ"], r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}", is_any),
];

/// Forms that are keys wherever they stand.
pub(super) static KEYS: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    let start = format!(r"(?:(?-u:\b)|{ESCAPE})");
    let prefixed = PREFIXED
        .map(|(hints, looks, is_it)| (Kind::Key, hints, format!("{start}({looks})"), is_it));
    let others: [Row; 3] = [
        (
            Kind::Key,
            &["earer", "EARER"],
            format!(r"(?i){start}bearer[ \t]+([A-Za-z0-9._~+/-]{{12,}}=*)"),
            has_digit,
        ),
        // Characters that commonly end a text or an address end it here, too: the next `@` may be
        // that of an e-mail address.
        (
            Kind::Key,
            &["://"],
            format!("[A-Za-z][A-Za-z0-9+.-]*://{USER}*:({USER_OR_COLON}+)@"),
            is_any,
        ),
        // The lines of a key, whether its end follows or was cut off.
        (Kind::Key, &["PRIVATE KEY"], private_key(), is_any),
    ];
    shapes(prefixed.into_iter().chain(others))
});

/// Characters of a name of a user in an address.
const USER: &str = r#"[^\s/:@?#"'`\\,;&|{}\[\]<>()]"#;
/// Characters of a password in an address.
const USER_OR_COLON: &str = r#"[^\s/@?#"'`\\,;&|{}\[\]<>()]"#;

/// Returns the expression of a private key: of its lines, also if they are quoted or numbered.
fn private_key() -> String {
    let between = r#"(?:[\s"'+,>|]|\\+[nrt]|[0-9]{1,6}(?:\t|\\t|→))"#;
    let header = r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): [^\r\n\\]*";
    let line = r"[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9+/]{1,15}={1,2}|=[A-Za-z0-9+/]{4}";
    format!(
        r"-----BEGIN [A-Z ]{{0,30}}PRIVATE KEY(?: BLOCK)?-----((?:{between}+(?:{header}|{line}))+)"
    )
}

/// Names of settings that hold secrets. A bare `key` is none: it may be the key of a map or of a
/// cache.
const NAME: &str = concat!(
    r"(?i:(?:api|access|account|admin|anthropic|auth|client|deploy|encryption|master|openai",
    r"|private|secret|service|shared|signing|storage|subscription)[ _.-]?keys?(?:[_-]?id)?",
    r"|token|secrets?|passw(?:or)?ds?|pwd|passphrases?|credentials?|authorization|cookie)",
    r"(?:_[0-9]{1,3})?",
);
/// Names of settings whose values may be words.
const PASSWORD: &str = r"(?i:passw(?:or)?d|passphrase)(?:_[0-9]{1,3})?";
/// Parts of values that stand for a password and are none.
const STAND_INS: [&str; 11] =
    ["pass", "pwd", "word", "secret", "token", "key", "env", "input", "string", "require", "valid"];

static NAMES: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(&format!("{NAME}$")).ok());
static PASSWORDS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(&format!("{PASSWORD}$")).ok());

/// Returns true if a text is the secret that the name of its setting promises, also behind one word
/// (`Basic`) and among the parts of a cookie.
pub(super) fn is_secret(name: &str, text: &str) -> bool {
    let names = |names: &Option<Regex>| names.as_ref().is_some_and(|names| names.is_match(name));
    let is_scheme = |word: &str| word.len() <= 8 && word.bytes().all(|b| b.is_ascii_alphabetic());
    let is_one = |part: &str| {
        let behind = part.split_once(' ').filter(|(word, _)| is_scheme(word));
        is_secret_value(behind.map_or(part, |(_, value)| value))
    };
    names(&NAMES) && text.split("; ").any(is_one) || names(&PASSWORDS) && is_password(text)
}

/// Forms that are something to remove because of what is beside them, and what is not a key.
pub(super) static OTHERS: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    let value = r#"([^\s"'`\\,;&|<>(){}\[\]]{12,})"#;
    let quotes = r#"["'\\]"#;
    let is = format!(r"{quotes}{{0,4}}[ \t]{{0,3}}(?:=>|[:=])[ \t]{{0,3}}");
    let scheme = r"(?:(?i:basic|token|bearer|apikey)[ \t]{1,3})?";
    // Letters of languages with spaces between words.
    let letters = r"A-Za-z0-9\p{Latin}\p{M}";
    let before = format!(r"(?:^|{ESCAPE}|[^\\{letters}._%+-]|\\[^\\]|%[G-Zg-z])");
    let site = format!(r"[{letters}-]+(?:\.[{letters}-]+)*\.[A-Za-z]{{2,}}");
    let unix = format!(r"(?:^|[^A-Za-z0-9._~/\]-]|{ESCAPE}|{REMOTE})(?:-[A-Za-z])?");
    let above =
        format!("(?:{SLASH}(?:data|export|host|mnt|nfs|usr|var|System{SLASH}Volumes{SLASH}Data))?");
    let user = r"[\w-]+(?:\.[\w-]+)*";
    // Names of Windows and macOS may have spaces, which only a following slash tells from the end.
    let users =
        format!(r"(?:({user}(?:(?: |%20)(?-i:\p{{Lu}})[\w.-]*){{1,2}})(?:[\\/]|%2F|%5C)|({user}))");
    let drive = format!("(?:(?-u:\\b)|{ESCAPE})[a-z](?::|%3A)");
    let mounted = format!("{unix}{SLASH}(?:(?:mnt|cygdrive){SLASH})?[a-z]");
    let any_slash = r"(?:[\\/]{1,4}|%2F|%5C)";
    // Folders of coding agents are named by the path of a project: `-home-jane-project`.
    let encoded = "(?:-(?:home|Users)|(?:[A-Za-z]-|-mnt-[a-z])-[Uu]sers)";
    let rows: [Row; 8] = [
        (
            Kind::Key,
            &["=", ":"],
            format!(r"{NAME}{is}\[?{quotes}{{0,4}}{scheme}{value}"),
            is_secret_value,
        ),
        (
            Kind::Key,
            &["=", ":"],
            format!(r"(?:{PASSWORD}{is}{quotes}{{1,4}}|(?:PASSWORD|PASSWD|PASSPHRASE)=){value}"),
            is_password,
        ),
        (
            Kind::Key,
            &["ookie", "OOKIE"],
            r#"(?i)cookie["'\\]{0,4}:[ \t]{0,3}["'\\]{0,4}([^\s"'`\\<>\[\]][^\r\n"'`\\<>\[\]]+)"#
                .to_owned(),
            is_cookie,
        ),
        (Kind::Key, &["://"], format!("://({USER}{{12,}})@"), is_secret_value),
        (
            Kind::Email,
            &["@", "%40"],
            format!("{before}([{letters}._+-]+(?:@|%40){site})"),
            is_address,
        ),
        (
            Kind::Path,
            &["home", "Users"],
            format!("{unix}{above}{SLASH}(?:home{SLASH}({user})|Users{SLASH}{users})"),
            is_person,
        ),
        (
            Kind::Path,
            &["sers", "SERS"],
            format!("(?i)(?:{drive}|{mounted}){any_slash}users{any_slash}{users}"),
            is_person,
        ),
        (
            Kind::Project,
            &["home-", "sers-"],
            format!(r"(?:^|[^A-Za-z0-9._~\]-]|{ESCAPE}){encoded}-([\w-]+)"),
            is_any,
        ),
    ];
    shapes(rows)
});

/// Expression of a slash, also if it is escaped.
const SLASH: &str = r"(?:\\{0,2}/|%2[Ff])";
/// Expression of the start of an address of a file of this or of another computer. The home folder
/// of a site is none.
const REMOTE: &str =
    r"(?:file|sftp|ssh|vscode-remote)(?::|%3[Aa])(?:/|%2[Ff]){2}[A-Za-z0-9_.%+@-]*";

/// Endings of files whose names look like an e-mail address: `icon@2x.png`, `node@18.11.9.tgz`.
const FILE_ENDINGS: [&str; 32] = [
    "avif", "cjs", "css", "csv", "gif", "gz", "html", "ico", "jpeg", "jpg", "js", "json", "jsonl",
    "jsx", "log", "map", "mjs", "pdf", "png", "service", "svg", "tgz", "toml", "ts", "tsx", "txt",
    "wasm", "webp", "whl", "xml", "yaml", "yml",
];
/// Names of home folders that are the same on many computers.
const NO_PERSONS: [&str; 8] =
    ["default", "node", "public", "runner", "shared", "ubuntu", "user", "vscode"];

fn is_any(_: &str) -> bool {
    true
}

/// Keys contain digits; ordinary words do not.
fn has_digit(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

fn is_address(text: &str) -> bool {
    let ending = text.rsplit('.').next().unwrap_or_default();
    !text.starts_with("git@") && !FILE_ENDINGS.iter().any(|file| ending.eq_ignore_ascii_case(file))
}

fn is_person(name: &str) -> bool {
    !NO_PERSONS.iter().any(|other| name.eq_ignore_ascii_case(other))
}

fn is_cookie(text: &str) -> bool {
    text.contains('=') && text.split("; ").any(is_secret_value)
}

/// Returns true for a value as secrets have it: letters and digits without much repetition.
fn is_secret_value(text: &str) -> bool {
    let is_word = |c: char| c.is_ascii_graphic() && !matches!(c, '[' | ']' | '<' | '>' | '{' | '}');
    text.len() >= SHORTEST_VALUE
        && text.chars().all(is_word)
        && has_digit(text)
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
        && !is_reference(text)
        && !text.contains("://")
        && entropy(text) >= LEAST_ENTROPY
}

/// Returns true for a value that consists of letters as those of passwords do, and of no word that
/// code and documents write in place of one.
fn is_password(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || b"-!@#%^*+?".contains(&byte);
    let is_stand_in = || {
        let text = text.to_ascii_lowercase();
        STAND_INS.iter().any(|part| text.contains(part))
    };
    text.len() >= SHORTEST_VALUE
        && text.bytes().all(is_letter)
        && !is_stand_in()
        && entropy(text) >= LEAST_ENTROPY
}

/// Returns true for a path with an ordinary word in it, and for a variable.
fn is_reference(text: &str) -> bool {
    let is_word = |part: &str| {
        let mut bytes = part.bytes();
        part.len() >= 3
            && bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic())
            && bytes.all(|byte| byte.is_ascii_lowercase())
    };
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    match text.as_bytes() {
        [b'$', b'{' | b'(', ..] | [b'~', b'/', ..] => true,
        [b'$', rest @ ..] => rest.iter().copied().all(is_name),
        [b'/' | b'.' | b'~', ..] => text.split(['/', '.', '_', '-']).any(is_word),
        _ => false,
    }
}

fn entropy(text: &str) -> f64 {
    let mut counts: HashMap<u8, f64> = HashMap::new();
    for byte in text.bytes() {
        *counts.entry(byte).or_default() += 1.0;
    }
    let length: f64 = counts.values().sum();
    counts.values().map(|count| -(count / length) * (count / length).log2()).sum()
}

/// Returns the number of forms that are searched for, and of those that should be.
#[cfg(test)]
pub(super) fn counts() -> (usize, usize) {
    (KEYS.len() + OTHERS.len(), PREFIXED.len() + 3 + 8)
}

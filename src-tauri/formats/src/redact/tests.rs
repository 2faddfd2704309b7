//! Tests that keys, addresses and home folders are removed, and nothing else.
use super::*;
use proptest::prelude::*;

/// Texts with secrets, and what they become. Each form of [`shapes`] has a row of its own.
const TABLE: [(&str, &str); 71] = [
    ("key sk-ant-api03-AbCdEf_123456-xyz!", "key [redacted]!"),
    ("csk-0123456789abcdefghij", "[redacted]"),
    ("gsk_0123456789abcdefGHIJ", "[redacted]"),
    ("xai-0123456789abcdefGHIJ", "[redacted]"),
    ("pplx-0123456789abcdefGHIJ", "[redacted]"),
    ("nvapi-0123456789abcdef-GHIJ", "[redacted]"),
    ("tvly-dev-0123456789abcdef", "[redacted]"),
    ("r8_0123456789abcdefGHIJ", "[redacted]"),
    ("hf_0123456789abcdefghijABCD", "[redacted]"),
    ("lsv2_pt_0123456789abcdef_01234567", "[redacted]"),
    (concat!("sk_", "live_0123456789abcdef"), "[redacted]"),
    (concat!("rk_", "live_0123456789abcdef"), "[redacted]"),
    ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted]"),
    ("github_pat_11AAAAAAA0123456789_abcdef", "[redacted]"),
    (concat!("glp", "at-0123456789abcdef"), "[redacted]"),
    ("npm_0123456789abcdefghijABCDEFGHIJ", "[redacted]"),
    ("pypi-AgEIcHlwaS5vcmcCJDAx", "[redacted]"),
    ("dckr_pat_0123456789abcdefGHIJ", "[redacted]"),
    ("dop_v1_0123456789abcdef0123456789abcdef", "[redacted]"),
    (concat!("S", "G.0123456789abcdef.0123456789abcdef"), "[redacted]"),
    ("ya29.a0AfH6SMB0123456789", "[redacted]"),
    ("GOCSPX-0123456789abcdef", "[redacted]"),
    ("AIzaSyA0123456789abcdefghijklmnopqrstuv", "[redacted]"),
    ("AKIAIOSFODNN7EXAMPLE.", "[redacted]."),
    ("xoxb-123456789012-abcdef", "[redacted]"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4", "[redacted]"),
    ("Authorization: Bearer abc.def-123456==", "Authorization: Bearer [redacted]"),
    ("postgres://me:hunter2@localhost/x", "postgres://me:[redacted]@localhost/x"),
    (
        "-----BEGIN EC PRIVATE KEY-----\nMIIBVgIBADANBgkqhkiG9w\nAA=\n-----END EC PRIVATE KEY-----",
        "-----BEGIN EC PRIVATE KEY-----[redacted]\n-----END EC PRIVATE KEY-----",
    ),
    (
        concat!(
            "-----BEGIN RSA PRIVATE KEY-----\n",
            "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,01\n\nMIIBVgIBADANBgkqhkiG9w\n",
        ),
        "-----BEGIN RSA PRIVATE KEY-----[redacted]\n",
    ),
    (
        r"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBGPgAAABCADIMIIB\n=aB3d\n[truncated]",
        r"-----BEGIN PGP PRIVATE KEY BLOCK-----[redacted]\n[truncated]",
    ),
    (
        "-----BEGIN PRIVATE KEY-----\n  2\tMIIBVgIBADANBgkqhkiG9w\n  3→MIIBVgIBADANBgkqh\nThe rest",
        "-----BEGIN PRIVATE KEY-----[redacted]\nThe rest",
    ),
    ("OPENAI_API_KEY=a8f5f167f44f4964e6c998", "OPENAI_API_KEY=[redacted]"),
    ("OPENAI_API_KEY_2=a8f5f167f44f4964e6c998", "OPENAI_API_KEY_2=[redacted]"),
    ("B2_ACCESS_KEY_ID=a8f5f167f44f4964e6c998", "B2_ACCESS_KEY_ID=[redacted]"),
    ("\"token\": \"q9Zk2LmW81xYtB\"", "\"token\": \"[redacted]\""),
    (r#"{\"secret\": \"q9Zk2LmW81xYtB\"}"#, r#"{\"secret\": \"[redacted]\"}"#),
    (r#""api_keys": ["q9Zk2LmW81xYtB"]"#, r#""api_keys": ["[redacted]"]"#),
    ("Password: Tr0ub4dor3xyz", "Password: [redacted]"),
    ("DB_PASSWORD=/p9Zk2LmW81xYtB", "DB_PASSWORD=[redacted]"),
    ("DB_PASSWORD=$p9Zk2!LmW81xYtB", "DB_PASSWORD=[redacted]"),
    ("passphrase = q9Zk2LmW81xYtB", "passphrase = [redacted]"),
    ("Authorization: Basic amFuZTpodW50ZXIyMTIz", "Authorization: Basic [redacted]"),
    ("DB_PASSWORD=correcthorsebattery", "DB_PASSWORD=[redacted]"),
    (r#""password": "correcthorsebattery""#, r#""password": "[redacted]""#),
    ("Cookie: theme=dark; session=q9Zk2LmW81xYtB", "Cookie: [redacted]"),
    ("https://q9Zk2LmW81xYtB@host/x", "https://[redacted]@host/x"),
    ("write to jane.doe+x@mail.example.org, please", "write to [redacted], please"),
    ("?user=jane%40example.org&x", "?user=[redacted]&x"),
    ("jürgen@example.org", "[redacted]"),
    ("cd /home/jane/src", "cd /home/[redacted]/src"),
    ("in /Users/jane.doe.", "in /Users/[redacted]."),
    ("file:///home/jane/x", "file:///home/[redacted]/x"),
    (
        "-I/home/jane/include -L/Users/jane/lib",
        "-I/home/[redacted]/include -L/Users/[redacted]/lib",
    ),
    ("/var/home/jane /export/home/jane", "/var/home/[redacted] /export/home/[redacted]"),
    ("path=%2Fhome%2Fjane%2Fx", "path=%2Fhome%2F[redacted]%2Fx"),
    (r"\/home\/jane\/x", r"\/home\/[redacted]\/x"),
    ("vscode-remote://wsl%2Bubuntu/home/jane/x", "vscode-remote://wsl%2Bubuntu/home/[redacted]/x"),
    ("/home/jürgen/x", "/home/[redacted]/x"),
    ("/Users/Jane Doe/x", "/Users/[redacted]/x"),
    (r"C:\Users\jane\x", r"C:\Users\[redacted]\x"),
    (r"C:\Users\Jane Doe\x", r"C:\Users\[redacted]\x"),
    (r"C:\\Users\\jane\\x", r"C:\\Users\\[redacted]\\x"),
    (r"c:\users\jane\x", r"c:\users\[redacted]\x"),
    ("c:/Users/jane/x", "c:/Users/[redacted]/x"),
    ("/mnt/c/Users/jane, /c/Users/jane", "/mnt/c/Users/[redacted], /c/Users/[redacted]"),
    ("file:///c%3A/Users/jane/x", "file:///c%3A/Users/[redacted]/x"),
    ("/home/a:/home/b", "/home/[redacted]:/home/[redacted]"),
    ("projects/-home-jane-doe-proj/1.jsonl", "projects/-home-[redacted]/1.jsonl"),
    ("-Users-jane-proj C--Users-jane-proj", "-Users-[redacted] C--Users-[redacted]"),
    ("\u{1b}[01;34m/home/jane\u{1b}[0m", "\u{1b}[01;34m/home/[redacted]\u{1b}[0m"),
];

#[test]
fn keys_addresses_and_home_folders_are_replaced() {
    for (text, expected) in TABLE {
        assert_eq!(redact(text).0, expected);
        assert_eq!(redact(expected).0, expected, "twice is once");
    }
}

#[test]
fn an_escape_before_a_secret_hides_nothing() {
    for escape in [r"\n", r"\t", r"\u0022", r"\\n", "%20", "\u{1b}[31m"] {
        for (text, expected) in TABLE {
            let (text, expected) = (format!("x{escape}{text}"), format!("x{escape}{expected}"));
            assert_eq!(redact(&text).0, expected);
        }
    }
}

#[test]
fn each_form_is_in_the_table() {
    let (known, wanted) = shapes::counts();
    assert_eq!(known, wanted);
    for (at, shape) in KEYS.iter().chain(OTHERS.iter()).enumerate() {
        assert!(TABLE.iter().any(|(text, _)| shape.places(text).count() > 0), "{at}");
    }
}

#[test]
fn ordinary_text_is_borrowed_as_it_is() {
    for text in [
        "",
        "The sk-learn API and max_tokens=4096; primary key: customer_id.",
        "token: undefined, key = value, password: ${PASSWORD_FROM_ENV_2}",
        "https://example.org/home/index.html, src/home/page1, /homework/7",
        "secret=/usr/share/key1/file2x and token=https://example.org/a1b2",
        "3 @ 4, a@b, @handle, b = a @ c",
        "sort key: 2024-05-01, key: aaaaaaaaaaaa1",
        r#"{"key": "gpt-4o-2024-08-06-run1", "cache_key": "gpt-4o-2024-08-06-run1"}"#,
        "primary_key: q9Zk2LmW81xYtB, monkey=q9Zk2LmW81xYtB",
        "icon@2x.png, git@github.com:a/b.git, node@18.11.9.tgz, @scope/a@1.2.3, 588_CoT@1.yaml",
        "by%20%40jane.doe, npm%2F%40scope%2Fa",
        r"import pytest\n\n@pytest.fixture\ndef a(): pass",
        "/home/runner/work, /Users/Shared, C:\\Users\\Public\\x, /home/$USER",
        "GET https://api.example.org/v1/users/jane, import x from '../home/page'",
        "at-home-workout, single-family-home-sales, take-home-pay, --home-dir",
        "password=getPasswordFromEnv(), \"password\": \"Enter your password\", PASSWORD=undefined",
        "-----BEGIN PRIVATE KEY----- is the first line of it.",
        "pypi-publish, r8_1, task-0123456789abcdefghij, The cookie: it is sweet",
        MARK,
    ] {
        let (clean, counts) = redact(text);
        assert!(matches!(clean, Cow::Borrowed(same) if same == text), "{text} {clean}");
        assert_eq!(counts.total(), 0);
    }
}

#[test]
fn places_are_counted_by_their_kind() {
    let (_, counts) = redact("a@b.org in /home/jane, with AKIAIOSFODNN7EXAMPLE, c@d.org");
    assert_eq!(
        counts,
        Redactions { keys: 1, emails: 2, paths: 1, names: 0, ..Redactions::default() }
    );
    let sentence = "4 places were redacted: 1 key, 2 e-mail addresses, 1 home folder.";
    assert_eq!(counts.describe(), sentence);
    assert_eq!(Redactions::default().describe(), "Nothing was found to redact.");
}

#[test]
fn the_value_of_a_key_that_names_a_secret_is_redacted() {
    let text = r#"{"api_key":"q9Zk2LmW81xYtB","rows":[{"a@b.org":"/home/jane"}],"n":7}"#;
    let mut value = touchstone_model::json::read(text).unwrap();
    let mut redactor = DocumentRedactor::default();
    redactor.value(&mut value);
    let counts = redactor.counts();
    let expected = r#"{"api_key":"[redacted]","rows":[{"[redacted]":"/home/[redacted]"}],"n":7}"#;
    assert_eq!(touchstone_model::json::write(&value, false), expected);
    assert_eq!(
        counts,
        Redactions { keys: 1, emails: 1, paths: 1, names: 0, ..Redactions::default() }
    );
}

/// Redacts a JSON document as a whole.
fn redact_json(document: &str) -> (String, Redactions) {
    let mut redactor = DocumentRedactor::default();
    let mut clean = document.to_owned();
    redactor.document(&mut clean, DocumentRedactor::json);
    (clean, redactor.counts())
}

#[test]
fn the_name_of_a_home_folder_is_redacted_wherever_it_is_a_word_unless_it_is_a_common_one() {
    for (folder, text, expected) in [
        ("/home/alice/x", "Alice asked ALICE's alice_db, alice.", Some("@ asked @'s @_db, @.")),
        ("/home/alice/x", "alice alice\nalice", Some("@ @\n@")),
        ("/home/alice/x", r"\nalice\talice", Some(r"\n@\t@")),
        ("/home/alice/x", "malice, alices and alice2 remain", None),
        (r"C:\Users\alice\x", "by alice-laptop", Some("by @-laptop")),
        ("/Users/Jane Doe/x", "by jane doe", Some("by @")),
        ("/home/anna/x /home/annabel/y", "anna and annabel", Some("@ and @")),
        ("/home/jö-ann/x", "Jö-Ann did it", Some("@ did it")),
        ("/home/bob/x", "bob has three letters", None),
        ("/home/x1234/x", "x1234 has one", None),
        ("/home/root/x", "root is everywhere", None),
        ("/home/mark/x", "mark the file", None),
        ("/home/username/x", "the username", None),
        ("/home/ubuntu/x", "on ubuntu", None),
        ("/home/core/x /home/spark/x", "the core of Spark", None),
        ("/home/vagrant/x /home/hadoop/x", "vagrant up, then hadoop", None),
        ("/home/ec2-user/x", "ssh as ec2-user", None),
        ("/home/jovyan/x /home/openhands/x", "import openhands as jovyan", None),
        ("/home/swe-agent/x", "swe-agent ran", None),
        ("-home-alice-shop", "alice is not told from the project", None),
    ] {
        let mut texts = [text.to_owned(), folder.to_owned()];
        let mut redactor = DocumentRedactor::default();
        redactor.document(&mut texts, |redactor, texts| {
            for text in texts {
                redactor.text(text);
            }
        });
        let expected = expected.unwrap_or(text).replace('@', MARK);
        assert_eq!(texts[0], expected, "{folder}");
        let count = expected.matches(MARK).count() as u64;
        assert_eq!(redactor.counts().names, count, "{folder}");
    }
}

#[test]
fn a_name_that_was_found_is_redacted_in_the_next_document_too() {
    let mut redactor = DocumentRedactor::default();
    let document = r#"{"alice":1,"a":{"alice":["by alice"],"Alice":2},"cwd":"/home/alice/x"}"#;
    let mut clean = document.to_owned();
    redactor.document(&mut clean, DocumentRedactor::json);
    let expected = r#"{"[redacted]":1,"a":{"[redacted]":["by [redacted]"],"[redacted 2]":2},"cwd":"/home/[redacted]/x"}"#;
    assert_eq!(clean, expected);
    let mut next = "alice again".to_owned();
    redactor.document(&mut next, DocumentRedactor::text);
    assert_eq!(next, "[redacted] again");
    let sentence = "6 places were redacted: 1 home folder, 5 names of users.";
    assert_eq!(redactor.counts().describe(), sentence);
}

#[test]
fn a_name_that_is_learnt_first_is_redacted_in_every_document_without_being_counted() {
    let texts = |redactor: &mut DocumentRedactor, texts: &mut [String; 2]| {
        redactor.label(&mut texts[0]);
        redactor.text(&mut texts[1]);
    };
    let mut redactor = DocumentRedactor::default();
    redactor.learn_users(&mut ["a@b.org".into(), "/home/alice/x".into()], texts);
    assert_eq!(redactor.counts(), Redactions::default());
    let mut earlier = ["alice".to_owned(), "alice did".to_owned()];
    redactor.document(&mut earlier, texts);
    assert_eq!(earlier, ["alice", "[redacted] did"], "the name of a system stays");
    let mut key = ["AKIAIOSFODNN7EXAMPLE".to_owned(), String::new()];
    redactor.document(&mut key, texts);
    assert_eq!(key[0], MARK, "but not a key in it");
}

#[test]
fn users_beyond_those_that_are_looked_for_are_told_of() {
    let letter = |number: u32| char::from_u32('a' as u32 + number).unwrap();
    let user = |number: u32| format!("user{}{}", letter(number / 8), letter(number % 8));
    let redact = |most: u32| {
        let homes: Vec<String> =
            (0..most).map(|number| format!("/home/{}/x", user(number))).collect();
        let mut text = format!("{} by {} and {}", homes.join(" "), user(0), user(most - 1));
        let mut redactor = DocumentRedactor::default();
        redactor.document(&mut text, DocumentRedactor::text);
        (text.rsplit_once("by ").unwrap().1.to_owned(), redactor.counts())
    };
    let (text, counts) = redact(64);
    assert_eq!(text, "[redacted] and [redacted]");
    assert!(!counts.has_more_users && !counts.describe().contains("more than"));
    let (text, counts) = redact(65);
    assert_eq!(text, "[redacted] and useria");
    let sentence = "66 places were redacted: 65 home folders, 1 name of a user. There are more than \
                    64 names of users: the further ones were redacted only in home folders.";
    assert_eq!(counts.describe(), sentence);
}

/// Documents whose redaction needs more than one text, and what they become.
const DOCUMENTS: [(&str, &str); 8] = [
    (r#"{"api_keys":["q9Zk2LmW81xYtB","x"]}"#, r#"{"api_keys":["[redacted]","x"]}"#),
    (r#"{"api_keys":[["q9Zk2LmW81xYtB"]]}"#, r#"{"api_keys":[["[redacted]"]]}"#),
    (r#"{"secret":[{"a":"q9Zk2LmW81xYtB"}]}"#, r#"{"secret":[{"a":"q9Zk2LmW81xYtB"}]}"#),
    (r#"{"secret":7,"a":["q9Zk2LmW81xYtB"]}"#, r#"{"secret":7,"a":["q9Zk2LmW81xYtB"]}"#),
    (r#"{"Authorization":"Basic amFuZTpodW50"}"#, r#"{"Authorization":"[redacted]"}"#),
    (
        r#"{"a@x.org":1,"b@x.org":{"a@x.org":2},"[redacted 2]":3,"[redacted]":4}"#,
        r#"{"[redacted]":1,"[redacted 2]":{"[redacted]":2},"[redacted 2 2]":3,"[redacted 3]":4}"#,
    ),
    (
        r#"[{"/home/a/x":1,"/home/b/x":2},{"/home/a/x":3}]"#,
        r#"[{"/home/[redacted]/x":1,"/home/[redacted 2]/x":2},{"/home/[redacted]/x":3}]"#,
    ),
    (r#"{"password":"correcthorsebattery"}"#, r#"{"password":"[redacted]"}"#),
];

#[test]
fn names_and_lists_are_judged_together_and_no_entry_is_lost() {
    for (document, expected) in DOCUMENTS {
        assert_eq!(redact_json(document).0, expected);
        assert_eq!(redact_json(expected).0, expected, "twice is once");
        let mut value = touchstone_model::json::read(document).unwrap();
        DocumentRedactor::default().value(&mut value);
        assert_eq!(touchstone_model::json::write(&value, false), expected);
    }
}

#[test]
fn a_json_document_is_redacted_in_its_texts_and_keeps_its_form() {
    let text = "{ \"api_key\" :\t\"q9Zk2LmW81xYtB\",\n  \"a\\nb\": [1.50, \"\\u00e9 \\n\\\"a@b.org\\\"\", \"\\u00e9\"], \"secret\": 7}";
    let expected = "{ \"api_key\" :\t\"[redacted]\",\n  \"a\\nb\": [1.50, \"é \\n\\\"[redacted]\\\"\", \"\\u00e9\"], \"secret\": 7}";
    let (clean, counts) = redact_json(text);
    assert_eq!(clean, expected);
    assert_eq!(
        counts,
        Redactions { keys: 1, emails: 1, paths: 0, names: 0, ..Redactions::default() }
    );
    assert_eq!(redact_json(&clean).0, clean);
    for broken in ["", "\"", "{\"a", "\"\\", "not json"] {
        assert_eq!(redact_json(broken).0, broken);
    }
}

#[test]
fn a_long_text_of_near_matches_takes_little_time() {
    for piece in [
        "a",
        "a.",
        "key=",
        "token=",
        "/home/",
        "/Users/a B",
        "C:/Users/",
        "-home-a ",
        "file://",
        "eyJaaaaaaaaaa.",
        "sk-",
        "x@y.",
        "a%40b.cc.",
        "://a:",
        "://aaaaaaaaaaaa1",
        "cookie: a=b; ",
        "-----BEGIN PRIVATE KEY-----\nMIIBVgIBADANBgkqhkiG9w",
        "\\n",
    ] {
        let text = piece.repeat(100_000 / piece.len());
        let start = std::time::Instant::now();
        let _ = redact(&text);
        assert!(start.elapsed().as_secs() < 20, "{piece}");
    }
}

proptest! {
    #[test]
    fn redacting_twice_is_redacting_once(
        pieces in proptest::collection::vec(
            prop_oneof![
                "[ -~]{0,12}",
                proptest::sample::select(TABLE.map(|(text, _)| text.to_owned()).to_vec()),
                proptest::sample::select(vec!["@", "/home/", "key=", "\\", "[", "]", "é"])
                    .prop_map(str::to_owned),
            ],
            0..8,
        ),
    ) {
        let text = pieces.concat();
        let once = redact(&text).0.into_owned();
        let (twice, counts) = redact(&once);
        prop_assert_eq!(&*twice, once.as_str());
        prop_assert_eq!(counts.total(), 0);
    }

    #[test]
    fn a_text_without_marks_of_a_secret_stays(text in "[a-z ,.\n]{0,200}") {
        prop_assert_eq!(redact(&text).0, text.as_str());
    }
}

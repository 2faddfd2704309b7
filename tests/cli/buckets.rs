//! Results in a bucket on the command line: commands that read take its address in place of a folder,
//! others refuse it, and no key appears anywhere.
use crate::s3_server::{Fault, S3Server};
use crate::sandbox::{ANSWERED, Ran, Sandbox};

const ADDRESS: &str = "s3://bucket/team";
const SECRET: &str = "canary-secret-of-s3";

fn run(sandbox: &Sandbox, server: &S3Server, arguments: &[&str]) -> Ran {
    let mut command = sandbox.command(arguments);
    command
        .env("AWS_ACCESS_KEY_ID", "canary-id-of-s3")
        .env("AWS_SECRET_ACCESS_KEY", SECRET)
        .env("AWS_ENDPOINT_URL_S3", &server.endpoint)
        .env("RUST_LOG", "trace")
        .env("AWS_CONFIG_FILE", sandbox.root().join("none"))
        .env("AWS_SHARED_CREDENTIALS_FILE", sandbox.root().join("none"));
    let ran = Ran::from(command.output().unwrap());
    for text in [&ran.out, &ran.err] {
        assert!(!text.contains("canary"), "{text}");
    }
    ran
}

#[test]
fn commands_that_read_take_the_address_of_a_bucket() {
    let sandbox = Sandbox::with("bucket-read", &[]);
    let server = S3Server::start();
    server.put("team/results/t-tool_calling-claude-variation0.yaml", ANSWERED);
    server.put("team/results/t-tool_calling-o1-variation0.yaml", ANSWERED);
    for (arguments, words) in [
        (vec!["list", ADDRESS], "t-tool_calling-o1-variation0"),
        (vec!["index", ADDRESS], "2 runs"),
        (vec!["stats", ADDRESS], "claude"),
        (vec!["search", "tickets", ADDRESS], ""),
        (vec!["failures", ADDRESS], ""),
        (vec!["report", ADDRESS, "--out", ".."], ""),
        (vec!["show", "s3://bucket/team/results/t-tool_calling-o1-variation0.yaml"], ""),
        (
            vec![
                "compare",
                "s3://bucket/team/results/t-tool_calling-o1-variation0.yaml",
                "s3://bucket/team/results/t-tool_calling-claude-variation0.yaml",
            ],
            "",
        ),
    ] {
        let ran = run(&sandbox, &server, &arguments);
        assert!(
            ran.status < 2 && ran.out.contains(words),
            "{arguments:?}: {} {}",
            ran.out,
            ran.err
        );
    }
    // A new object is there in the next command.
    server.put("team/results/t-tool_calling-new-variation0.yaml", ANSWERED);
    let ran = run(&sandbox, &server, &["list", ADDRESS]);
    assert!(ran.out.contains("new-variation0"), "{}", ran.out);
    assert_eq!(server.unsigned(), 0);
    // The copy is removed on demand.
    let ran = run(&sandbox, &server, &["clear", ADDRESS]);
    assert!(ran.out.contains("deleted. The bucket is unchanged."), "{} {}", ran.out, ran.err);
    let names: Vec<_> = std::fs::read_dir(sandbox.root().join("cache/buckets"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    assert!(names.len() == 1, "only the copy of the folder of `show` is left: {names:?}");
}

#[test]
fn commands_that_write_refuse_a_bucket_and_say_how_to_go_on() {
    let sandbox = Sandbox::with("bucket-write", &[]);
    let server = S3Server::start();
    server.put("team/results/a-tool_calling-o1-variation0.yaml", ANSWERED);
    let file = "s3://bucket/team/results/a-tool_calling-o1-variation0.yaml";
    for arguments in [
        vec!["run", ADDRESS, "-s", "tool_calling", "-m", "o1"],
        vec!["plan", ADDRESS, "-s", "tool_calling", "-m", "o1"],
        vec!["review", file, "right"],
        vec!["nudge", file, "go on"],
    ] {
        let ran = run(&sandbox, &server, &arguments);
        assert_eq!(ran.status, 2, "{arguments:?}: {} {}", ran.out, ran.err);
        assert!(ran.err.contains("only read"), "{arguments:?}: {}", ran.err);
        assert!(ran.err.contains("aws s3 sync s3://bucket/team"), "{arguments:?}: {}", ran.err);
    }
    assert_eq!(server.requests_seen(), (0, Vec::new()), "nothing was asked for");
    let ran = run(&sandbox, &server, &["run", "s3://me:canary@bucket/x", "-s", "a", "-m", "o1"]);
    assert!(ran.status == 2 && ran.err.contains("holds a name or a password"), "{}", ran.err);
    let fault = Fault::error(403, "AccessDenied");
    server.put("team/results/b-tool_calling-o1-variation0.yaml", ANSWERED);
    server.break_object("team/results/b-tool_calling-o1-variation0.yaml", fault);
    let ran = run(&sandbox, &server, &["gate", ADDRESS, "--update"]);
    assert!(ran.status == 2 && ran.err.contains("is a bucket, which is only read"), "{}", ran.err);
    assert!(ran.err.contains("1 object of the bucket was not copied"), "{}", ran.err);
}

#[test]
fn what_is_wrong_with_a_bucket_is_a_sentence_and_the_status_is_two() {
    let sandbox = Sandbox::with("bucket-wrong", &[]);
    let server = S3Server::start();
    for (fault, words) in [
        (Some(Fault::error(403, "AccessDenied")), "is denied (AccessDenied, 403)"),
        (
            Some(Fault::error(301, "").header("x-amz-bucket-region", "eu-north-1")),
            "AWS_REGION=eu-north-1",
        ),
    ] {
        server.outage(fault);
        let ran = run(&sandbox, &server, &["list", ADDRESS]);
        assert_eq!(ran.status, 2);
        assert!(ran.err.contains(words), "{}", ran.err);
    }
    server.outage(None);
    let ran = run(&sandbox, &server, &["list", "s3://me:canary@bucket/team"]);
    assert!(ran.status == 2 && ran.err.contains("was not used"), "{}", ran.err);
    let mut command = sandbox.command(&["list", ADDRESS]);
    for name in ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"] {
        command.env_remove(name);
    }
    command.env("HOME", sandbox.root());
    let ran = Ran::from(command.output().unwrap());
    assert!(ran.status == 2 && ran.err.contains("There are no keys for S3."), "{}", ran.err);
}

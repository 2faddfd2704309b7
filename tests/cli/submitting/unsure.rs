//! Tests of `submit` where an answer does not arrive, variables interfere, or several submit at once.
use super::*;

#[test]
fn a_job_whose_number_did_not_arrive_is_found_by_its_name() {
    let server = answers();
    let sandbox = folder("broken-off", &server);
    let slurm = Slurm::beside(&sandbox);
    slurm.set("breaks-off", "");
    let options = ["--parts", "2", "--detach"];
    let ran = slurm.run(&sandbox, &[&WHICH[..], &options].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.out.starts_with("Submitted 2 parts as job 41 of Slurm"), "{ran:?}");
    assert_eq!(slurm.status(&sandbox)["jobs"][0]["id"], "41");
}

#[test]
fn a_job_that_may_be_in_the_queue_is_shown_and_submitted_again_only_when_it_is_not() {
    let server = answers();
    let sandbox = folder("lost-job", &server);
    let slurm = Slurm::beside(&sandbox);
    slurm.set("loses", "");
    let ran = slurm.run(&sandbox, &[&WHICH[..], &["--parts", "2"]].concat());
    assert!(ran.status != 0 && ran.err.contains("It is not known whether"), "{ran:?}");
    assert!(!ran.err.contains("othing was submitted") && ran.err.contains("--status="), "{ran:?}");
    let status = slurm.status(&sandbox);
    assert_eq!((&status["state"], &status["waiting"]), (&json!("waiting"), &json!(2)));
    assert_eq!(status["rows"][0]["word"], "may have been submitted");
    fs::remove_file(slurm.dir.join("loses")).unwrap();
    let again = || slurm.run(&sandbox, &["submit", ".", "--again", "--detach"]);
    assert!(again().status != 0 && !slurm.dir.join("job-42").exists());
    // Two minutes later it is not in the queue.
    let path = record_of(&sandbox);
    let mut record: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    record["jobs"][0]["at_ms"] = json!(record["jobs"][0]["at_ms"].as_i64().unwrap() - 120_000);
    fs::write(&path, record.to_string()).unwrap();
    let word = slurm.status(&sandbox)["rows"][0]["word"].clone();
    assert_eq!(word, "was not submitted: the scheduler does not know it");
    let ran = again();
    assert!(ran.status == 0 && ran.out.contains("parts 1-2 again as job 42"), "{ran:?}");
}

#[test]
fn a_kill_while_sbatch_answers_leaves_a_record_that_finds_the_job() {
    let server = answers();
    let sandbox = folder("killed-submitting", &server);
    let slurm = Slurm::beside(&sandbox);
    slurm.set("kills", "");
    let command = [&WHICH[..], &["--parts", "2", "--detach"]].concat();
    assert_eq!(slurm.command(&sandbox, &command).output().unwrap().status.code(), None);
    fs::remove_file(slurm.dir.join("kills")).unwrap();
    let status = slurm.status(&sandbox);
    assert_eq!((&status["state"], &status["jobs"][0]["id"]), (&json!("waiting"), &json!("41")));
    let launch = status["id"].as_str().unwrap();
    let ran = slurm.run(&sandbox, &["submit", ".", &format!("--again={launch}")]);
    assert!(ran.status != 0 && ran.err.contains("2 parts still run or wait"), "{ran:?}");
    assert!(!slurm.dir.join("job-42").exists());
    let ran = slurm.run(&sandbox, &["submit", ".", "--cancel", "--yes"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let ran = slurm.run(&sandbox, &["submit", ".", "--again", "--detach"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let record = fs::read_to_string(record_of(&sandbox)).unwrap();
    let record: Value = serde_json::from_str(&record).unwrap();
    assert_eq!((&record["jobs"][0]["id"], &record["jobs"][1]["id"]), (&json!("41"), &json!("42")));
}

#[test]
fn the_cluster_is_kept_and_variables_change_no_name_and_no_part() {
    let server = answers();
    let sandbox = folder("clusters", &server);
    let slurm = Slurm::beside(&sandbox);
    slurm.set("cluster", "west");
    let mut command =
        slurm.command(&sandbox, &[&WHICH[..], &["--parts", "2", "--detach"]].concat());
    command.env("SBATCH_JOB_NAME", "mine").env("SBATCH_ARRAY_INX", "7");
    let ran = Ran::from(command.env("SBATCH_CLUSTERS", "west").output().unwrap());
    assert_eq!(ran.status, 0, "{ran:?}");
    let status = slurm.status(&sandbox);
    assert_eq!(states(&status), [(1, "waiting"), (2, "waiting")]);
    assert_eq!(status["rows"][0]["word"], "waits for free machines");
    let ran = slurm.run(&sandbox, &["submit", ".", "--cancel", "--yes"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let cancelled = fs::read_to_string(slurm.dir.join("cancelled")).unwrap();
    assert!(cancelled.starts_with("--clusters=west --state=PENDING 41\n"), "{cancelled}");
    let mut command = slurm.command(&sandbox, &["submit", ".", "--again", "--detach"]);
    let ran = Ran::from(command.env("SBATCH_CLUSTERS", "east").output().unwrap());
    assert_eq!(ran.status, 0, "{ran:?}");
    let arguments = fs::read_to_string(slurm.dir.join("job-42/arguments")).unwrap();
    assert!(arguments.contains("--clusters=west ") && !arguments.contains("east"), "{arguments}");
}

#[test]
fn what_is_left_of_a_budget_is_shared_and_what_others_may_spend_is_kept() {
    let server = answers();
    let sandbox = folder("budget", &server);
    let slurm = Slurm::beside(&sandbox);
    let yaml = sandbox.folder.join("touchstone.yaml");
    let text = fs::read_to_string(&yaml).unwrap() + "run: { max_cost: 60 }\n";
    fs::write(&yaml, text).unwrap();
    let ran = slurm.run(&sandbox, &[&WHICH[..], &["--parts", "3", "--detach"]].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_near(budget_of(&slurm.script("41")), 60.0);
    assert_eq!(slurm.work(&sandbox, "41", 1).status, 0);
    slurm.set("job-41/task-2", "TIMEOUT");
    let status = slurm.status(&sandbox);
    assert_eq!(states(&status), [(1, "ended"), (2, "lost"), (3, "waiting")]);
    let cost = status["cost"].as_f64().unwrap();
    assert!(cost > 0.0 && status["max_cost"] == 60.0, "{status}");
    // Another process that submits is not disturbed.
    let launch = status["id"].as_str().unwrap();
    let locks = sandbox.folder.join("results/.touchstone/locks/submissions");
    fs::create_dir_all(&locks).unwrap();
    let mut options = fs::OpenOptions::new();
    let path = locks.join(format!("{launch}.lock"));
    let lock = options.create(true).truncate(false).write(true).open(path).unwrap();
    lock.lock().unwrap();
    let again = || slurm.run(&sandbox, &["submit", ".", "--again", "--detach"]);
    let ran = again();
    assert!(ran.status != 0 && ran.err.contains("Another process submits"), "{ran:?}");
    drop(lock);
    let ran = again();
    assert_eq!(ran.status, 0, "{ran:?}");
    let script = slurm.script("42");
    assert!(script.contains("#SBATCH --array=2\n"), "{script}");
    assert_near(budget_of(&script) / 3.0, 60.0 - cost - 20.0);
}

#[test]
fn attacks_that_nobody_confirmed_are_not_submitted() {
    let server = answers();
    let sandbox = folder("attacks-submitted", &server);
    let slurm = Slurm::beside(&sandbox);
    let task = sandbox.folder.join("tasks/count.yaml");
    let text = fs::read_to_string(&task).unwrap() + "tags: [red-team, harmful_content]\n";
    fs::write(&task, text).unwrap();
    let submit = |more: &[&str]| {
        let which = [&WHICH[..], &["--parts", "2", "--detach"], more].concat();
        slurm.run(&sandbox, &which)
    };
    let ran = submit(&[]);
    assert!(ran.status != 0 && ran.err.contains("nobody confirmed"), "{ran:?}");
    assert!(!slurm.dir.join("job-41").exists());
    let ran = submit(&["--yes"]);
    assert!(ran.status == 0 && ran.err.contains("to tool_calling/local"), "{ran:?}");
}

#[test]
fn a_task_that_is_started_again_has_what_is_left_of_its_share() {
    let server = answers();
    let sandbox = folder("requeued", &server);
    let slurm = Slurm::beside(&sandbox);
    // One reply costs more than a share.
    let options = ["--parts", "2", "--max-cost", "0.000002", "--concurrency", "2", "--detach"];
    let ran = slurm.run(&sandbox, &[&WHICH[..], &options].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    slurm.work(&sandbox, "41", 1);
    let delivered = server.delivered();
    let status = slurm.status(&sandbox);
    assert!(delivered > 0 && status["cost"].as_f64().unwrap() > 0.000_001, "{delivered} {status}");
    slurm.work_again(&sandbox, "41", 1, 1);
    assert_eq!(server.delivered(), delivered);
    slurm.work(&sandbox, "41", 2);
    assert!(server.delivered() > delivered);
}

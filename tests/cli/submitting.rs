//! Tests of `submit` with commands of Slurm: fakes that answer as the real ones were recorded, and
//! the real ones where they are installed.
use crate::conversation::{Conversation, Wire};
use crate::evaluating::until;
use crate::sandbox::{Ran, Sandbox};
use crate::scripted::Scripted;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

mod unsure;

/// `sbatch` as recorded from Slurm 22.05: it takes the script from its input, says the number of the
/// job, and refuses too many tasks. Arguments precede the environment, which precedes the script. Jobs
/// are folders: their script, and a file for each task with its state.
const SBATCH: &str = r#"#!/bin/sh
cd "$SLURM_FAKE" || exit 1
cat > script
[ -e refuses ] && { echo "sbatch: error: $(cat refuses)" >&2; exit 1; }
id=$(( $(cat last 2>/dev/null || echo 40) + 1 )); echo $id > last
name=${SBATCH_JOB_NAME:-$(sed -n 's/^#SBATCH --job-name=//p' script)}
array=${SBATCH_ARRAY_INX:-$(sed -n 's/^#SBATCH --array=//p' script)}
for word in "$@"; do
  case "$word" in --job-name=*) name=${word#*=};; --array=*) array=${word#*=};; esac
done
broken="sbatch: error: Batch job submission failed: Socket timed out on send/recv operation"
[ -e loses ] && { echo "$broken" >&2; exit 1; }
mkdir job-$id; mv script job-$id/script; echo "$@" > job-$id/arguments
echo "$name" > job-$id/name; array=${array%%%*}
for range in $(echo "$array" | tr , ' '); do
  for task in $(seq ${range%-*} ${range#*-}); do echo PENDING > job-$id/task-$task; done
done
[ -e kills ] && kill -9 $PPID
[ -e breaks-off ] && { echo "$broken" >&2; exit 1; }
[ -e cluster ] && { echo "$id;$(cat cluster)"; exit 0; }
echo $id
"#;
/// `squeue`: as JSON it lists all jobs whatever is asked for, as 22.05 does.
const SQUEUE: &str = r#"#!/bin/sh
cd "$SLURM_FAKE" || exit 1
[ -e unreachable ] && { echo "squeue: error: Unable to contact slurm controller (connect failure)" >&2
  echo "slurm_load_jobs error: Unable to contact slurm controller (connect failure)" >&2; exit 1; }
if [ -e cluster ]; then
  case "$*" in *--clusters=$(cat cluster)*) ;; *--json*) echo '{"jobs":[]}'; exit 0;; *) exit 0;; esac
fi
case "$*" in *--json*)
  [ -e plain ] && { echo "squeue: unrecognized option '--json'" >&2; exit 1; }
  echo '{"meta":{"Slurm":{"version":{"major":22,"micro":8,"minor":5}}},"errors":[],"jobs":[
{"array_job_id":0,"array_task_id":null,"array_task_string":"","job_id":3,"job_state":"RUNNING","name":"other","nodes":"n1","state_reason":"None"}'
  for file in job-*/task-*; do
    [ -e "$file" ] || continue; job=${file%%/*}; task=${file##*-}
    reason=None; [ "$(cat $file)" = PENDING ] && reason=Resources
    echo ",{\"array_job_id\":${job#job-},\"array_task_id\":$task,\"array_task_string\":\"\"
,\"job_id\":$((${job#job-} * 100 + task)),\"job_state\":\"$(cat $file)\",
\"name\":\"$(cat $job/name)\",\"nodes\":\"n1\",\"state_reason\":\"$reason\"}"
  done
  echo ']}';;
*)
  for file in job-*/task-*; do
    [ -e "$file" ] || continue; job=${file%%/*}
    echo "${job#job-}|${file##*-}|$(cat $file)|Resources|n1|$(cat $job/name)"
  done;;
esac
"#;
/// `scancel`: records what it was asked, and cancels what waits.
const SCANCEL: &str = r#"#!/bin/sh
cd "$SLURM_FAKE" || exit 1
echo "$@" >> cancelled
for id in "$@"; do
  for file in job-$id/task-*; do
    [ -e "$file" ] || continue
    case "$*" in *PENDING*) [ "$(cat $file)" = PENDING ] && echo CANCELLED > $file;; *TERM*) ;; *) echo CANCELLED > $file;; esac
  done
done
exit 0
"#;

const WHICH: [&str; 8] =
    ["submit", ".", "--system", "tool_calling", "--model", "local", "--submit", "slurm"];

fn answers() -> Scripted {
    let conversation = Conversation::new(Wire::Chat, 0);
    Scripted::start(move |seen| conversation.reply(seen))
}

fn folder(name: &str, server: &Scripted) -> Sandbox {
    let url = server.url("/v1");
    let workspace = format!(
        "input_dir: tasks\noutput_dir: results\nmodels:\n  local: {{ provider: openai, base_url: '{url}', model: any, \
         price: {{ input: 1000, output: 2000 }} }}\n"
    );
    let variations: Vec<String> = (0..12).map(|n| format!("  - things: stones{n}\n")).collect();
    let variations = variations.concat();
    let task = format!("tool_calling_prompt: Count the {{things}}.\nvariations:\n{variations}");
    Sandbox::with(name, &[("touchstone.yaml", &workspace), ("tasks/count.yaml", &task)])
}

/// Fake commands of Slurm beside a folder.
struct Slurm {
    dir: PathBuf,
}

impl Slurm {
    fn beside(sandbox: &Sandbox) -> Self {
        let dir = sandbox.folder.with_extension("slurm");
        fs::create_dir_all(dir.join("bin")).unwrap();
        for (name, script) in [("sbatch", SBATCH), ("squeue", SQUEUE), ("scancel", SCANCEL)] {
            let path = dir.join("bin").join(name);
            fs::write(&path, script).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { dir }
    }

    fn command(&self, sandbox: &Sandbox, arguments: &[&str]) -> Command {
        let mut command = sandbox.command(arguments);
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.dir.join("bin").display()));
        command.env("SLURM_FAKE", &self.dir).stdin(Stdio::null());
        command
    }

    fn run(&self, sandbox: &Sandbox, arguments: &[&str]) -> Ran {
        Ran::from(self.command(sandbox, arguments).output().unwrap())
    }

    fn set(&self, name: &str, text: &str) {
        fs::write(self.dir.join(name), text).unwrap();
    }

    fn script(&self, job: &str) -> String {
        fs::read_to_string(self.dir.join(format!("job-{job}/script"))).unwrap()
    }

    /// Runs a task of a job, as a node would.
    fn work(&self, sandbox: &Sandbox, job: &str, task: u32) -> Ran {
        self.work_again(sandbox, job, task, 0)
    }

    /// Runs a task that was started this many times before.
    fn work_again(&self, sandbox: &Sandbox, job: &str, task: u32, starts: u32) -> Ran {
        let state = format!("job-{job}/task-{task}");
        self.set(&state, "RUNNING");
        let command = sandbox.command(&[]);
        let mut shell = Command::new("sh");
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                shell.env(name, value);
            }
        }
        shell.args(["-c", &self.script(job)]).current_dir(&sandbox.folder);
        shell.env("SLURM_ARRAY_JOB_ID", job).env("SLURM_ARRAY_TASK_ID", task.to_string());
        if starts > 0 {
            shell.env("SLURM_RESTART_COUNT", starts.to_string());
        }
        let ran = Ran::from(shell.output().unwrap());
        self.set(&state, if ran.status == 0 { "COMPLETED" } else { "FAILED" });
        ran
    }

    fn status(&self, sandbox: &Sandbox) -> Value {
        let ran = self.run(sandbox, &["submit", ".", "--status", "--json"]);
        assert_eq!(ran.status, 0, "{ran:?}");
        ran.json().remove(0)
    }
}

/// Returns the budget in a script.
fn budget_of(script: &str) -> f64 {
    let (_, after) = script.split_once("--max-cost=").unwrap();
    after.split_whitespace().next().unwrap().parse().unwrap()
}

fn assert_near(one: f64, other: f64) {
    assert!((one - other).abs() < 1e-6, "{one} {other}");
}

/// Returns the path of the only record of a submission.
fn record_of(sandbox: &Sandbox) -> PathBuf {
    let records = sandbox.folder.join("results/.touchstone/submissions");
    let mut paths = fs::read_dir(records).unwrap().map(|entry| entry.unwrap().path());
    paths.find(|path| path.is_file()).unwrap()
}

fn states(launch: &Value) -> Vec<(u64, &str)> {
    let mut states: Vec<_> = launch["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["part"].as_u64().unwrap(), row["state"].as_str().unwrap()))
        .collect();
    states.sort_unstable();
    states
}

#[test]
fn a_launch_is_submitted_followed_stopped_and_what_is_left_is_submitted_again() {
    let server = answers();
    let sandbox = folder("submitted", &server);
    let slurm = Slurm::beside(&sandbox);
    let options = ["--parts", "3", "--max-cost", "50", "--at-once", "2", "--detach"];
    let ran = slurm.run(&sandbox, &[&WHICH[..], &options].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.out.starts_with("Submitted 3 parts as job 41 of Slurm, launch "), "{ran:?}");
    let script = slurm.script("41");
    assert!(script.contains("#SBATCH --array=1-3%2\n"), "{script}");
    let record = fs::read_to_string(record_of(&sandbox)).unwrap();
    let record: Value = serde_json::from_str(&record).unwrap();
    assert_eq!(
        (&record["parts"], &record["total"], &record["jobs"][0]["id"]),
        (&json!(3), &json!(12), &json!("41"))
    );
    let waiting = slurm.status(&sandbox);
    assert_eq!(waiting["state"], "waiting");
    assert_eq!(states(&waiting), [(1, "waiting"), (2, "waiting"), (3, "waiting")]);
    assert_eq!(waiting["rows"][0]["word"], "waits for free machines");
    let worked = slurm.work(&sandbox, "41", 1);
    assert_eq!(worked.status, 0, "{worked:?}");
    let one = slurm.status(&sandbox);
    assert_eq!(states(&one), [(1, "ended"), (2, "waiting"), (3, "waiting")]);
    let (done, cost) = (one["done"].as_u64().unwrap(), one["cost"].as_f64().unwrap());
    assert!(done > 0 && cost > 0.0 && one["total"] == 12 && one["max_cost"] == 50.0, "{one}");
    // Nobody can be asked here.
    let ran = slurm.run(&sandbox, &["submit", ".", "--cancel"]);
    assert_eq!((ran.status, slurm.dir.join("cancelled").exists()), (2, false), "{ran:?}");
    let ran = slurm.run(&sandbox, &["submit", ".", "--cancel", "--yes"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let cancelled = fs::read_to_string(slurm.dir.join("cancelled")).unwrap();
    assert_eq!(cancelled, "--state=PENDING 41\n--state=RUNNING --signal=TERM --batch 41\n");
    let stopped = slurm.status(&sandbox);
    assert_eq!((&stopped["state"], &stopped["may_submit"]), (&json!("unfinished"), &json!(true)));
    let ran = slurm.run(&sandbox, &["submit", ".", "--again", "--detach"]);
    assert_eq!(ran.status, 0, "{ran:?}");
    let script = slurm.script("42");
    assert!(script.contains("#SBATCH --array=2-3%2\n"), "{script}");
    // Each of two parts gets half of what is left: a part divides by the number of all.
    assert_near(budget_of(&script), (50.0 - cost) / 2.0 * 3.0);
    for task in [2, 3] {
        assert_eq!(slurm.work(&sandbox, "42", task).status, 0);
    }
    let all = slurm.status(&sandbox);
    assert_eq!(
        (&all["state"], &all["done"], &all["total"], all["jobs"].as_array().unwrap().len()),
        (&json!("done"), &json!(12), &json!(12), 2)
    );
    assert_eq!(server.delivered(), 12);
    let ran = slurm.run(&sandbox, &["submit", ".", "--again", "--detach"]);
    assert_eq!(ran.status, 2, "{ran:?}");
}

#[test]
fn what_lacks_a_key_is_not_submitted_again_and_an_unreadable_folder_is_no_empty_one() {
    let server = answers();
    let sandbox = folder("keys", &server);
    let slurm = Slurm::beside(&sandbox);
    let ran = slurm.run(&sandbox, &[&WHICH[..], &["--parts", "2", "--detach"]].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(slurm.run(&sandbox, &["submit", ".", "--cancel", "--yes"]).status, 0);
    let yaml = sandbox.folder.join("touchstone.yaml");
    let text = fs::read_to_string(&yaml).unwrap();
    fs::write(&yaml, text.replace("model: any,", "model: any, api_key_env: NO_SUCH_KEY,")).unwrap();
    let ran = slurm.run(&sandbox, &["submit", ".", "--again", "--detach"]);
    assert!(ran.status != 0 && ran.err.contains("NO_SUCH_KEY"), "{ran:?}");
    assert!(!slurm.dir.join("job-42").exists(), "nothing was submitted");
    fs::write(&yaml, text).unwrap();
    let submissions = sandbox.folder.join("results/.touchstone/submissions");
    fs::rename(&submissions, sandbox.folder.join("aside")).unwrap();
    fs::write(&submissions, "no folder").unwrap();
    for what in ["--status", "--again"] {
        let ran = slurm.run(&sandbox, &["submit", ".", what]);
        assert!(ran.status != 0 && ran.err.contains("could not be read"), "{ran:?}");
        assert!(ran.err.contains("look again"), "{ran:?}");
    }
    fs::remove_file(&submissions).unwrap();
    fs::rename(sandbox.folder.join("aside"), &submissions).unwrap();
    assert_eq!(slurm.run(&sandbox, &["submit", ".", "--again", "--detach"]).status, 0);
}

#[test]
fn a_launch_is_followed_to_its_end() {
    let server = answers();
    let sandbox = folder("followed", &server);
    let slurm = Slurm::beside(&sandbox);
    // Plain text, as where JSON is not known.
    slurm.set("plain", "");
    let mut command = slurm.command(&sandbox, &[&WHICH[..], &["--parts", "2"]].concat());
    let followed = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("the job is submitted", || slurm.dir.join("job-41/task-2").exists());
    for task in [1, 2] {
        assert_eq!(slurm.work(&sandbox, "41", task).status, 0);
    }
    let ran = Ran::from(followed.wait_with_output().unwrap());
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.out.contains("2 parts: 2 ended"), "{ran:?}");
    assert!(ran.out.contains("12 of 12 runs done"), "{ran:?}");
}

#[test]
fn what_slurm_refuses_is_a_sentence_with_the_next_step_and_leaves_nothing() {
    let server = answers();
    let sandbox = folder("refused", &server);
    let slurm = Slurm::beside(&sandbox);
    let submit = |parts: &str| slurm.run(&sandbox, &[&WHICH[..], &["--parts", parts]].concat());
    slurm.set("refuses", "Batch job submission failed: Invalid job array specification");
    let ran = submit("200000");
    assert!(ran.status != 0 && ran.err.contains("Give fewer --parts"), "{ran:?}");
    slurm.set("refuses", "invalid partition specified: x");
    let ran = submit("2");
    assert!(ran.err.contains("SBATCH_PARTITION"), "{ran:?}");
    let ran = slurm.run(&sandbox, &["submit", ".", "--status"]);
    assert!(ran.out.starts_with("No launch of this folder"), "{ran:?}");
    fs::remove_file(slurm.dir.join("bin/sbatch")).unwrap();
    let mut command = slurm.command(&sandbox, &[&WHICH[..], &["--parts", "2"]].concat());
    command.env("PATH", slurm.dir.join("bin"));
    let ran = Ran::from(command.output().unwrap());
    assert!(ran.err.contains("`sbatch` is not on this machine"), "{ran:?}");
    // A model that does not exist is refused before anything is handed over.
    let ran = slurm.run(
        &sandbox,
        &["submit", ".", "-s", "tool_calling", "-m", "nope", "--submit", "slurm", "--parts", "2"],
    );
    assert!(ran.status != 0 && ran.err.contains("nope"), "{ran:?}");
    assert_eq!(slurm.run(&sandbox, &["submit", ".", "--parts", "2"]).status, 2);
}

#[test]
fn without_an_answer_of_the_scheduler_the_files_tell_and_nothing_is_submitted_twice() {
    let server = answers();
    let sandbox = folder("unreachable", &server);
    let slurm = Slurm::beside(&sandbox);
    let ran = slurm.run(&sandbox, &[&WHICH[..], &["--parts", "2", "--detach"]].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    assert_eq!(slurm.work(&sandbox, "41", 1).status, 0);
    slurm.set("unreachable", "");
    let status = slurm.status(&sandbox);
    assert_eq!(states(&status), [(1, "ended"), (2, "waiting")]);
    let note = status["note"].as_str().unwrap();
    assert!(note.contains("Unable to contact slurm controller"), "{note}");
    let ran = slurm.run(&sandbox, &["submit", ".", "--status"]);
    assert!(ran.out.contains("2 parts: 1 wait, 1 ended"), "{ran:?}");
    let ran = slurm.run(&sandbox, &["submit", ".", "--cancel", "--yes"]);
    assert!(ran.status != 0 && ran.err.contains("scancel 41"), "{ran:?}");
    let launch = status["id"].as_str().unwrap();
    let ran = slurm.run(&sandbox, &["submit", ".", &format!("--again={launch}")]);
    assert!(ran.status != 0 && ran.err.contains("Nothing was submitted"), "{ran:?}");
    assert!(!slurm.dir.join("job-42").exists());
}

#[test]
fn parts_started_by_hand_are_one_launch_and_one_that_cannot_start_says_why() {
    let server = answers();
    let sandbox = folder("by-hand", &server);
    fs::create_dir(sandbox.folder.join("results")).unwrap();
    let which = ["run", ".", "--system", "tool_calling", "--model", "local"];
    let part = |part: &str| sandbox.run(&[&which[..], &["--shard", part]].concat());
    assert_eq!(part("1/2").status, 0);
    let status = || {
        let ran = sandbox.run(&["submit", ".", "--status", "--json"]);
        let launches = ran.json();
        assert_eq!(launches.len(), 1, "{launches:?}");
        launches[0].clone()
    };
    let one = status();
    assert_eq!(states(&one), [(1, "ended"), (2, "waiting")]);
    assert_eq!((&one["total"], &one["may_submit"]), (&json!(12), &json!(false)));
    let yaml = sandbox.folder.join("touchstone.yaml");
    let text = fs::read_to_string(&yaml).unwrap();
    fs::write(&yaml, text.replace("model: any,", "model: any, api_key_env: NO_SUCH_KEY,")).unwrap();
    assert_ne!(part("2/2").status, 0);
    let failed = status();
    let why = failed["rows"][1]["why"].as_str().or(failed["rows"][0]["why"].as_str()).unwrap();
    assert!(why.contains("NO_SUCH_KEY"), "{failed}");
    assert_eq!(failed["state"], "unfinished");
    fs::write(&yaml, text).unwrap();
    assert_eq!(part("2/2").status, 0);
    // All is complete: a part that has nothing to do says so, too.
    assert_eq!(part("1/2").status, 0);
    let done = status();
    assert_eq!((&done["state"], &done["done"]), (&json!("done"), &json!(12)), "{done}");
    assert_eq!(server.delivered(), 12);
}

/// The configuration of a real Slurm, if one runs here.
fn real_slurm() -> Option<String> {
    let ran = Command::new("sinfo").arg("--noheader").stdin(Stdio::null()).output().ok()?;
    let is_up = ran.status.success() && !ran.stdout.is_empty();
    is_up.then(|| std::env::var("SLURM_CONF").unwrap_or_default())
}

#[test]
fn a_real_slurm_runs_all_of_a_launch_and_nothing_twice() {
    let Some(configuration) = real_slurm().filter(|path| Path::new(path).exists()) else {
        eprintln!("Not run: no Slurm is up here (`sinfo`), or SLURM_CONF is not set.");
        return;
    };
    let server = answers();
    let sandbox = folder("real-slurm", &server);
    let run = |arguments: &[&str]| {
        let mut command = sandbox.command(arguments);
        command.env("SLURM_CONF", &configuration).env("PATH", std::env::var("PATH").unwrap());
        Ran::from(command.stdin(Stdio::null()).output().unwrap())
    };
    let ran = run(&[&WHICH[..], &["--parts", "4", "--at-once", "2"]].concat());
    assert_eq!(ran.status, 0, "{ran:?}");
    assert!(ran.out.contains("12 of 12 runs done"), "{ran:?}");
    let ran = run(&["submit", ".", "--status", "--json"]);
    let launch = ran.json().remove(0);
    assert_eq!((&launch["state"], &launch["ended"]), (&json!("done"), &json!(4)), "{launch}");
    assert_eq!(server.delivered(), 12);
}

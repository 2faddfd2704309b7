//! The failure map against runs whose failure is known: seeded runs of invented systems, each with
//! one injected failure and with noise that also occurs in passing runs.
use std::borrow::Cow;
use std::collections::BTreeMap;
use touchstone_model::json;
use touchstone_model::run::{Answer, Part, Run, Step, StepKind};
use touchstone_model::value::Value;
use touchstone_scoring::align::digests;
use touchstone_scoring::diff::Options;
use touchstone_scoring::failures::{
    Cluster, ClusteredRun, FailedRun, Finding, PassingRun, clusters, decisive_step, findings,
};
use touchstone_scoring::scorers::Stop;

/// Tools of the invented tasks, each task with the calls that solve it.
const TASKS: [&[&str]; 4] = [
    &["find_user", "get_order", "get_product", "refund"],
    &["search", "read_file", "run_tests"],
    &["list_tickets", "get_plan", "get_invoices"],
    &["query_sales", "query_costs"],
];
/// Number of runs of the generated set.
const RUNS: usize = 1_200;

/// Seeded random numbers (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most as u64).unwrap_or(0)
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }
}

/// A generated run with its true failure.
struct SeededRun {
    run: Run,
    task: usize,
    group: usize,
    stop: Stop,
    reason: Option<String>,
    truth: String,
}

fn part(label: &str, text: &str) -> Part {
    Part { label: label.to_owned(), value: Value::from(text), ..Part::default() }
}

fn assistant_step(text: &str) -> Step {
    Step { kind: StepKind::Assistant, parts: vec![part("message", text)], ..Step::default() }
}

fn call(tool: &str, argument: &str, result: Result<&str, &str>) -> Step {
    let came = match result {
        Ok(text) => part("result", text),
        Err(text) => part("error", text),
    };
    Step {
        kind: StepKind::ToolCall,
        title: Some(tool.to_owned()),
        failed: Some(result.is_err()),
        parts: vec![part("query", argument), came],
        ..Step::default()
    }
}

fn rows(task: usize) -> Vec<Vec<(String, String)>> {
    let row = |at: usize| {
        [
            ("id", format!("{}", 100 * task + at)),
            ("total", format!("{}.25", 37 * at + 11 + task)),
            ("plan", format!("\"{}\"", ["team", "business", "hobby"][at % 3])),
            ("due", format!("\"2025-0{}-1{}\"", at % 8 + 1, at % 7)),
        ]
        .map(|(key, value)| (key.to_owned(), value))
        .to_vec()
    };
    (1..=6).map(row).collect()
}

fn value(rows: &[Vec<(String, String)>]) -> Value {
    let row = |row: &Vec<(String, String)>| {
        let fields: Vec<String> = row.iter().map(|(key, it)| format!("\"{key}\": {it}")).collect();
        format!("{{{}}}", fields.join(", "))
    };
    json::read(&format!("[{}]", rows.iter().map(row).collect::<Vec<_>>().join(", ")))
        .unwrap_or_default()
}

/// Returns the steps up to the answer, with wording and detours that do not matter.
fn steps(random: &mut Random, task: usize, without: Option<&str>) -> Vec<Step> {
    let mut steps = vec![Step {
        kind: StepKind::User,
        parts: vec![part("message", "Solve the task.")],
        ..Step::default()
    }];
    for tool in TASKS[task].iter().filter(|tool| Some(**tool) != without) {
        if random.chance(50) {
            let next = random.pick(&["Now the next part.", "Let me look.", "I continue."]);
            steps.push(assistant_step(next));
        }
        if random.chance(15) {
            let typo = format!("bad_{}", random.below(90));
            steps.push(call(tool, &typo, Err(&format!("Unknown argument '{typo}'"))));
        }
        steps.push(call(tool, &format!("task {task}"), Ok(&format!("{tool} gives 7 of {task}"))));
    }
    steps
}

/// Returns the answer with another value in one row, as wrong runs often have beside their failure.
fn answer(random: &mut Random, task: usize, spoil: &[&str]) -> Vec<Vec<(String, String)>> {
    let mut rows = rows(task);
    for field in spoil {
        let at = random.below(rows.len());
        for (_, it) in rows[at].iter_mut().filter(|(key, _)| key == field) {
            *it = if *field == "plan" { "\"free\"".to_owned() } else { "77".to_owned() };
        }
    }
    rows
}

fn change(rows: &mut [Vec<(String, String)>], field: &str, with: impl Fn(&str) -> Option<String>) {
    for row in rows {
        if let Some(at) = row.iter().position(|(key, _)| key == field) {
            match with(&row[at].1) {
                Some(it) => row[at].1 = it,
                None => drop(row.remove(at)),
            }
        }
    }
}

/// Returns an error of a tool, with other values each time, and its name.
fn tool_error(random: &mut Random, n: usize) -> (&'static str, String) {
    let name = random.pick(&["prio", "t.state", "due_date", "owner", "o.total"]);
    match random.below(5) {
        0 => ("not found", format!("Order #W{n} was not found")),
        1 => ("column", format!("no such column: {name}")),
        2 => ("rate", format!("HTTP 429: rate limit exceeded, retry in {}s", n % 60)),
        3 => ("denied", format!("Permission denied for user 'u{n}' on /data/{n}/x.csv")),
        _ => ("date", format!("Invalid date 2025-13-{:02}: the month is too large", n % 30)),
    }
}

fn generate(random: &mut Random) -> SeededRun {
    let (task, group) = (random.below(TASKS.len()), random.below(3));
    let tools = TASKS[task];
    let tool = random.pick(tools);
    let mut known = SeededRun {
        run: Run::default(),
        task,
        group,
        stop: Stop::Answered,
        reason: None,
        truth: String::new(),
    };
    let n = random.below(9_000) + 1_000;
    let (mut given, mut last) = (None, Cow::Borrowed("Done. The result is below."));
    let mut path = steps(random, task, None);
    known.truth = match random.below(16) {
        0..=2 => {
            let (kind, message) = tool_error(random, n);
            // The tool fails from now on.
            path.retain(|step| step.title.as_deref() != Some(tool));
            for again in 0..=random.below(2) {
                path.push(call(tool, &format!("try {again} {n}"), Err(&message)));
            }
            if random.chance(50) {
                last = "I was unable to retrieve the data.".into();
            } else {
                given = Some(answer(random, task, &["total"]));
            }
            format!("{tool} failed: {kind}")
        }
        3 => {
            path = steps(random, task, Some(tool));
            given = Some(answer(random, task, &["total", "plan"]));
            format!("never called {tool}")
        }
        4 | 5 => {
            for _ in 0..random.below(5) + 3 {
                path.push(call(tool, &format!("page {n}"), Ok("nothing new")));
            }
            if random.chance(50) {
                known.reason = Some("The run stopped after 30 turns (`max_turns`).".to_owned());
            }
            format!("repeated {tool}")
        }
        6 => {
            if random.chance(50) {
                let why = "The reply was cut at the token limit, so it is not an answer.";
                known.reason = Some(why.to_owned());
            } else {
                last = "Here it is:\n```json\n[{\"id\": 101, \"total\": 48.2".into();
            }
            "cut off".to_owned()
        }
        7 => {
            let why = format!("The run stopped after {} turns (`max_turns`).", n % 40 + 10);
            known.reason = Some(why);
            "out of turns".to_owned()
        }
        8 => {
            last = random
                .pick(&[
                    "I cannot answer this with the tools that I have.",
                    "Unfortunately I was not able to determine the totals.",
                    "I'm unable to complete the request.",
                ])
                .into();
            "gave up".to_owned()
        }
        9 => {
            let (kind, why) = [
                (
                    "overloaded",
                    format!("The provider answered 529 overloaded_error (request req_{n}ab)"),
                ),
                ("connection", format!("Connection reset by 10.0.{}.{}:443", n % 250, n % 90)),
                ("key", "The key of the model is not valid.".to_owned()),
            ][random.below(3)]
            .clone();
            known.reason = Some(why);
            format!("error {kind}")
        }
        10 => {
            last = format!("Which of the {} tickets do you mean?", n % 9 + 2).into();
            "asked back".to_owned()
        }
        11 => {
            last = "```json\n[{\"id\": 101, }, oops ]\n```".into();
            known.run.unread =
                Some(format!("The last ```json fence is not valid JSON (line {}).", n % 7));
            "not JSON".to_owned()
        }
        kind => {
            let (rows, truth) = wrong_answer(random, task, kind);
            given = Some(rows);
            truth
        }
    };
    if let Some(why) = &known.reason {
        known.stop = Stop::Error;
        let parts = vec![part("error", why)];
        path.push(Step { kind: StepKind::Error, parts, ..Step::default() });
    } else {
        path.push(assistant_step(&last));
        if given.is_none() {
            known.stop = Stop::NoAnswer;
        }
    }
    known.run.answer =
        given.map(|rows| Answer { value: value(&rows), source: String::new(), lenient: false });
    known.run.steps = path;
    known
}

/// Returns an answer that is wrong in one way, and the name of that way.
fn wrong_answer(
    random: &mut Random,
    task: usize,
    kind: usize,
) -> (Vec<Vec<(String, String)>>, String) {
    if kind == 12 {
        let mut rows = answer(random, task, &[]);
        rows.truncate(5 - random.below(3));
        return (rows, "rows missing".to_owned());
    }
    if kind == 13 {
        let mut rows = answer(random, task, &[]);
        rows.rotate_left(random.below(4) + 1);
        return (rows, "order".to_owned());
    }
    let spoil: &[&str] = if random.chance(15) { &["plan"] } else { &[] };
    let mut rows = answer(random, task, spoil);
    let number = |text: &str| text.parse::<f64>().unwrap_or(0.0);
    let kind = random.below(5);
    let field = ["total", "total", "total", "due", "plan"][kind];
    change(&mut rows, field, |it| match kind {
        0 => Some(format!("{}", number(it) * 100.0)),
        1 => Some(format!("{:.4}", number(it) + 0.0019)),
        2 => Some("\"unknown\"".to_owned()),
        3 => None,
        _ => Some("\"none of them\"".to_owned()),
    });
    (rows, format!("{field} {kind}"))
}

fn generated(seed: u64, count: usize) -> Vec<(SeededRun, Vec<Finding>)> {
    let mut random = Random(seed);
    let options = Options { key: Some(vec!["id".to_owned()]), ..Options::default() };
    (0..count)
        .map(|_| {
            let known = generate(&mut random);
            let expected = value(&rows(known.task));
            let calls: Vec<String> = TASKS[known.task].iter().map(|it| (*it).to_owned()).collect();
            let found = findings(&FailedRun {
                run: &known.run,
                digests: &digests(&known.run),
                stop: known.stop,
                reason: known.reason.as_deref(),
                expected: Some(&expected),
                options: &options,
                expected_calls: &calls,
                scorer: Some("fields"),
                score_reason: None,
            });
            (known, found)
        })
        .collect()
}

fn map(runs: &[&(SeededRun, Vec<Finding>)]) -> Vec<Cluster> {
    let runs: Vec<ClusteredRun<'_>> = runs
        .iter()
        .map(|(known, findings)| ClusteredRun {
            group: known.group,
            task: ["a", "b", "c", "d"][known.task],
            findings,
        })
        .collect();
    clusters(&runs)
}

/// Returns the title of the cluster of each run.
fn labels(clusters: &[Cluster], count: usize) -> Vec<String> {
    let mut labels = vec![String::new(); count];
    for cluster in clusters {
        for at in &cluster.runs {
            assert!(labels[*at].is_empty(), "every run has one main cause");
            labels[*at] = format!("{:?}", cluster.cause);
        }
    }
    assert!(labels.iter().all(|label| !label.is_empty()), "every run is in a cluster");
    labels
}

type Counts<'a> = BTreeMap<(&'a str, &'a str), f64>;

fn contingency<'a>(one: &'a [String], other: &'a [String]) -> Counts<'a> {
    let mut counts = Counts::new();
    for (one, other) in one.iter().zip(other) {
        *counts.entry((one, other)).or_default() += 1.0;
    }
    counts
}

fn sums<'a>(counts: &Counts<'a>, side: impl Fn(&(&'a str, &'a str)) -> &'a str) -> Vec<f64> {
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for (key, count) in counts {
        *sums.entry(side(key)).or_default() += count;
    }
    sums.into_values().collect()
}

/// V-measure (Rosenberg and Hirschberg 2007) of clusters against the truth, with its homogeneity and
/// completeness.
fn v_measure(truth: &[String], found: &[String]) -> (f64, f64, f64) {
    let counts = contingency(truth, found);
    let entropy = |sums: &[f64]| -> f64 {
        let n: f64 = sums.iter().sum();
        -sums.iter().map(|count| count / n * (count / n).ln()).sum::<f64>()
    };
    let classes = entropy(&sums(&counts, |key| key.0));
    let clusters = entropy(&sums(&counts, |key| key.1));
    let joint = entropy(&counts.values().copied().collect::<Vec<_>>());
    let homogeneity = 1.0 - (joint - clusters) / classes;
    let completeness = 1.0 - (joint - classes) / clusters;
    (2.0 * homogeneity * completeness / (homogeneity + completeness), homogeneity, completeness)
}

/// Adjusted Rand index (Hubert and Arabie 1985) of two partitions.
fn adjusted_rand(one: &[String], other: &[String]) -> f64 {
    let counts = contingency(one, other);
    let pairs = |sums: &[f64]| sums.iter().map(|count| count * (count - 1.0) / 2.0).sum::<f64>();
    let both = pairs(&counts.values().copied().collect::<Vec<_>>());
    let (a, b) = (pairs(&sums(&counts, |key| key.0)), pairs(&sums(&counts, |key| key.1)));
    let all = pairs(&[sums(&counts, |key| key.0).iter().sum()]);
    let expected = a * b / all;
    (both - expected) / (f64::midpoint(a, b) - expected)
}

#[test]
fn clusters_agree_with_the_injected_failures() {
    for seed in [1, 20_250_301, 0x5eed] {
        let runs = generated(seed, RUNS);
        let all: Vec<&_> = runs.iter().collect();
        let truth: Vec<String> = runs.iter().map(|(known, _)| known.truth.clone()).collect();
        let found = labels(&map(&all), runs.len());
        let (v, homogeneity, completeness) = v_measure(&truth, &found);
        let mixed: Vec<_> =
            contingency(&truth, &found).into_iter().filter(|(_, count)| *count < 6.0).collect();
        assert!(
            v >= 0.95,
            "seed {seed}: V {v:.3}, homogeneity {homogeneity:.3}, completeness {completeness:.3}, \
             rare pairs {mixed:#?}"
        );
    }
}

#[test]
fn clusters_of_a_sample_are_the_clusters_of_all_runs() {
    let runs = generated(7, RUNS);
    let all: Vec<&_> = runs.iter().collect();
    let whole = labels(&map(&all), runs.len());
    let mut random = Random(99);
    for draw in 0..20 {
        // Bootstrap: with replacement, then each run once.
        let mut drawn: Vec<usize> = (0..runs.len()).map(|_| random.below(runs.len())).collect();
        drawn.sort_unstable();
        drawn.dedup();
        let some: Vec<&_> = drawn.iter().map(|at| &runs[*at]).collect();
        let sample = labels(&map(&some), some.len());
        let of_whole: Vec<String> = drawn.iter().map(|at| whole[*at].clone()).collect();
        let agreement = adjusted_rand(&of_whole, &sample);
        assert!(agreement >= 0.95, "draw {draw}: adjusted Rand index {agreement:.3}");
    }
}

#[test]
fn the_order_of_runs_does_not_matter() {
    let runs = generated(3, 300);
    let forward: Vec<&_> = runs.iter().collect();
    let backward: Vec<&_> = runs.iter().rev().collect();
    let titles = |clusters: Vec<Cluster>| -> Vec<(String, usize)> {
        clusters.into_iter().map(|it| (it.title, it.runs.len())).collect()
    };
    assert_eq!(titles(map(&forward)), titles(map(&backward)));
}

#[test]
fn the_decisive_step_is_the_one_at_which_the_failure_was_injected() {
    let mut random = Random(5);
    let passing: Vec<Vec<PassingRun>> = (0..TASKS.len())
        .map(|task| {
            let mut one = || {
                let mut path = steps(&mut random, task, None);
                path.push(assistant_step("Done. The result is below."));
                let answer =
                    Answer { value: value(&rows(task)), source: String::new(), lenient: false };
                let run = Run { steps: path, answer: Some(answer), ..Run::default() };
                let digests = digests(&run);
                PassingRun::new(&run, digests)
            };
            vec![one(), one()]
        })
        .collect();
    let (mut right, mut all) = (0, 0);
    let mut missed: BTreeMap<(String, i64), u32> = BTreeMap::new();
    for (known, _) in generated(11, RUNS) {
        let steps = &known.run.steps;
        let is_call = |step: &Step| step.kind == StepKind::ToolCall;
        let solves = |step: &Step| {
            is_call(step)
                && step.failed == Some(false)
                && step.parts[0].value == Value::from(format!("task {}", known.task).as_str())
        };
        let first_after = |at: Option<usize>| {
            let from = at.map_or(0, |at| at + 1);
            steps
                .iter()
                .enumerate()
                .skip(from)
                .find(|(_, step)| is_call(step) || step.kind == StepKind::Error)
                .map_or(steps.len() - 1, |(at, _)| at)
        };
        let truth = if known.truth.starts_with("never") {
            let missing = known.truth.rsplit(' ').next().unwrap();
            let place = TASKS[known.task].iter().position(|it| *it == missing).unwrap();
            let before = place.checked_sub(1).map(|at| TASKS[known.task][at]);
            first_after(before.and_then(|tool| {
                steps.iter().rposition(|step| solves(step) && step.title.as_deref() == Some(tool))
            }))
        } else if known.truth.contains("failed") {
            // A tool that fails is missing in its place, or fails after all others.
            continue;
        } else {
            first_after(steps.iter().rposition(solves))
        };
        all += 1;
        let passing: Vec<&PassingRun> = passing[known.task].iter().collect();
        let found = decisive_step(&known.run, &digests(&known.run), &passing);
        let is_right = found.is_some_and(|it| it.step as usize == truth);
        right += usize::from(is_right);
        if !is_right {
            let at = found.map_or(-1, |it| i64::from(it.step));
            *missed.entry((known.truth, at - i64::try_from(truth).unwrap())).or_insert(0) += 1;
        }
    }
    assert!(all > 500 && right * 100 >= all * 90, "{right} of {all}: {missed:?}");
}

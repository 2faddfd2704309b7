//! Tests of progress as a fold over events: equal events give an equal view, and all counts agree.
use proptest::prelude::*;
use touchstone_runner::event::{Ending, RunEvent, RunEventKind};
use touchstone_runner::progress::{Progress, Stage};
use touchstone_runner::provider::Usage;

const RUNS: [&str; 3] = ["a.yaml", "b.yaml", "c.yaml"];

fn replied(tokens: u64, cost: Option<f64>, journaled: bool) -> RunEventKind {
    let usage = Usage { input: Some(tokens), ..Usage::default() };
    RunEventKind::Replied { turn: 1, usage, cost, ms: 1, journaled }
}

fn what() -> impl Strategy<Value = RunEventKind> {
    prop_oneof![
        any::<bool>().prop_map(|resumed| RunEventKind::Started { resumed }),
        (1..5_u32).prop_map(|turn| RunEventKind::Asking { turn }),
        (0..1000_u64, prop::option::of(Just(0.25)), any::<bool>())
            .prop_map(|(tokens, cost, kept)| replied(tokens, cost, kept)),
        (0..1000_u64, prop::option::of(Just(0.25))).prop_map(|(tokens, cost)| RunEventKind::Lost {
            turn: 1,
            usage: Usage { input: Some(tokens), ..Usage::default() },
            cost,
        }),
        Just(RunEventKind::Retrying { attempt: 2, wait_ms: 100, why: "busy".to_owned() }),
        Just(RunEventKind::Calling { tool: "t".to_owned() }),
        any::<bool>().prop_map(|failed| RunEventKind::Called {
            tool: "t".to_owned(),
            failed,
            ms: 3
        }),
        Just(RunEventKind::Nudged { count: 1 }),
        prop::sample::select(vec![
            Ending::Answered,
            Ending::NoAnswer,
            Ending::Error,
            Ending::Stopped,
            Ending::Elsewhere
        ])
        .prop_map(|how| RunEventKind::Ended { how, why: None }),
    ]
}

fn events() -> impl Strategy<Value = Vec<RunEvent>> {
    let of_run = (0..RUNS.len(), what()).prop_map(|(run, what)| (Some(RUNS[run].to_owned()), what));
    let of_all = prop::sample::select(vec![
        RunEventKind::Began { runs: 3 },
        RunEventKind::Stopping { why: "enough".to_owned() },
        RunEventKind::Finished,
    ])
    .prop_map(|what| (None, what));
    let one = prop_oneof![8 => of_run, 1 => of_all];
    prop::collection::vec(one, 0..60).prop_map(|all| {
        let at = |(at_ms, (run, what)): (i64, (Option<String>, RunEventKind))| RunEvent {
            at_ms,
            run,
            what,
        };
        (1..).zip(all).map(at).collect()
    })
}

fn fold_events<'a>(events: impl IntoIterator<Item = &'a RunEvent>) -> Progress {
    let mut progress = Progress::for_paths(RUNS.map(str::to_owned));
    for event in events {
        progress.apply(event);
    }
    progress
}

proptest! {
    #[test]
    fn the_same_events_give_the_same_picture_whoever_looks_when(events in events(), cut in 0..60_usize) {
        let whole = fold_events(&events);
        let (before, after) = events.split_at(cut.min(events.len()));
        let mut later = fold_events(before);
        for event in after {
            later.apply(event);
        }
        prop_assert_eq!(&later, &whole);
        prop_assert_eq!(whole.runs().len(), RUNS.len());
        prop_assert_eq!(whole.count(|_| true), 3);
        let parts = whole.count(|stage| stage == Stage::Waiting)
            + whole.count(|stage| stage == Stage::Running)
            + whole.count(|stage| matches!(stage, Stage::Ended(_)));
        prop_assert_eq!(parts, 3);
        prop_assert_eq!(whole.unended(), whole.count(|stage| !matches!(stage, Stage::Ended(_))));
        let bought = |event: &&RunEvent| matches!(event.what, RunEventKind::Replied { journaled: false, .. } | RunEventKind::Lost { .. });
        let unpriced = |event: &&RunEvent|
            matches!(event.what,
            RunEventKind::Replied { journaled: false, cost: None, .. }
            | RunEventKind::Lost { cost: None, .. }
            );
        let spent = events.iter().filter(bought).count() - events.iter().filter(unpriced).count();
        #[expect(clippy::cast_precision_loss, reason = "less than sixty")]
        let expected = spent as f64 * 0.25;
        prop_assert!((whole.cost - expected).abs() < 1e-9);
        prop_assert_eq!(whole.unpriced, events.iter().filter(unpriced).count() as u64);
        let of_runs: u64 = whole.runs().iter().filter_map(|run| run.tokens).sum();
        prop_assert!(of_runs <= whole.tokens.unwrap_or(0), "a run that began again forgets, the launch does not");
    }

    #[test]
    fn what_happens_to_one_run_does_not_depend_on_the_others(events in events()) {
        let whole = fold_events(&events);
        for run in RUNS {
            let own = fold_events(events.iter().filter(|event| event.run.as_deref() == Some(run)));
            let find = |progress: &Progress| progress.runs().iter().find(|one| one.path == run).cloned();
            prop_assert_eq!(find(&own), find(&whole));
        }
    }
}

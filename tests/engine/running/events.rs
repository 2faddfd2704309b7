//! Tests of progress as a fold over events: equal events give an equal view, and all counts agree.
use proptest::prelude::*;
use touchstone_runner::event::{Ending, RunEvent, What};
use touchstone_runner::progress::{Progress, Stage};
use touchstone_runner::provider::Usage;

const RUNS: [&str; 3] = ["a.yaml", "b.yaml", "c.yaml"];

fn replied(tokens: u64, cost: Option<f64>, journaled: bool) -> What {
    let usage = Usage { input: Some(tokens), ..Usage::default() };
    What::Replied { turn: 1, usage, cost, ms: 1, journaled }
}

fn what() -> impl Strategy<Value = What> {
    prop_oneof![
        any::<bool>().prop_map(|resumed| What::Started { resumed }),
        (1..5_u32).prop_map(|turn| What::Asking { turn }),
        (0..1000_u64, prop::option::of(Just(0.25)), any::<bool>())
            .prop_map(|(tokens, cost, kept)| replied(tokens, cost, kept)),
        (0..1000_u64, prop::option::of(Just(0.25))).prop_map(|(tokens, cost)| What::Lost {
            turn: 1,
            usage: Usage { input: Some(tokens), ..Usage::default() },
            cost,
        }),
        Just(What::Retrying { attempt: 2, wait_ms: 100, why: "busy".to_owned() }),
        Just(What::Calling { tool: "t".to_owned() }),
        any::<bool>().prop_map(|failed| What::Called { tool: "t".to_owned(), failed, ms: 3 }),
        Just(What::Nudged { count: 1 }),
        prop::sample::select(vec![
            Ending::Answered,
            Ending::NoAnswer,
            Ending::Error,
            Ending::Stopped,
            Ending::Elsewhere
        ])
        .prop_map(|how| What::Ended { how, why: None }),
    ]
}

fn events() -> impl Strategy<Value = Vec<RunEvent>> {
    let of_run = (0..RUNS.len(), what()).prop_map(|(run, what)| (Some(RUNS[run].to_owned()), what));
    let of_all = prop::sample::select(vec![
        What::Began { runs: 3 },
        What::Stopping { why: "enough".to_owned() },
        What::Finished,
    ])
    .prop_map(|what| (None, what));
    let one = prop_oneof![8 => of_run, 1 => of_all];
    prop::collection::vec(one, 0..60).prop_map(|all| {
        let at =
            |(at_ms, (run, what)): (i64, (Option<String>, What))| RunEvent { at_ms, run, what };
        (1..).zip(all).map(at).collect()
    })
}

fn told<'a>(events: impl IntoIterator<Item = &'a RunEvent>) -> Progress {
    let mut progress = Progress::of(RUNS.map(str::to_owned));
    for event in events {
        progress.apply(event);
    }
    progress
}

proptest! {
    #[test]
    fn the_same_events_give_the_same_picture_whoever_looks_when(events in events(), cut in 0..60_usize) {
        let whole = told(&events);
        let (before, after) = events.split_at(cut.min(events.len()));
        let mut later = told(before);
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
        let bought = |event: &&RunEvent| matches!(event.what, What::Replied { journaled: false, .. } | What::Lost { .. });
        let unpriced = |event: &&RunEvent| matches!(event.what, What::Replied { journaled: false, cost: None, .. } | What::Lost { cost: None, .. });
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
        let whole = told(&events);
        for run in RUNS {
            let own = told(events.iter().filter(|event| event.run.as_deref() == Some(run)));
            let find = |progress: &Progress| progress.runs().iter().find(|one| one.path == run).cloned();
            prop_assert_eq!(find(&own), find(&whole));
        }
    }
}

//! Tests of evaluations without results: a plan reports in advance why the start would be refused,
//! and unfinished evaluations can be resumed.
use super::bench::Bench;
use super::evaluating::{ended, evaluate, offered, one_at_a_time, refused, request, scored};
use super::scripted::{Latch, Scripted, Seen};
use touchstone_api::{EvaluateAgain, EvaluateRequest, EvaluateUnfinished, LaunchState};

#[test]
fn the_plan_says_what_the_start_would_refuse() {
    let server = Scripted::start(|_| scored(4));
    let bench = super::evaluating::bench(&server);
    bench.write("tasks/broken.jsonl", "{\"response\": \"a\"}\n{\"response\": \n");
    bench.write("tasks/empty.jsonl", "");
    let told = |request: &EvaluateRequest| {
        bench.app().evaluations().plan_evaluating(request).unwrap().why_not
    };
    let usual = request(&bench, &["f1_score"]);
    assert_eq!(told(&usual), None);
    let of = |name: &str| EvaluateRequest { data: offered(&bench, name).id, ..usual.clone() };
    let mut mapped = usual.clone();
    mapped.evaluators[0].mapping = vec![("response".to_owned(), "${data.nowhere}".to_owned())];
    for asked in [of("broken.jsonl"), of("empty.jsonl"), mapped] {
        let (told, refused) = (told(&asked).unwrap(), refused(&bench, &asked));
        assert_eq!((told.message, told.fix), (refused.message, refused.hint));
    }
    assert!(told(&of("broken.jsonl")).unwrap().message.contains("cannot be read completely"));
}

fn left(bench: &Bench) -> Vec<EvaluateUnfinished> {
    bench.app().evaluations().unfinished_evaluations().unwrap()
}

#[test]
fn what_was_begun_can_be_gone_on_with_after_the_program_ended_until_its_results_are_there() {
    let latch = Latch::default();
    let held = latch.clone();
    let server =
        Scripted::start(
            move |seen: &Seen| {
                if seen.number == 1 { scored(3).once_open(&held) } else { scored(3) }
            },
        );
    let bench = one_at_a_time(&server);
    let request = EvaluateRequest {
        out: "mine".to_owned(),
        replace: true,
        ..request(&bench, &["relevance"])
    };
    let id = bench.app().evaluations().start_evaluating(&request).unwrap().evaluation;
    server.wait_for(2);
    assert_eq!(left(&bench), [], "nobody has to go on with what goes on");
    bench.app().evaluations().stop_evaluating(&id, false).unwrap();
    latch.open();
    ended(bench.app(), &id);
    let bench = bench.reopen();
    let [one] = left(&bench).try_into().unwrap();
    assert_eq!(
        (one.data.as_str(), one.out.as_str()),
        ("tasks/rows.jsonl", "results/evaluations/mine.json")
    );
    assert_eq!(one.request, EvaluateRequest { replace: false, ..request });
    let view = evaluate(&bench, &one.request);
    assert_eq!((view.state, view.calls, server.seen().len()), (LaunchState::Done, 1, 3));
    assert_eq!(left(&bench), []);
    bench.write(
        "results/evaluations/.touchstone/evaluations/other.jsonl.unfinished",
        "{\"data\": 1}",
    );
    assert_eq!(left(&bench), [], "what cannot be understood is not offered");
}

#[test]
fn what_was_begun_with_a_mapping_that_nobody_reads_goes_on_with_a_note_and_nothing_is_begun_with_one()
 {
    let latch = Latch::default();
    let held = latch.clone();
    let server =
        Scripted::start(
            move |seen: &Seen| {
                if seen.number == 1 { scored(3).once_open(&held) } else { scored(3) }
            },
        );
    let bench = one_at_a_time(&server);
    // An unused mapping is not part of any request, so a version that accepted it stored equal
    // replies.
    let usual = request(&bench, &["relevance"]);
    let id = bench.app().evaluations().start_evaluating(&usual).unwrap().evaluation;
    server.wait_for(2);
    bench.app().evaluations().stop_evaluating(&id, false).unwrap();
    latch.open();
    ended(bench.app(), &id);
    let mut stray = usual;
    stray.evaluators[0].mapping = vec![("respons".to_owned(), "${data.response}".to_owned())];
    let elsewhere = EvaluateRequest { out: "other".to_owned(), ..stray.clone() };
    for anew in [elsewhere, EvaluateRequest { again: EvaluateAgain::All, ..stray.clone() }] {
        let (refused, plan) =
            (refused(&bench, &anew), bench.app().evaluations().plan_evaluating(&anew).unwrap_err());
        assert!(refused.message.ends_with("Did you mean `response`?"), "{}", refused.message);
        assert_eq!((plan.message, server.seen().len()), (refused.message, 2));
    }
    let plan = bench.app().evaluations().plan_evaluating(&stray).unwrap();
    assert_eq!((plan.kept, plan.calls_least), (2, 1));
    let view = evaluate(&bench, &stray);
    assert_eq!((view.state, view.calls, server.seen().len()), (LaunchState::Done, 1, 3));
    assert_eq!(view.notes, plan.lacks);
    let [note] = view.notes.try_into().unwrap();
    assert!(
        note.starts_with("relevance: `respons` is mapped, and `relevance` takes no such input."),
        "{note}"
    );
    assert!(note.ends_with("It is ignored, so that earlier paid replies still count."), "{note}");
}

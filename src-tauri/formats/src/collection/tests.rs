//! Members of files of every form, including broken ones.
use super::*;
use crate::transcript::outline_of;
use proptest::prelude::*;
use touchstone_model::run::{Layout, RecordedState, StepKind};

macro_rules! fixture {
    ($name:literal) => {
        ($name, include_str!(concat!("../../../../tests/fixtures/stabletoolbench/results/", $name)))
    };
}

const FILES: [(&str, &str); 6] = [
    fixture!("converted/lantern_cot/G1_instruction.json"),
    fixture!("converted/lantern_cot/old_set.json"),
    fixture!("pass_rate/lantern_cot/G1_instruction_lantern_cot.json"),
    fixture!("pass_rate/lantern_cot/G1_instruction_lantern_cot.csv"),
    fixture!("trail_helper_G1_instruction.json"),
    fixture!("seven_steps_G2_category_k12_q3.json"),
];

fn describe_members(file: usize) -> Vec<String> {
    let (path, text) = FILES[file];
    let word = |word: &Option<String>| word.clone().unwrap_or_else(|| "-".to_owned());
    let told = |member: Member| {
        let RunIdentity { task, system, model, repeat, variation: _ } = &member.place;
        let outline = member.outline.unwrap();
        let reason = outline.reason.map(|reason| format!(" ({reason})")).unwrap_or_default();
        format!(
            "{}: {} {} {} {repeat}, {} turns, calls {}, {:?}{reason}",
            member.key,
            word(task),
            word(system),
            word(model),
            outline.turns,
            outline.tools.join(" "),
            outline.standing,
        )
    };
    members(path, text.as_bytes()).unwrap().into_iter().map(told).collect()
}

#[test]
fn every_form_tells_which_runs_a_file_holds() {
    assert_eq!(
        describe_members(0),
        [
            "9101: G1_instruction/9101 CoT@1 lantern_cot 1, 2 turns, calls find_trails_for_trail_guide Finish, Answered",
            "9102: G1_instruction/9102 CoT@1 lantern_cot 1, 2 turns, calls trail_details_for_trail_guide Finish, NoAnswer (Gave up without an answer.)",
        ]
    );
    assert_eq!(
        describe_members(1),
        ["41: 41 CoT@1 lantern_cot 1, 2 turns, calls search_song_for_rain_radio Finish, Answered"]
    );
    let verdicts = [
        "9101: G1_instruction/9101 - lantern_cot 1, 2 turns, calls find_trails_for_trail_guide Finish, Answered",
        "9102: G1_instruction/9102 - lantern_cot 1, 1 turns, calls trail_details_for_trail_guide, NoAnswer (Ended without a call of Finish.)",
    ];
    assert_eq!(
        (describe_members(2), describe_members(3)),
        (verdicts.map(str::to_owned).to_vec(), verdicts.map(str::to_owned).to_vec())
    );
    assert_eq!(
        describe_members(4),
        [
            "9101: G1_instruction/9101 trail_helper - 1, 2 turns, calls Trail Guide_Find trails Finish, Answered",
            "9101-run2: G1_instruction/9101 trail_helper - 2, 2 turns, calls find_trails_for_trail_guide Finish, Answered",
            "9102: G1_instruction/9102 trail_helper - 1, 2 turns, calls trail_details_for_trail_guide, NoAnswer (Ended without a call of Finish.)",
            "9103: G1_instruction/9103 trail_helper - 1, 1 turns, calls Finish, Answered",
        ]
    );
    assert_eq!(
        describe_members(5),
        [
            "70001: G2_category/70001 seven_steps - 1, 0 turns, calls , Answered",
            "70002: G2_category/70002 seven_steps - 1, 0 turns, calls , Answered",
            "70003: G2_category/70003 seven_steps - 1, 0 turns, calls , Error (Connection to the agent was lost after 30 s.)",
        ]
    );
}

#[test]
fn stored_verdicts_are_facts_and_not_scores() {
    let facts = |file: usize, key: &str| {
        let run = read(FILES[file].0, FILES[file].1.as_bytes(), key).unwrap();
        let show = |(key, value): &(String, Value)| format!("{key}={}", json::write(value, false));
        (run.facts.iter().map(show).collect::<Vec<_>>().join("\n"), run)
    };
    let (rounds, run) = facts(2, "9101");
    assert_eq!(run.layout, Layout::PassRate);
    assert!(
        rounds.contains("is_solved.0=\"AnswerStatus.Unsure\"\nis_solved.1=\"AnswerStatus.Solved\""),
        "{rounds}"
    );
    assert_eq!(run.steps.last().unwrap().title.as_deref(), Some("Finish"));
    assert_eq!(run.answer.as_ref().unwrap().value, Value::from("Ridge Walk and Heron Loop."));
    let same = |key: &str| (facts(3, key).1.steps, facts(3, key).1.answer);
    assert_eq!(same("9101"), (run.steps, run.answer));
    let (stored, run) = facts(4, "9101-run2");
    for fact in [
        "scores.sopr_score=0.5",
        "evaluation.answer_status=\"Unsure\"",
        "evaluation.has_finish=true",
    ] {
        assert!(stored.contains(fact), "{stored}");
    }
    assert!(run.notes.iter().any(|note| note.contains("as stored in the file")));
    let (_, long) = facts(5, "70001");
    assert!(long.notes.iter().any(|note| note.contains("nothing was cut off")));
    assert!(long.answer.unwrap().value.text().unwrap().ends_with("pier;..."));
    let (_, failed) = facts(5, "70003");
    assert_eq!(failed.steps.last().unwrap().kind, StepKind::Error);
}

#[test]
fn the_settings_of_a_result_file_name_its_system_better_than_the_word_that_may_hold_the_model_too()
{
    let system = |config: &str| {
        let text = format!(
            r#"{{"metadata": {{"framework": "tool_calling-o1", "config": {{{config}}}}}, "results": [{{"query_id": 1}}]}}"#
        );
        members("a_G1_tool.json", text.as_bytes()).unwrap().remove(0).place.system
    };
    assert_eq!(system(r#""system": "tool_calling""#).as_deref(), Some("tool_calling"));
    assert_eq!(system("").as_deref(), Some("tool_calling-o1"));
}

#[test]
fn a_broken_member_is_damaged_alone_and_says_in_which_line() {
    let text = "{\n \"1\": {\"query\": \"a\", \"answer\": {}},\n \"2\": {\"query\": oops},\
        \n \"3\": 4,\n \"1\": {\"query\": \"b\"},\
        \n \"5\": {\"query\": NaN, \"answer\": {\"final_answer\": \"x\"}},\
        \n \"6\": {\"query\": \"\\xff\"},\n \"7\": {\"que";
    let bytes = text.replace("\\xff", "\u{1}").into_bytes();
    let bytes: Vec<u8> =
        bytes.into_iter().map(|byte| if byte == 1 { 0xff } else { byte }).collect();
    let members = members("x.json", &bytes).unwrap();
    let told: Vec<_> = members
        .iter()
        .map(|one| {
            (
                one.key.as_str(),
                one.outline.as_ref().map(|it| it.standing).map_err(|it| (it.kind, it.line)),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("1", Ok(RecordedState::NoAnswer)),
            ("2", Err((ReadErrorKind::Syntax, Some(3)))),
            ("3", Err((ReadErrorKind::NotTranscript, Some(4)))),
            ("1-run2", Err((ReadErrorKind::Duplicate, Some(5)))),
            ("5", Ok(RecordedState::Answered)),
            ("6", Err((ReadErrorKind::NotUtf8, Some(7)))),
            ("7", Err((ReadErrorKind::Truncated, Some(8)))),
        ]
    );
}

#[test]
fn lines_are_counted_once_however_many_members_are_broken() {
    let count = 50_000_u32;
    let entry =
        |id: u32| format!(" \"{id}\": {{\"query\": oops, \"answer\": \"{}\"}},\n", "x".repeat(150));
    let text = format!(
        "{{\n \"a\": {{\"query\": \"\", \"answer\": {{}}}},\n{}",
        (0..count).map(entry).collect::<String>()
    );
    let begun = std::time::Instant::now();
    let members = members("x.json", text.as_bytes()).unwrap();
    let line = |member: &Member| member.outline.as_ref().unwrap_err().line;
    assert_eq!(
        (members.len(), line(&members[1]), line(&members[49_999])),
        (50_002, Some(3), Some(50_001))
    );
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}

#[test]
fn no_file_holds_more_members_and_columns_than_are_read() {
    let item = "{\"query_id\": 1},";
    let list = |count: usize| format!("\"results\": [{}{{\"query_id\": 2}}]", item.repeat(count));
    let keys = |text: String| -> (usize, Option<ReadErrorKind>) {
        let file = Collection::open("x.json", text.as_bytes()).unwrap();
        let final_one = file.member(file.len() - 1).unwrap();
        (file.len(), final_one.outline.err().map(|error| error.kind))
    };
    assert_eq!(keys(format!("{{{}, \"x\": 1, {}}}", list(1), list(3))), (2, None));
    let two = format!("{{{}, {}}}", list(MOST_MEMBERS), list(MOST_MEMBERS));
    assert_eq!(keys(two), (MOST_MEMBERS + 1, Some(ReadErrorKind::TooLarge)));
    let table = format!("query\tquery_id\tis_solved{}\nq\t7\t{{}}\n", "\tmore".repeat(5_000));
    let row = format!("q\t8\t{{}}{}\n", "\t1".repeat(5_000));
    let file = format!("{table}{row}");
    let file = Collection::open("x.csv", file.as_bytes()).unwrap();
    assert_eq!((file.columns.len(), file.len(), file.key(1)), (1_000, 2, "8"));
    assert_eq!(file.run(0).unwrap_err().kind, ReadErrorKind::Syntax);
    let read = file.run(1).unwrap();
    assert_eq!(read.facts.iter().filter(|(key, _)| key == "more").count(), 997);
}

#[test]
fn keys_are_never_empty_never_long_and_never_twice() {
    let long = "9".repeat(61);
    let entry = |id: &str| format!("{{\"query_id\": {id}, \"query_text\": \"q\"}}");
    let ids = [
        "\"a\"",
        "\"a\"",
        "\"a-run2\"",
        "\"\"",
        "null",
        "7",
        &format!("\"{long}\""),
        "\"entry-9\"",
        "[1]",
    ];
    let text = format!("{{\"results\": [{}]}}", ids.map(entry).join(","));
    let keys: Vec<String> =
        members("x.json", text.as_bytes()).unwrap().into_iter().map(|one| one.key).collect();
    assert_eq!(
        keys,
        ["a", "a-run2", "entry-3", "entry-4", "entry-5", "7", "entry-7", "entry-9", "entry-9-1"]
    );
}

#[test]
fn other_files_hold_no_runs_and_those_beside_them_say_why() {
    for text in [
        "",
        "{}",
        "[]",
        "{\"a\": 1}",
        "{\"win\": true, \"answer_generation\": {\"query\": \"x\"}}",
        "a\tb\n",
        "{\"a",
    ] {
        assert_eq!(
            (form_of(text.as_bytes()), explain_no_runs(text.as_bytes())),
            (None, None),
            "{text}"
        );
    }
    let preferred = [
        "{\"588\": {\"x\": 0, \"y\": 3, \"round_0\": \"complete\"}}",
        "query\tpreference_label\tquery_id\n",
    ];
    for text in preferred {
        assert_eq!(
            (form_of(text.as_bytes()), explain_no_runs(text.as_bytes()).is_some()),
            (None, true),
            "{text}"
        );
    }
}

#[test]
fn the_beginning_of_a_file_tells_its_form() {
    let forms = FILES.map(|(_, text)| form_of(&text.as_bytes()[..text.len().min(400)]));
    let [converted, rate] = [Some(Form::Converted), Some(Form::PassRate)];
    let results = Some(Form::Results);
    assert_eq!(forms, [converted, converted, rate, Some(Form::PassRateTable), results, results]);
}

proptest! {
    #[test]
    fn a_file_that_was_cut_or_changed_anywhere_is_still_read_member_by_member(
        file in 0..FILES.len(), at in any::<prop::sample::Index>(), byte in prop::option::of(any::<u8>())
    ) {
        let (path, text) = FILES[file];
        let mut bytes = text.as_bytes().to_vec();
        let at = at.index(bytes.len());
        match byte {
            Some(byte) => bytes[at] = byte,
            None => bytes.truncate(at),
        }
        if let Ok(members) = members(path, &bytes) {
            let mut keys: Vec<_> = members.iter().map(|one| one.key.clone()).collect();
            keys.sort();
            keys.dedup();
            prop_assert_eq!(keys.len(), members.len());
            for one in members {
                let run = read(path, &bytes, &one.key);
                prop_assert_eq!(run.map(|run| outline_of(&run)), one.outline);
            }
        }
    }
}

//! Tests of files with many runs on the command line: a run is named by the file, `#` and its name
//! there.
use crate::sandbox::Sandbox;

const FILE: &str = "results/lantern_cot/G1_instruction.json";
const REVIEW: &str = "results/.touchstone/reviews/lantern_cot/G1_instruction.json/9102.yaml";

fn sandbox(name: &str) -> Sandbox {
    let fixture =
        "tests/fixtures/stabletoolbench/results/converted/lantern_cot/G1_instruction.json";
    let text =
        std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(fixture))
            .unwrap();
    let files = [
        ("touchstone.yaml", "input_dir: tasks\noutput_dir: results\n"),
        ("tasks/t.yaml", "tool_calling_prompt: hello\n"),
        (FILE, text.as_str()),
    ];
    Sandbox::with(name, &files)
}

#[test]
fn one_of_many_is_shown_and_compared_by_its_name_and_the_file_alone_says_what_to_name() {
    let sandbox = sandbox("many-show");
    let shown = sandbox.run(&["show", &format!("{FILE}#9101")]);
    assert_eq!(shown.status, 0, "{shown:?}");
    assert!(
        shown.out.contains("G1_instruction.json#9101")
            && shown.out.contains("Two trails were found."),
        "{}",
        shown.out
    );
    let all = sandbox.run(&["show", FILE]);
    assert_eq!(all.status, 2, "{all:?}");
    assert!(
        all.err.contains("it holds 2 runs; name one of them, such as G1_instruction.json#9101"),
        "{}",
        all.err
    );
    assert_eq!(sandbox.run(&["show", &format!("{FILE}#9")]).status, 2);
    let compared = sandbox.run(&["compare", &format!("{FILE}#9101"), &format!("{FILE}#9102")]);
    assert_eq!(compared.status, 1, "{compared:?}");
}

#[test]
fn one_of_many_is_reviewed_beside_its_file_and_never_gone_on_with() {
    let sandbox = sandbox("many-review");
    let before = std::fs::read_to_string(sandbox.folder.join(FILE)).unwrap();
    let ran = sandbox.run(&["review", &format!("{FILE}#9102"), "wrong"]);
    assert_eq!((ran.status, ran.out.as_str()), (0, "wrong\n"), "{ran:?}");
    assert!(sandbox.folder.join(REVIEW).is_file());
    let ran = sandbox.run(&["nudge", &format!("{FILE}#9102"), "Go on."]);
    assert!(ran.status != 0 && ran.err.contains("never changed"), "{ran:?}");
    assert_eq!(std::fs::read_to_string(sandbox.folder.join(FILE)).unwrap(), before);
}

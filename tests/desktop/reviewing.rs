//! Tests that a person can work through the unreviewed runs in the window with the keyboard alone.
use crate::stage::Stage;
use std::fs;
use std::path::Path;

const RUNS: usize = 20;
/// Keys pressed on the runs, one run after the other.
const PRESSED: [&str; 9] = ["1", "2", "3", "10", "23", "310", "", "1020", "2"];

#[test]
fn verdicts_along_a_list_of_runs_that_are_not_reviewed_are_those_of_the_runs_on_screen() {
    let stage = Stage::empty("reviewing");
    for n in 0..RUNS {
        let name = format!("task{n:02}-tool_calling-o1-variation0");
        stage.transcript(
            &name,
            &format!("  - user_message: question {n}\n  - assistant_message: answer {n}\n"),
        );
    }
    let window = stage.list();
    let rows = "[...document.querySelectorAll('[data-testid=run-row]')]";
    window.until("all runs are listed", &format!("return {rows}.length === {RUNS}"));
    window.press(&["/"]);
    window.until(
        "the filter has the focus",
        "return document.activeElement.dataset.testid === 'filter'",
    );
    window.fill("[data-testid=filter]", "review:no");
    window.until(
        "the filter is obeyed",
        "return document.querySelector('[data-testid=total]')?.textContent.startsWith('20 runs match')",
    );
    window.press(&["\u{e007}"]);
    let names =
        window.run(&format!("return {rows}.map(row => /task\\d\\d/.exec(row.textContent)[0])"));
    let order: Vec<String> =
        names.as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect();
    window.press(&["\u{e007}"]);
    let footer = |text: &str| {
        let script = format!(
            "return document.querySelector('footer [role=status]').textContent === {text:?}"
        );
        window.until(text, &script);
    };
    let opened = |n: usize| {
        let place = format!("{} of {RUNS}", n + 1);
        let script = format!(
            "return document.querySelector('[data-testid=run-position]')?.textContent.trim() === {place:?} \
             && document.querySelector('.who h1')?.textContent.trim() === {:?} \
             && document.querySelector('[data-testid=review]') !== null",
            order[n]
        );
        window.until(&place, &script);
    };
    for n in 0..RUNS {
        opened(n);
        for key in PRESSED[n % PRESSED.len()].chars() {
            window.press(&[key.to_string().as_str()]);
            footer(match key {
                '1' => "Marked right. Undo (0)",
                '2' => "Marked partly right. Undo (0)",
                '3' => "Marked wrong. Undo (0)",
                _ => "Undone.",
            });
        }
        if n % 4 == 3 {
            window.press(&["K"]);
            opened(n - 1);
            window.press(&["0"]);
            footer("Nothing to undo on this run.");
            window.press(&["J"]);
            opened(n);
        }
        window.press(&["J"]);
    }
    footer("This is the last run of the list.");
    window.picture("reviewed");
    for (n, name) in order.iter().enumerate() {
        let wanted = match PRESSED[n % PRESSED.len()] {
            "1" => Some("right"),
            "2" => Some("partly"),
            "3" | "23" | "310" => Some("wrong"),
            _ => None,
        };
        let file = format!(".touchstone/reviews/{name}-tool_calling-o1-variation0.yaml");
        let text = fs::read_to_string(Path::new(stage.folder()).join(file)).unwrap_or_default();
        let kept = text.lines().find_map(|line| line.strip_prefix("verdict: "));
        assert_eq!(kept, wanted, "{name}");
    }
}

//! Corpus for the failure map: 10,000 failed runs of 100 tasks by six systems and models, and 1,800
//! runs that pass, each of about 20 calls with tables.
use super::Dice;
use fs_err as fs;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

pub(crate) const FAILED: usize = 10_000;
const TASKS: usize = 100;
const PASSING_PER_TASK: usize = 18;
const CALLS: u64 = 20;
const TOOLS: [&str; 6] = ["find_user", "get_order", "list_items", "query", "search", "refund"];
const SYSTEMS: [(&str, &str); 6] = [
    ("tool_calling", "claude"),
    ("tool_calling", "o1"),
    ("tool_calling", "o3-mini"),
    ("tool_calling_python", "claude"),
    ("tool_calling_python", "o1"),
    ("tool_calling_python", "o3-mini"),
];

/// Writes the runs with their tasks, unless they exist already.
pub(crate) fn write(root: &Path) -> io::Result<PathBuf> {
    let dir = root.join(format!("failed{FAILED}"));
    let done = dir.join(".complete");
    if done.exists() {
        return Ok(dir);
    }
    let mut dice = Dice::new(20_260_701);
    for task in 0..TASKS {
        let name = format!("task{task:03}");
        for below in ["tasks", "results"] {
            fs::create_dir_all(dir.join(below).join(&name))?;
        }
        let suite = format!(
            "tool_calling_prompt: Solve it.\nexpected_tool_calls: [find_user, refund]\n\
             scorers: [fields: {{ key: id }}]\nexpected_output: {}\n",
            answer(task, 1)
        );
        fs::write(dir.join("tasks").join(&name).join(format!("{name}.yaml")), suite)?;
        for n in 0..PASSING_PER_TASK + FAILED / TASKS {
            let (system, model) = SYSTEMS[n % SYSTEMS.len()];
            let repeat = n / SYSTEMS.len() + 1;
            let file = format!("{name}-{system}-{model}-variation0-run{repeat}.yaml");
            let passes = n < PASSING_PER_TASK;
            let text = transcript(&mut dice, task, passes);
            fs::write(dir.join("results").join(&name).join(file), text)?;
        }
    }
    fs::write(done, b"")?;
    Ok(dir)
}

fn answer(task: usize, factor: usize) -> String {
    let row = |at: usize| {
        let total = (at * 37 + task) * factor;
        format!("{{ \"id\": {at}, \"total\": {total}, \"plan\": \"team\" }}")
    };
    format!("[{}]", (1..=10).map(row).collect::<Vec<_>>().join(", "))
}

/// Returns a run that passes, or one that fails in one of six ways.
fn transcript(dice: &mut Dice, task: usize, passes: bool) -> String {
    let way = if passes { 9 } else { dice.below(6) };
    let mut text = "conversation:\n- user_message: Solve it.\n".to_owned();
    for at in 0..CALLS + dice.below(8) {
        let tool = TOOLS[usize::try_from(at).unwrap_or(0) % TOOLS.len()];
        if way == 0 && tool == "refund" {
            continue;
        }
        if way == 1 && tool == "get_order" && at > 6 {
            let id = dice.below(90_000);
            let _ = writeln!(
                text,
                "- tool_call: {{ name: {tool}, params: {{ of: {at} }}, error: 'Order W{id} was not found' }}"
            );
            continue;
        }
        let _ = writeln!(text, "- assistant_message: Next I call {tool} for part {at}.");
        let _ = writeln!(text, "- tool_call:\n    name: {tool}\n    params: {{ of: {at} }}");
        text.push_str("    result:\n");
        for row in 0..12 {
            let value = at * 31 + row;
            let _ = writeln!(text, "    - {{ id: {row}, value: {value}, name: 'item {value}' }}");
        }
    }
    if way == 2 {
        for _ in 0..4 {
            text.push_str("- tool_call: { name: search, params: { of: 7 }, result: nothing }\n");
        }
    }
    if way == 3 {
        text.push_str("- error: 'The provider answered 529 overloaded_error'\n");
        return text;
    }
    let factor = match way {
        4 => 100,
        5 => 3,
        9 => 1,
        _ => 2,
    };
    let answer = answer(task, factor);
    let _ =
        writeln!(text, "- assistant_message: |-\n    Done.\n    ```json\n    {answer}\n    ```");
    text
}

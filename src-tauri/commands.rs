//! **Pure.** All commands and their access levels. The build script generates a permission for
//! each; tests compare all other lists of commands with this one.

/// Access level of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Allowed to every page: changes nothing on disk or in the program.
    Look,
    /// Allowed to the window, and to a page with `--allow-run`: spends money, runs programs, writes
    /// files, uses keys, or changes the open and the recent folders.
    Act,
}

use Access::{Act, Look};

/// Every command with its access level.
pub(crate) const COMMANDS: [(&str, Access); 63] = [
    ("status", Look),
    ("folders", Look),
    ("open_recent", Act),
    ("forget_recent", Act),
    ("open_demo", Act),
    ("pick_folder", Act),
    ("close_folder", Act),
    ("facets", Look),
    ("list_runs", Look),
    ("locate_run", Look),
    ("runs_around", Look),
    ("search", Look),
    ("problems", Look),
    ("open_run", Look),
    ("read_steps", Look),
    ("read_tree", Look),
    ("read_text", Look),
    ("read_rows", Look),
    ("read_csv", Look),
    ("find_in_run", Look),
    ("launch_options", Look),
    ("launches", Look),
    ("launch", Look),
    ("doctor", Look),
    ("overview", Look),
    ("run_scores", Look),
    ("diff_answer", Look),
    ("compare_runs", Look),
    ("diff_steps", Look),
    ("make_report", Look),
    ("list_tasks", Look),
    ("read_task", Look),
    ("published", Look),
    ("judge_options", Look),
    ("judgings", Look),
    ("evaluate_options", Look),
    ("look_at_data", Look),
    ("evaluations", Look),
    ("trust", Look),
    ("agreement", Look),
    ("unfinished_evaluations", Look),
    ("plan_launch", Act),
    ("start_launch", Act),
    ("stop_launch", Act),
    ("retry_launch", Act),
    ("nudge_run", Act),
    ("fork_run", Act),
    ("keys", Act),
    ("set_key", Act),
    ("forget_key", Act),
    ("test_model", Act),
    ("run_scorers", Act),
    ("review_run", Act),
    ("save_report", Act),
    ("plan_judging", Act),
    ("start_judging", Act),
    ("stop_judging", Act),
    ("pick_file", Act),
    ("plan_evaluating", Act),
    ("start_evaluating", Act),
    ("stop_evaluating", Act),
    ("reveal_file", Act),
    ("make_rows", Act),
];

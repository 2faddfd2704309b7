//! **Pure.** The names of all commands. The build script makes a permission of each; tests compare everything else with it.

/// In the order of `ui/src/backend/backend.ts`.
pub(crate) const COMMANDS: [&str; 19] = [
    "status",
    "folders",
    "open_recent",
    "forget_recent",
    "open_demo",
    "pick_folder",
    "close_folder",
    "facets",
    "list_runs",
    "locate_run",
    "search",
    "problems",
    "open_run",
    "read_steps",
    "read_text",
    "read_rows",
    "read_csv",
    "find_in_run",
    "doctor",
];

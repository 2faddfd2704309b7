//! **Pure.** Checks that a file still belongs to the run it is named after: same first message,
//! same system, same model, same strategy.
use super::OnFile;
use super::matrix::Slot;
use crate::scalar_text::word;
use crate::strategy::FACTS;
use crate::user;
use similar::TextDiff;
use touchstone_model::value::Value;

/// Maximum bytes of a difference to show.
const SHOWN: usize = 4_000;

/// Returns the differences between a file and its task as text; `None` if there are none.
pub(super) fn difference(slot: &Slot, on_file: &OnFile) -> Option<String> {
    let mut lines = String::new();
    for (what, file, wish) in [
        ("system", &on_file.system, slot.at.system.as_str()),
        ("model", &on_file.model, slot.at.model.as_str()),
    ] {
        if let Some(file) = file.as_ref().filter(|file| *file != wish) {
            lines.extend([what, " in the file: ", file, "\n", what, " asked for:  ", wish, "\n"]);
        }
    }
    if !on_file.forked {
        lines += &ways(slot, on_file);
    }
    if slot.user().is_some() {
        let same =
            |(_, brief): &(String, String)| *brief == user::brief(&slot.task, slot.at.variation);
        // Of a run that began with a prompt, the user is unknown.
        if !on_file.edited && !on_file.user.as_ref().is_some_and(same) {
            lines += "the simulated user in the file is another one than that of the task\n";
        }
    } else if !on_file.edited {
        // A fork with an edited first message may differ from the prompt.
        lines +=
            &first_message(on_file.first_message.as_deref(), &slot.prompt()).unwrap_or_default();
    }
    if lines.len() > SHOWN {
        lines.truncate(lines.floor_char_boundary(SHOWN));
        lines += "\n… (more differs)\n";
    }
    (!lines.is_empty()).then_some(lines)
}

/// Lists differences in strategy: a run cannot be resumed with another one.
fn ways(slot: &Slot, on_file: &OnFile) -> String {
    let (file, wish) = (on_file.way.facts(), slot.way.facts());
    let of = |facts: &[(&str, Value)], key: &str| {
        let value =
            facts.iter().find(|(known, _)| *known == key).and_then(|(_, value)| word(value));
        value.unwrap_or_else(|| "none".to_owned())
    };
    let differs = |key: &&&str| of(&file, key) != of(&wish, key);
    let line = |key: &&str| {
        format!("{key} in the file: {}\n{key} asked for:  {}\n", of(&file, key), of(&wish, key))
    };
    FACTS.iter().filter(differs).map(line).collect()
}

fn first_message(file: Option<&str>, task: &str) -> Option<String> {
    let Some(file) = file else { return Some("The file has no first message.\n".to_owned()) };
    // Editors and other writers add or remove the last line break.
    let (file, task) = (file.trim_end_matches(['\n', '\r']), task.trim_end_matches(['\n', '\r']));
    if file == task {
        return None;
    }
    let (file, task) = (format!("{file}\n"), format!("{task}\n"));
    let diff = TextDiff::from_lines(&file, &task);
    Some(
        diff.unified_diff()
            .context_radius(2)
            .header("first message in the file", "prompt of the task")
            .to_string(),
    )
}

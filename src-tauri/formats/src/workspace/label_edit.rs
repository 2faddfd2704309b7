//! **Pure.** Changes labels in the text of a workspace file. Changes only the entries that differ, so that
//! comments and the form of the file stay.
use super::labels::{LONGEST_NAME, Label, LabelKind, SECTION, wrong_name};
use super::rewrite::{put, quoted, remove, rename_key};
use super::{self as workspace, Workspace};
use touchstone_model::error::{ReadError, ReadErrorKind};

/// New value of a key of a label; `None` removes the key.
type Edit = (Option<&'static str>, Option<String>);

/// Returns the text of a workspace file whose labels are these. Labels are told apart by their names; one
/// may have another name than before: `renamed` is its old and its new name. Fails for a bad or taken
/// name, for a new label, for one of another kind, and for a file that cannot be changed.
pub fn with_labels(
    text: &str,
    wanted: &[Label],
    renamed: Option<(&str, &str)>,
) -> Result<String, ReadError> {
    let before = workspace::read(text)?;
    if let Some((old, new)) = renamed.filter(|(old, new)| old != new) {
        check_name(&before.labels, old, new)?;
    }
    let mut new = text.to_owned();
    for label in &before.labels {
        let name = match renamed {
            Some((old, name)) if old == label.name => name,
            _ => label.name.as_str(),
        };
        let place = [SECTION, label.name.as_str()];
        let Some(other) = wanted.iter().find(|other| other.name == name) else {
            new = remove(&new, &place).ok_or_else(fixed)?;
            continue;
        };
        for (key, value) in edits(&label.kind, &other.kind).ok_or_else(fixed)? {
            let place: Vec<&str> = place.into_iter().chain(key).collect();
            let edited = match value {
                Some(value) => put(&new, &place, &value),
                None => remove(&new, &place),
            };
            new = edited.ok_or_else(fixed)?;
        }
        if name != label.name {
            new = rename_key(&new, &place, name).ok_or_else(fixed)?;
        }
    }
    // Faults have line numbers, which may change.
    let without_faults = |one: Workspace| Workspace { faults: Vec::new(), ..one };
    let after = workspace::read(&new).map_err(|_| fixed())?;
    let is_kept = after.faults.len() <= before.faults.len();
    let expected = Workspace { labels: wanted.to_vec(), ..before };
    if !is_kept || without_faults(after) != without_faults(expected) {
        return Err(fixed());
    }
    Ok(new)
}

fn check_name(labels: &[Label], old: &str, new: &str) -> Result<(), ReadError> {
    let refuse = |message: String| {
        Err(ReadError::new(ReadErrorKind::BadValue, message).advise("Choose another name."))
    };
    if let Some(wrong) = wrong_name(new) {
        return refuse(format!("{wrong}."));
    }
    debug_assert!(new.len() <= LONGEST_NAME);
    let is_taken = |label: &Label| label.name != old && label.name.eq_ignore_ascii_case(new);
    if labels.iter().any(is_taken) {
        return refuse(format!("There is a label named `{new}`."));
    }
    Ok(())
}

/// Returns the keys that differ. `None` for a label of another kind.
fn edits(old: &LabelKind, new: &LabelKind) -> Option<Vec<Edit>> {
    let number = |bound: &Option<f64>| bound.map(|bound| bound.to_string());
    let edits = match (old, new) {
        (LabelKind::Question(_), LabelKind::Question(question)) => {
            vec![(None, Some(quoted(question)))]
        }
        (LabelKind::Category(_), LabelKind::Category(values)) => {
            let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
            vec![(Some("values"), Some(format!("[{}]", values.join(", "))))]
        }
        (LabelKind::Number { min, max }, LabelKind::Number { min: least, max: most }) => {
            let bounds = [("min", min, least), ("max", max, most)].into_iter();
            let differing = bounds.filter(|(_, old, new)| old != new);
            return Some(differing.map(|(key, _, new)| (Some(key), number(new))).collect());
        }
        (LabelKind::Text, LabelKind::Text) => Vec::new(),
        _ => return None,
    };
    Some(if old == new { Vec::new() } else { edits })
}

fn fixed() -> ReadError {
    let message = "The label cannot be changed in this form of touchstone.yaml.";
    ReadError::new(ReadErrorKind::BadValue, message)
        .advise("Write each key of the file on a line of its own, or change it by hand.")
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# mine\nlabels: # all\n  # nobody wants these\n  gave-up: no answer # why\n  \
                        severity: { kind: category, values: [low, high] } # how bad\n  points:\n    kind: number # of five\n    \
                        max: 5\n  place:\n    kind: category\n    values:\n      - here # x\n      - there\n    # end\n\n# limits\nrun: {}\n";

    fn edited(change: impl FnOnce(&mut Vec<Label>), renamed: Option<(&str, &str)>) -> String {
        let mut labels = workspace::read(FILE).unwrap().labels;
        change(&mut labels);
        with_labels(FILE, &labels, renamed).unwrap()
    }

    #[test]
    fn only_what_differs_is_written() {
        let kind =
            |at: usize, kind: LabelKind| move |labels: &mut Vec<Label>| labels[at].kind = kind;
        let words = |all: &[&str]| all.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            edited(kind(0, LabelKind::Question("no answer -x".to_owned())), None),
            FILE.replace("no answer #", "\"no answer -x\" #")
        );
        assert_eq!(
            edited(kind(1, LabelKind::Category(words(&["low", "mid"]))), None),
            FILE.replace("[low, high]", "[\"low\", \"mid\"]")
        );
        assert_eq!(
            edited(kind(2, LabelKind::Number { min: Some(0.5), max: None }), None),
            FILE.replace("    max: 5\n", "    min: 0.5\n")
        );
        assert_eq!(
            edited(kind(3, LabelKind::Category(words(&["far away"]))), None),
            FILE.replace(":\n      - here # x\n      - there\n", ": [\"far away\"]\n")
        );
        assert_eq!(edited(|_| (), None), FILE);
    }

    #[test]
    fn a_label_gets_another_name_or_is_removed() {
        let rename = |labels: &mut Vec<Label>| labels[0].name = "left".to_owned();
        assert_eq!(edited(rename, Some(("gave-up", "left"))), FILE.replace("gave-up", "\"left\""));
        let without = |at: usize| move |labels: &mut Vec<Label>| drop(labels.remove(at));
        assert_eq!(
            edited(without(1), None),
            FILE.replace("  severity: { kind: category, values: [low, high] } # how bad\n", "")
        );
        let one = "run: {}\nlabels: { a: b } # x\n";
        assert_eq!(with_labels(one, &[], None).unwrap(), "run: {}\n");
    }

    #[test]
    fn what_cannot_be_changed_is_refused() {
        let labels = workspace::read(FILE).unwrap().labels;
        let refused =
            |labels: &[Label], renamed| with_labels(FILE, labels, renamed).unwrap_err().message;
        for (name, message) in [
            ("Severity", "There is a label named `Severity`."),
            (" x", "The name of a label has to be one line of at most 100 bytes."),
        ] {
            let mut labels = labels.clone();
            labels[0].name = name.to_owned();
            assert_eq!(refused(&labels, Some(("gave-up", name))), message);
        }
        let mut other = labels.clone();
        other[1].kind = LabelKind::Text;
        assert!(refused(&other, None).contains("cannot be changed in this form"));
        let mut more = labels;
        more.push(Label { name: "new".to_owned(), kind: LabelKind::Text });
        assert!(refused(&more, None).contains("cannot be changed in this form"));
    }
}

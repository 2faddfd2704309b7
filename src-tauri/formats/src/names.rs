//! **Pure.** Names of transcript files: `<task file
//! name>-<system>-<model>-variation<index>[-run<k>][-fork<n>].yaml`.
use crate::system::System;
use std::fmt::Write as _;

/// Identity of a run, encoded in its file name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Coordinates {
    /// Path of the suite below the input directory, without extension.
    pub task: String,
    /// System.
    pub system: System,
    /// Model.
    pub model: String,
    /// Variation, from 0.
    pub variation: u32,
    /// Repeat, from 1; for a fork, the repeat of the run it was copied from.
    pub repeat: u32,
    /// Number of the fork of that run, from 1; 0 for the run itself.
    pub fork: u32,
}

/// Parses a path relative to the output directory, with `/` between its parts. Returns `None` if it
/// is not the name of a transcript. Parses from the right, because task names and models contain
/// `-`: the longest known model that follows a system wins; an unknown model is the text between
/// the last system and the variation.
pub fn read(path: &str, known_models: &[&str]) -> Option<Coordinates> {
    let name = without_extension(path).or_else(|| path.strip_suffix(".json"))?;
    let (name, fork) = match numbered(name, "-fork") {
        Some((rest, fork)) if fork >= 1 => (rest, fork),
        _ => (name, 0),
    };
    let (name, repeat) = match numbered(name, "-run") {
        Some((rest, repeat)) if repeat >= 2 => (rest, repeat),
        _ => (name, 1),
    };
    let (name, variation) = numbered(name, "-variation")?;
    let (task, system, model) = parse_known_model(name, known_models).or_else(|| unknown(name))?;
    let task = without_extension(task).unwrap_or(task);
    let stem = task.rsplit('/').next().unwrap_or(task);
    if stem.is_empty() || model.is_empty() || model.contains('/') {
        return None;
    }
    let (task, system, model) = (task.to_owned(), System::from(system), model.to_owned());
    Some(Coordinates { task, system, model, variation, repeat, fork })
}

/// Returns the fork number in a file name, from 1; 0 if the name is not that of a fork.
pub fn fork(path: &str) -> u32 {
    let name = without_extension(path).or_else(|| path.strip_suffix(".json"));
    name.and_then(|name| numbered(name, "-fork")).map_or(0, |(_, fork)| fork)
}

/// Returns the repeat numbers of a variation: the first `count` from 1 that no fork uses. Forks
/// were once named like repeats; such files keep their names, and the repeats skip their numbers.
pub fn repeats(count: u32, is_fork: impl Fn(u32) -> bool) -> Vec<u32> {
    (1..=u32::MAX).filter(|number| !is_fork(*number)).take(count as usize).collect()
}

/// Formats the path of a transcript, relative to the output directory.
pub fn write(coordinates: &Coordinates) -> String {
    let mut path = String::new();
    write_to(&mut path, coordinates);
    path
}

/// Like [`write`], in place of the content of a string.
pub fn write_to(path: &mut String, coordinates: &Coordinates) {
    let Coordinates { task, system, model, variation, repeat, fork } = coordinates;
    path.clear();
    for part in [task, "-", system.as_str(), "-", model] {
        path.push_str(part);
    }
    // Writing to a string cannot fail.
    let _ = write!(path, "-variation{variation}");
    if *repeat > 1 {
        let _ = write!(path, "-run{repeat}");
    }
    if *fork > 0 {
        let _ = write!(path, "-fork{fork}");
    }
    path.push_str(".yaml");
}

/// Returns the paths under which a run may lie, in the order in which they are usual. Endings in
/// capitals are read, but not listed here.
pub fn spellings(coordinates: &Coordinates) -> Vec<String> {
    let usual = write(coordinates);
    let stem = usual.strip_suffix(".yaml").unwrap_or(&usual).to_owned();
    let task = &coordinates.task;
    let of_task_file = |ending: &str| {
        write(&Coordinates { task: format!("{task}{ending}"), ..coordinates.clone() })
    };
    let others = [
        format!("{stem}.yml"),
        format!("{stem}.json"),
        of_task_file(".yaml"),
        of_task_file(".yml"),
    ];
    std::iter::once(usual).chain(others).collect()
}

/// Returns true for a file name that has the form of a transcript's name, whatever the file holds.
pub(crate) fn is_meant(name: &str) -> bool {
    without_extension(name)
        .or_else(|| name.strip_suffix(".json"))
        .is_some_and(|name| name.contains("-variation"))
}

fn without_extension(path: &str) -> Option<&str> {
    let (name, extension) = path.rsplit_once('.')?;
    ["yaml", "yml"].iter().any(|known| extension.eq_ignore_ascii_case(known)).then_some(name)
}

/// Splits `rest<mark>12` into `rest` and the number. Accepts numbers only as they are written here:
/// without sign and without leading zeros.
fn numbered<'a>(name: &'a str, mark: &str) -> Option<(&'a str, u32)> {
    let at = name.rfind(mark)?;
    let digits = &name[at + mark.len()..];
    let number: u32 = digits.parse().ok()?;
    (number.to_string() == digits).then_some((&name[..at], number))
}

fn parse_known_model<'a>(name: &'a str, models: &[&str]) -> Option<(&'a str, &'a str, &'a str)> {
    let fits = models.iter().filter_map(|model| {
        let rest = name.strip_suffix(model)?.strip_suffix('-')?;
        let (task, system) = System::RUNNABLE.iter().find_map(|system| {
            let task = rest.strip_suffix(system.as_str())?.strip_suffix('-')?;
            Some((task, &rest[task.len() + 1..]))
        })?;
        Some((task, system, &name[rest.len() + 1..]))
    });
    fits.max_by_key(|(_, _, model)| model.len())
}

fn unknown(name: &str) -> Option<(&str, &str, &str)> {
    let file = name.rfind('/').map_or(0, |at| at + 1);
    let found = System::RUNNABLE.iter().filter_map(|system| {
        let at = file + name[file..].rfind(&format!("-{system}-"))?;
        Some((at, system.as_str().len()))
    });
    let (at, length) = found.max()?;
    let model = at + 1 + length + 1;
    Some((&name[..at], &name[at + 1..=at + length], &name[model..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MODELS: [&str; 5] = ["claude", "o1", "o3-mini", "mini", "a-promptql-b"];

    fn parts(path: &str) -> Option<(String, String, String, u32, u32)> {
        read(path, &MODELS).map(|c| (c.task, c.system.to_string(), c.model, c.variation, c.repeat))
    }

    #[expect(clippy::unnecessary_wraps, reason = "compared with what was read")]
    fn expect(
        task: &str,
        system: &str,
        model: &str,
        variation: u32,
        repeat: u32,
    ) -> Option<(String, String, String, u32, u32)> {
        Some((task.into(), system.into(), model.into(), variation, repeat))
    }

    #[test]
    fn names_are_read_from_the_right() {
        for (path, coordinates) in [
            ("a-promptql-o3-mini-variation0.yaml", expect("a", "promptql", "o3-mini", 0, 1)),
            (
                "x/y/a-b-tool_calling_python-claude-variation12-run3.yml",
                expect("x/y/a-b", "tool_calling_python", "claude", 12, 3),
            ),
            ("task.yaml-promptql-o1-variation1.yaml", expect("task", "promptql", "o1", 1, 1)),
            (
                "a-promptql-b-tool_calling-new-model-variation1.yaml",
                expect("a-promptql-b", "tool_calling", "new-model", 1, 1),
            ),
            (
                "t-tool_calling-a-promptql-b-variation0.yaml",
                expect("t", "tool_calling", "a-promptql-b", 0, 1),
            ),
            ("a-other_system-o1-variation1.yaml", None),
            ("a-promptql-o1-variation01.yaml", None),
            ("a-promptql-o1-variation1-run1.yaml", None),
            ("-promptql-o1-variation1.yaml", None),
            ("a-promptql-o1-variation1.json", expect("a", "promptql", "o1", 1, 1)),
            ("a-promptql-o1-variation1.YAML", expect("a", "promptql", "o1", 1, 1)),
            ("a-promptql-o1-variation1.txt", None),
            ("a-promptql-x/b-variation1.yaml", None),
        ] {
            assert_eq!(parts(path), coordinates, "{path}");
        }
    }

    #[test]
    fn a_fork_is_never_named_like_a_repeat() {
        for (path, repeat, number) in [
            ("a-promptql-o1-variation1-fork1.yaml", 1, 1),
            ("a-promptql-o1-variation1-run3-fork12.yml", 3, 12),
        ] {
            let at = read(path, &MODELS).unwrap();
            assert_eq!((at.repeat, at.fork, fork(path)), (repeat, number, number), "{path}");
        }
        for path in ["a-promptql-o1-variation1-fork0.yaml", "a-promptql-o1-variation1-fork01.yaml"]
        {
            assert_eq!((read(path, &MODELS), fork(path)), (None, 0), "{path}");
        }
        assert_eq!(fork("a-promptql-o1-variation1-run2.yaml"), 0);
    }

    #[test]
    fn repeats_are_counted_past_forks_that_are_named_like_them() {
        assert_eq!(repeats(3, |_| false), [1, 2, 3]);
        assert_eq!(repeats(3, |number| [2, 4].contains(&number)), [1, 3, 5]);
        assert_eq!(repeats(0, |_| false), [0; 0]);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            task in "([a-z0-9_. é-]{1,8}/){0,2}[a-z0-9_é-]{0,12}[a-z]",
            system in prop::sample::select(System::RUNNABLE.to_vec()),
            model in prop::sample::select(MODELS.to_vec()),
            variation in any::<u32>(),
            repeat in 1..u32::MAX,
            fork in prop_oneof![Just(0), 1..u32::MAX],
        ) {
            let coordinates = Coordinates { task, system, model: model.into(), variation, repeat, fork };
            prop_assert_eq!(super::fork(&write(&coordinates)), fork);
            let spellings = spellings(&coordinates);
            prop_assert_eq!(&spellings[0], &write(&coordinates));
            for path in spellings {
                prop_assert_eq!(read(&path, &MODELS), Some(coordinates.clone()));
            }
        }
    }
}

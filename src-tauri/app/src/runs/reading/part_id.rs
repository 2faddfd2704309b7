//! **Pure.** Identifiers of the parts of a run, and the values they refer to.
use super::search_tree;
use std::borrow::Cow;
use std::fmt::{Display, Formatter};
use std::str::FromStr;
use touchstone_model::run::{Part, Run, Step};
use touchstone_model::value::Value;

/// Maximum number of parts shown per step. The rest becomes one more part, a map.
pub(super) const MAX_PARTS: usize = 100;

/// Identifier of a part. The page passes it back unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartId {
    /// Part of a step: step, part.
    Step(usize, usize),
    /// Text of a node of the search tree: node, then 0 for the thought or call, 1 for the
    /// arguments, 2 for the result.
    Node(usize, usize),
    /// The answer.
    Answer,
    /// Another top-level entry of the files.
    Fact(usize),
    /// The prompt of the task.
    Prompt,
    /// The expected output.
    Expected,
    /// A parameter of the variation.
    Parameter(usize),
    /// A file as it is on disk.
    Raw(usize),
}

impl PartId {
    /// Returns the value of a part that the files of the run hold.
    pub(crate) fn value(self, run: &Run) -> Option<Cow<'_, Value>> {
        match self {
            PartId::Step(step, part) => part_of(run.steps.get(step)?, part),
            PartId::Node(node, part) => {
                search_tree::text(run, node, part).map(|text| Cow::Owned(Value::from(text)))
            }
            PartId::Answer => run.answer.as_ref().map(|answer| Cow::Borrowed(&answer.value)),
            PartId::Fact(fact) => run.facts.get(fact).map(|(_, value)| Cow::Borrowed(value)),
            PartId::Prompt | PartId::Expected | PartId::Parameter(_) | PartId::Raw(_) => None,
        }
    }
}

fn part_of(step: &Step, part: usize) -> Option<Cow<'_, Value>> {
    if part < MAX_PARTS {
        step.parts.get(part).map(|part| Cow::Borrowed(&part.value))
    } else {
        rest(step).filter(|_| part == MAX_PARTS)
    }
}

/// Returns the parts of a step beyond [`MAX_PARTS`] as one map.
pub(super) fn rest(step: &Step) -> Option<Cow<'_, Value>> {
    let beyond = step.parts.get(MAX_PARTS..).filter(|beyond| !beyond.is_empty())?;
    let entry = |part: &Part| (Value::from(part.label.as_str()), part.value.clone());
    Some(Cow::Owned(Value::Map(beyond.iter().map(entry).collect())))
}

/// Returns the values of the parts of a step, in the order of their numbers.
pub(super) fn shown_parts(step: &Step) -> impl Iterator<Item = Cow<'_, Value>> {
    step.parts.iter().take(MAX_PARTS).map(|part| Cow::Borrowed(&part.value)).chain(rest(step))
}

impl Display for PartId {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            PartId::Step(step, part) => write!(f, "step:{step}.{part}"),
            PartId::Node(node, part) => write!(f, "node:{node}.{part}"),
            PartId::Answer => f.write_str("answer"),
            PartId::Fact(at) => write!(f, "fact:{at}"),
            PartId::Prompt => f.write_str("prompt"),
            PartId::Expected => f.write_str("expected"),
            PartId::Parameter(at) => write!(f, "parameter:{at}"),
            PartId::Raw(at) => write!(f, "raw:{at}"),
        }
    }
}

impl FromStr for PartId {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let number = |text: &str| text.parse::<usize>().map_err(|_| ());
        match text.split_once(':') {
            None => match text {
                "answer" => Ok(PartId::Answer),
                "prompt" => Ok(PartId::Prompt),
                "expected" => Ok(PartId::Expected),
                _ => Err(()),
            },
            Some((kind @ ("step" | "node"), place)) => {
                let (at, part) = place.split_once('.').ok_or(())?;
                let (at, part) = (number(at)?, number(part)?);
                Ok(if kind == "step" { PartId::Step(at, part) } else { PartId::Node(at, part) })
            }
            Some(("fact", at)) => number(at).map(PartId::Fact),
            Some(("parameter", at)) => number(at).map(PartId::Parameter),
            Some(("raw", at)) => number(at).map(PartId::Raw),
            Some(_) => Err(()),
        }
    }
}

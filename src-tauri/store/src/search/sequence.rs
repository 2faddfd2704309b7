//! **Pure.** Decides whether the steps of a run are those that a question describes. Reads a text
//! only when everything else about its step fits.
use super::numbers::{has_key, numbers};
use crate::filter::{
    Comparison, Pattern, Place, StepCondition, StepPattern, StepQuestion, StepText, StepWord,
};
use crate::snippet::Needle;
use crate::word_index::{ANYWHERE, Places, bit_of};
use std::io;
use std::ops::Range;
use touchstone_formats::transcript::step_list::{ListedKind, ListedStep, StepList, TextRole};

/// Access to the texts of a run.
pub(super) trait StepTexts {
    /// Applies a function to the bytes of a range of the run's text, without the line end behind
    /// it. Other ranges of `step` are likely to follow, in any order.
    fn with(
        &mut self,
        step: &Range<u64>,
        range: &Range<u64>,
        act: &mut dyn FnMut(&[u8]) -> bool,
    ) -> io::Result<bool>;
}

/// A run as questions see it.
pub(super) struct Steps<'r> {
    pub(super) list: &'r StepList<'r>,
    pub(super) texts: &'r mut dyn StepTexts,
    pub(super) has_answer: bool,
}

/// A question, prepared for many runs.
#[derive(Clone)]
pub(super) struct Sequence {
    /// Steps that must happen, in order.
    wanted: Vec<Wanted>,
    /// After each of them, the steps that must not happen before the next, or before the end.
    never: Vec<Vec<Wanted>>,
    /// Whether there must be an answer at the end.
    answer: Option<bool>,
    count: Option<(Comparison, f64)>,
}

/// A described step.
#[derive(Clone)]
struct Wanted {
    word: StepWord,
    tools: Vec<Pattern>,
    failed: Vec<bool>,
    /// Same call as the one before in the question.
    same: bool,
    /// Right after the step before.
    next: bool,
    texts: Vec<(TextRole, Needle)>,
    numbers: Vec<(Option<String>, Comparison, f64)>,
}

/// A run that a question holds for: the step at which it was complete, if it is about one.
pub(super) struct Found {
    pub(super) step: Option<usize>,
}

/// The ways in which the first steps of a sequence were found.
#[derive(Default)]
struct Reached {
    /// Index of the step that was last, of the latest way.
    latest: Option<usize>,
    /// The first, for display.
    first: Option<usize>,
    /// Latest step by the number of the call, when the next step compares with it.
    by_call: Vec<Option<usize>>,
    /// Number of calls that have one.
    calls: usize,
}

impl Sequence {
    /// Prepares a question. `None` when it holds something that the parser refuses.
    pub(super) fn new(question: &StepQuestion) -> Option<Self> {
        let mut sequence =
            Self { wanted: Vec::new(), never: Vec::new(), answer: None, count: question.count };
        for step in &question.steps {
            if step.pattern.word == StepWord::Answer {
                sequence.answer = Some(step.place != Place::Never);
                continue;
            }
            let wanted = Wanted::new(&step.pattern, step.place == Place::Next)?;
            if step.place == Place::Never {
                sequence.never.last_mut()?.push(wanted);
            } else {
                sequence.wanted.push(wanted);
                sequence.never.push(Vec::new());
            }
        }
        Some(sequence)
    }

    /// Returns true when the question is about the answer.
    pub(super) fn asks_for_answer(&self) -> bool {
        self.answer.is_some()
    }

    /// Returns texts that every run holds for which the question holds, and where it holds them.
    pub(super) fn required(&self) -> Vec<(Places, Needle)> {
        if self.holds_without_steps() {
            return Vec::new();
        }
        self.wanted.iter().flat_map(Wanted::required).collect()
    }

    /// Returns true when it holds for just the runs that hold the only text it requires.
    pub(super) fn is_a_text(&self) -> bool {
        let [wanted] = self.wanted.as_slice() else { return false };
        let is_more = self.count.is_some()
            || self.answer.is_some()
            || self.never.iter().any(|never| !never.is_empty());
        !is_more && wanted.is_a_text()
    }

    fn holds_without_steps(&self) -> bool {
        self.count.is_some_and(|(by, number)| by.holds(0.0, number))
    }

    /// Returns true when it cannot be decided without the texts of steps.
    pub(super) fn needs_texts(&self) -> bool {
        self.wanted.iter().chain(self.never.iter().flatten()).any(Wanted::needs_texts)
    }

    /// Returns the question without what it asks of texts: a run for which it does not hold is none
    /// for which the question holds. `None` when that may be any run.
    pub(super) fn without_texts(&self) -> Option<Self> {
        let mut kinds = self.clone();
        if let ([wanted], Some((by, number))) = (self.wanted.as_slice(), self.count)
            && wanted.needs_texts()
        {
            kinds.count = match by {
                Comparison::Less | Comparison::AtMost => return None,
                Comparison::Equal => Some((Comparison::AtLeast, number)),
                Comparison::AtLeast | Comparison::More => self.count,
            };
        }
        for wanted in &mut kinds.wanted {
            wanted.texts.clear();
            wanted.numbers.clear();
        }
        for never in &mut kinds.never {
            never.retain(|never| !never.needs_texts());
        }
        Some(kinds)
    }

    /// Returns the texts that every run holds for which the question holds.
    pub(super) fn needed_texts(&self) -> impl Iterator<Item = &Needle> {
        let none = self.holds_without_steps();
        let wanted = self.wanted.iter().filter(move |_| !none);
        wanted.flat_map(|wanted| &wanted.texts).map(|(_, needle)| needle)
    }

    /// Returns the text that shows best why the question holds: the one that its last step names,
    /// with what is found in it, or else the step's own.
    pub(super) fn shown_text(&self) -> (TextRole, Option<&Needle>) {
        let named = self.wanted.last().and_then(|last| last.texts.first());
        named.map_or((TextRole::Own, None), |(role, needle)| (*role, Some(needle)))
    }

    /// Decides whether the question holds.
    pub(super) fn find(&self, run: &mut Steps<'_>) -> io::Result<Option<Found>> {
        if self.answer.is_some_and(|answer| answer != run.has_answer) {
            return Ok(None);
        }
        match (self.wanted.as_slice(), self.count) {
            ([], _) => Ok(Some(Found { step: None })),
            ([one], Some(count)) => counted(one, count, run),
            _ => self.in_order(run),
        }
    }

    fn in_order(&self, run: &mut Steps<'_>) -> io::Result<Option<Found>> {
        let list = run.list;
        let end = self.wanted.len() - 1;
        let mut reached: Vec<Reached> = self.wanted.iter().map(|_| Reached::default()).collect();
        for (at, step) in list.steps.iter().enumerate() {
            // From the last to the first, so that a step is used once.
            for place in (0..=end).rev() {
                let arrives = match place.checked_sub(1) {
                    None => true,
                    Some(before) => self.wanted[place].follows(&reached[before], at, step),
                } && self.wanted[place].matches(step, run)?;
                self.refuse(place, &mut reached[place], step, run)?;
                if !arrives {
                    continue;
                }
                if place == end && self.never[end].is_empty() {
                    return Ok(Some(Found { step: Some(at) }));
                }
                reached[place].add(at, step, self.compares_with(place));
            }
        }
        let whole = &reached[end];
        let step = whole.by_call.iter().flatten().copied().min().or(whole.first);
        Ok(whole.latest.is_some().then_some(Found { step }))
    }

    /// Returns true when what comes after a step compares with its call.
    fn compares_with(&self, place: usize) -> bool {
        self.never[place].iter().any(|never| never.same)
            || self.wanted.get(place + 1).is_some_and(|next| next.same)
    }

    /// Forgets the ways that a step ends which must not happen.
    fn refuse(
        &self,
        place: usize,
        reached: &mut Reached,
        step: &ListedStep,
        run: &mut Steps<'_>,
    ) -> io::Result<()> {
        for never in &self.never[place] {
            if reached.latest.is_none() {
                return Ok(());
            }
            let of_call = step.call.filter(|_| never.same);
            if of_call.is_some_and(|call| reached.of_call(call).is_none())
                || !never.matches(step, run)?
            {
                continue;
            }
            match of_call {
                None => *reached = Reached::default(),
                Some(call) => {
                    reached.set_call(call, None);
                    if reached.calls == 0 {
                        *reached = Reached::default();
                    }
                }
            }
        }
        Ok(())
    }
}

impl Reached {
    fn add(&mut self, at: usize, step: &ListedStep, compares: bool) {
        self.latest = Some(at);
        self.first.get_or_insert(at);
        if let Some(call) = step.call.filter(|_| compares) {
            self.set_call(call, Some(at));
        }
    }

    fn of_call(&self, call: u32) -> Option<usize> {
        self.by_call.get(call as usize).copied().flatten()
    }

    fn set_call(&mut self, call: u32, at: Option<usize>) {
        let call = call as usize;
        if call >= self.by_call.len() {
            self.by_call.resize(call + 1, None);
        }
        let before = std::mem::replace(&mut self.by_call[call], at);
        self.calls += usize::from(at.is_some());
        self.calls -= usize::from(before.is_some());
    }
}

impl Wanted {
    fn new(pattern: &StepPattern, next: bool) -> Option<Self> {
        let mut wanted = Self {
            word: pattern.word,
            tools: pattern.tools.clone(),
            failed: Vec::new(),
            same: false,
            next,
            texts: Vec::new(),
            numbers: Vec::new(),
        };
        for condition in &pattern.conditions {
            match condition {
                StepCondition::Failed(failed) => wanted.failed.push(*failed),
                StepCondition::Same => wanted.same = true,
                StepCondition::Text(text, holds) => {
                    let role = match text {
                        StepText::Own => TextRole::Own,
                        StepText::Result => TextRole::Result,
                    };
                    wanted.texts.push((role, holds.needle()?));
                }
                StepCondition::Number(key, by, number) => {
                    wanted.numbers.push((key.clone(), *by, *number));
                }
            }
        }
        Some(wanted)
    }

    fn needs_texts(&self) -> bool {
        !self.texts.is_empty() || !self.numbers.is_empty()
    }

    /// Returns the kind of its steps; `None` for the answer, which is none.
    fn kind(&self) -> Option<ListedKind> {
        Some(match self.word {
            StepWord::Call => ListedKind::Call,
            StepWord::Program => ListedKind::Program,
            StepWord::Said => ListedKind::Assistant,
            StepWord::User | StepWord::Nudge => ListedKind::User,
            StepWord::Error => ListedKind::Error,
            StepWord::Answer => return None,
        })
    }

    /// Returns texts that every run holds with such a step.
    fn required(&self) -> Vec<(Places, Needle)> {
        let Some(kind) = self.kind() else { return Vec::new() };
        let mut texts: Vec<_> =
            self.texts.iter().map(|(role, needle)| (bit_of(kind, *role), needle.clone())).collect();
        if let [Pattern(name)] = self.tools.as_slice()
            && let [name] = name.as_slice()
        {
            texts.extend(Needle::word(name).map(|needle| (ANYWHERE, needle)));
        }
        texts
    }

    /// Returns true when a step of its kind with its only text is all that is wanted.
    fn is_a_text(&self) -> bool {
        let is_more = self.word == StepWord::Nudge
            || !self.tools.is_empty()
            || !self.failed.is_empty()
            || !self.numbers.is_empty()
            || self.same
            || self.next;
        !is_more && self.texts.len() == 1
    }

    /// Returns true when a step may come after those that were reached.
    fn follows(&self, before: &Reached, at: usize, step: &ListedStep) -> bool {
        let latest =
            if self.same { step.call.and_then(|call| before.of_call(call)) } else { before.latest };
        latest.is_some_and(|latest| !self.next || latest + 1 == at)
    }

    /// Returns true when a step is as described, apart from its place.
    fn matches(&self, step: &ListedStep, run: &mut Steps<'_>) -> io::Result<bool> {
        let is_kind =
            self.kind() == Some(step.kind) && (self.word != StepWord::Nudge || step.nudge);
        if !is_kind || !self.failed.iter().all(|failed| step.failed == Some(*failed)) {
            return Ok(false);
        }
        if !self.tools.is_empty() {
            let tool = step.tool.and_then(|tool| run.list.tools.get(tool)).unwrap_or(&"");
            if !self.tools.iter().any(|pattern| pattern.matches(tool)) {
                return Ok(false);
            }
        }
        for (role, needle) in &self.texts {
            let mut holds = |text: &[u8]| needle.find(text, 0).is_some();
            if !any_text(run.list, step, (*role, run.texts), &mut holds)? {
                return Ok(false);
            }
        }
        for (key, by, number) in &self.numbers {
            let mut holds = |text: &[u8]| holds_number(text, key.as_deref(), *by, *number);
            if !any_text(run.list, step, (TextRole::Result, run.texts), &mut holds)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn counted(
    wanted: &Wanted,
    (by, number): (Comparison, f64),
    run: &mut Steps<'_>,
) -> io::Result<Option<Found>> {
    let (mut count, mut first) = (0_u32, None);
    for (at, step) in run.list.steps.iter().enumerate() {
        if wanted.matches(step, run)? {
            count += 1;
            first.get_or_insert(at);
        }
    }
    Ok(by.holds(f64::from(count), number).then_some(Found { step: first }))
}

/// Returns true when a text of a step with this role holds something. A call without arguments, and
/// a result without text, are empty.
pub(super) fn any_text(
    list: &StepList<'_>,
    step: &ListedStep,
    (role, texts): (TextRole, &mut dyn StepTexts),
    holds: &mut dyn FnMut(&[u8]) -> bool,
) -> io::Result<bool> {
    let parts = list.texts_of(step);
    let mut is_empty = match role {
        TextRole::Result => step.failed.is_some(),
        _ => matches!(step.kind, ListedKind::Call | ListedKind::Program),
    };
    let whole = match parts {
        [(_, head), .., (_, tail)] => head.start..tail.end,
        [(_, only)] => only.clone(),
        [] => 0..0,
    };
    for (_, range) in parts.iter().filter(|(known, _)| *known == role) {
        is_empty = false;
        if texts.with(&whole, range, holds)? {
            return Ok(true);
        }
    }
    Ok(is_empty && holds(b""))
}

fn holds_number(text: &[u8], key: Option<&str>, by: Comparison, number: f64) -> bool {
    let mut found = numbers(text).filter(|(_, found)| by.holds(*found, number));
    found.any(|(at, _)| key.is_none_or(|key| has_key(text, at, key)))
}

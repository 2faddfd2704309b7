//! **Pure.** Edits a step of a conversation: the text of a message, or the arguments, the result or
//! the error of a tool call.
use super::{ForkError, KeptSteps, copy, open_calls};
use crate::conversation::Outcome;
use crate::script::walk::{self, AssistantTurn, Group, Kind, Piece};
use crate::script::{fit, message_text, outcome};
use crate::strategy::Strategy;
use touchstone_api::{EditableField, EditableStep, StepEdit, StepPart};
use touchstone_formats::redact::MARK;
use touchstone_formats::transcript::Document;
use touchstone_model::json;
use touchstone_model::value::Value;

/// Maximum bytes of a part that can be edited. Nobody reads more in a field.
pub const LONGEST_EDIT: usize = 1 << 20;

/// Returns what can be edited of a step. Fails if there is no such step.
pub fn editable(document: &Document, step: usize) -> Result<EditableStep, ForkError> {
    if document.get("conversation").is_none() {
        return Err(ForkError::NoConversation);
    }
    let pieces = walk::pieces(document.items());
    let Some(piece) = pieces.get(step) else {
        // An error beside the conversation is displayed as its last step.
        let is_last = step == pieces.len() && has_error(document);
        return if is_last { Ok(EditableStep::default()) } else { Err(ForkError::NoStep) };
    };
    let is_try = piece.kind != Kind::User && searches(document);
    let fields = match piece.kind {
        Kind::User | Kind::Assistant => vec![message_field(piece.value)],
        Kind::Call => call_fields(piece.value),
        Kind::System | Kind::Error | Kind::Unknown => Vec::new(),
    };
    if is_try && !fields.is_empty() {
        let why_not = Some(ForkError::Search.to_string());
        return Ok(EditableStep { why_not, ..EditableStep::default() });
    }
    let (fields, long): (Vec<_>, Vec<_>) =
        fields.into_iter().partition(|field| field.text.len() <= LONGEST_EDIT);
    let why_not = long.first().map(|field| {
        let part = field.part.word();
        format!("The {part} is longer than 1 MB, which is too much to edit here.")
    });
    let needs_message = piece.kind == Kind::Assistant
        && turn_of(&pieces, step).is_none_or(|it| it.calls.is_empty());
    Ok(EditableStep { fields, needs_message, why_not })
}

impl KeptSteps {
    /// Keeps everything up to the turn of a step, with the edited step in place of the old one.
    pub(super) fn edited(
        original: &Document,
        pieces: &[Piece<'_>],
        step: usize,
        edit: &StepEdit,
    ) -> Result<Self, ForkError> {
        let piece = pieces.get(step).ok_or(ForkError::NoStep)?;
        check_part(piece.kind, edit.part)?;
        if piece.kind != Kind::User && searches(original) {
            return Err(ForkError::Search);
        }
        if edit.part == StepPart::Message && edit.text.trim().is_empty() {
            return Err(ForkError::Empty);
        }
        let part = Some(edit.part);
        if piece.kind == Kind::User {
            // Calls without a result before it would be made.
            let open = open_calls(pieces.get(..step).unwrap_or_default());
            let mut items = copy(original.items(), pieces, |at| at < step && !open.contains(&at));
            items.push(Value::Map(vec![("user_message".into(), edit.text.as_str().into())]));
            return Ok(Self { items, part, edited_turn: None });
        }
        let turn = turn_of(pieces, step).ok_or(ForkError::NoStep)?;
        let end = turn.calls.iter().filter_map(|call| pieces.iter().position(|it| it == call));
        let end = end.max().unwrap_or(step).max(step);
        // All items up to the step have a kept piece, so their positions stay.
        let mut items = copy(original.items(), pieces, |at| at <= end);
        if let Some(item) = items.get_mut(piece.item) {
            replace(item, piece, edited_value(piece, edit)?);
        }
        // The thinking before a result that was edited is still that of the model.
        let is_of_model = matches!(edit.part, StepPart::Message | StepPart::Arguments);
        Ok(Self { items, part, edited_turn: is_of_model.then_some(turn.number) })
    }
}

fn has_error(document: &Document) -> bool {
    document.get("error").is_some_and(|error| *error != Value::Null)
}

/// Returns true for a run that searches for an answer by a method.
fn searches(document: &Document) -> bool {
    Strategy::from_transcript(document).method.is_some()
}

/// Fails if a kind of step has no such part.
fn check_part(kind: Kind, part: StepPart) -> Result<(), ForkError> {
    let why = match (kind, part) {
        (Kind::User | Kind::Assistant, StepPart::Message)
        | (Kind::Call, StepPart::Arguments | StepPart::Result | StepPart::Error) => return Ok(()),
        (Kind::User | Kind::Assistant, _) => {
            "This step is a message, of which only the text can be edited (`message`)."
        }
        (Kind::Call, StepPart::Message) => {
            "This step is a tool call, of which the `arguments`, the `result` or the `error` can be edited."
        }
        (Kind::System | Kind::Error | Kind::Unknown, _) => {
            "Only messages and tool calls can be edited. Choose another step."
        }
    };
    Err(ForkError::NoPart(why))
}

/// Returns the assistant turn that a step belongs to.
fn turn_of<'d>(pieces: &[Piece<'d>], step: usize) -> Option<AssistantTurn<'d>> {
    let piece = pieces.get(step)?;
    walk::group(pieces).0.into_iter().find_map(|group| match group {
        Group::Assistant(turn) if turn.message == Some(*piece) || turn.calls.contains(piece) => {
            Some(turn)
        }
        _ => None,
    })
}

/// Writes the new value of a piece into its item. How long the step took, and how many tokens, was
/// that of the old one.
fn replace(item: &mut Value, piece: &Piece<'_>, value: Value) {
    let (Value::Map(entries), Some(key)) = (item, walk::key_of(piece.kind)) else { return };
    entries.retain(|(key, _)| !matches!(key.text(), Some("seconds" | "tokens")));
    if let Some((_, old)) = entries.iter_mut().find(|(known, _)| known.text() == Some(key)) {
        *old = value;
    }
}

fn edited_value(piece: &Piece<'_>, edit: &StepEdit) -> Result<Value, ForkError> {
    let text = || Value::from(edit.text.as_str());
    let (key, value) = match edit.part {
        StepPart::Message => return Ok(text()),
        StepPart::Arguments => ("params", arguments(piece.value.get("params"), &edit.text)?),
        StepPart::Result => ("result", result(piece.value.get("result"), &edit.text)),
        StepPart::Error => ("error", text()),
    };
    let mut call = match piece.value {
        Value::Map(entries) => entries.clone(),
        // A hand-written call may consist of only its name.
        name => vec![("name".into(), name.clone())],
    };
    call.retain(|(known, _)| {
        known.text() == Some(key) || !matches!(known.text(), Some("result" | "error" | "seconds"))
    });
    if let Some((_, old)) = call.iter_mut().find(|(known, _)| known.text() == Some(key)) {
        *old = value;
    } else {
        let turn = call.iter().position(|(known, _)| known.text() == Some("turn"));
        call.insert(turn.unwrap_or(call.len()), (key.into(), value));
    }
    Ok(Value::Map(call))
}

/// Parses arguments. Where the call has a single argument that is text, a text that is no JSON
/// object is that argument.
fn arguments(old: Option<&Value>, text: &str) -> Result<Value, ForkError> {
    let object = match only_text(old) {
        Some((name, _)) if !text.trim_start().starts_with('{') => {
            Value::Map(vec![(name.into(), text.into())])
        }
        _ => read_object(text)?,
    };
    if json::write(&object, false).contains(MARK) {
        return Err(ForkError::Redacted);
    }
    if fit(&object) != object {
        return Err(ForkError::Unfit);
    }
    Ok(object)
}

fn read_object(text: &str) -> Result<Value, ForkError> {
    if text.trim().is_empty() {
        return Err(ForkError::NoObject("they are empty. Write {} for none.".to_owned()));
    }
    match json::read(text) {
        Ok(object @ Value::Map(_)) => Ok(object),
        Ok(_) => Err(ForkError::NoObject("this is another JSON value.".to_owned())),
        Err(error) => {
            let place = error.line.zip(error.column);
            let place = place.map(|(line, column)| format!(" (line {line}, column {column})"));
            Err(ForkError::NoObject(format!("{}{}", error.message, place.unwrap_or_default())))
        }
    }
}

/// Returns the result as the old one was: JSON stays JSON if it can be read, text stays text.
fn result(old: Option<&Value>, text: &str) -> Value {
    let was_text = matches!(old, None | Some(Value::Text(_) | Value::Null));
    let read = json::read(text).ok().filter(|value| !was_text && fit(value) == *value);
    read.unwrap_or_else(|| text.into())
}

/// Returns the only argument of a call with its text.
fn only_text(params: Option<&Value>) -> Option<(&str, &str)> {
    let [(name, value)] = params?.entries() else { return None };
    Some((name.text()?, value.text()?))
}

fn message_field(message: &Value) -> EditableField {
    EditableField { part: StepPart::Message, text: message_text(message), argument: None }
}

/// Returns the parts of a call: its arguments, and the outcome that it had before the other one.
fn call_fields(call: &Value) -> Vec<EditableField> {
    let field = |part, text| EditableField { part, text, argument: None };
    let params = call.get("params");
    let arguments = match only_text(params) {
        // An object in the place of the text would be read as the arguments themselves.
        Some((name, text)) if !text.trim_start().starts_with('{') => EditableField {
            argument: Some(name.to_owned()),
            ..field(StepPart::Arguments, text.to_owned())
        },
        _ => field(StepPart::Arguments, indented(params.unwrap_or(&Value::Map(Vec::new())))),
    };
    let (result, error) = match outcome(call) {
        Some(Outcome::Result(result)) => (indented(&result), String::new()),
        Some(Outcome::Error(error)) => (String::new(), indented(&error)),
        None => (String::new(), String::new()),
    };
    let mut fields = vec![arguments, field(StepPart::Result, result)];
    fields.push(field(StepPart::Error, error));
    if matches!(outcome(call), Some(Outcome::Error(_))) {
        fields.swap(1, 2);
    }
    fields
}

/// Returns text as it is, and other values as indented JSON.
fn indented(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Null => String::new(),
        other => json::write(other, true),
    }
}

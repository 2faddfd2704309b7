//! Labels of runs: their questions and schemas in `touchstone.yaml`, with the runs that have them.
mod label_values;
pub(crate) mod run_labels;

use crate::App;
use crate::error::{AppError, Code};
use crate::folder_id::roots_id;
use crate::paths::{self, WORKSPACE};
use label_values::RenamedReviews;
use std::path::Path;
use touchstone_api::{LabelAgreement, LabelEdit, LabelSchema, LabelUses, LabelView};
use touchstone_formats::workspace;
use touchstone_formats::workspace::label_edit::with_labels;
use touchstone_formats::workspace::labels::{Label, LabelKind, with_label, with_question};
use touchstone_model::error::ReadError;
use touchstone_runner::atomic_write;
use touchstone_store::filter::{Labels, with_renamed};

/// The actions on labels.
#[derive(Clone, Copy)]
pub struct LabelActions<'a> {
    pub(crate) app: &'a App,
}

impl LabelActions<'_> {
    /// Returns the labels of the workspace file, in its order, with the number of runs that have them.
    pub fn all(self) -> Result<Vec<LabelView>, AppError> {
        let open = self.app.require_folder()?;
        open.ask(|index| open.lists.label_views(index))
    }

    /// Returns the labels of the workspace file, in its order. Their runs are not counted, which may take
    /// a search of all transcripts.
    pub fn label_schemas(self) -> Result<Vec<LabelView>, AppError> {
        let open = self.app.require_folder()?;
        open.lists.use_labels(open.labels());
        Ok(open.lists.label_schemas())
    }

    /// Returns how far each two people agree on each category, over the runs that match a filter.
    pub fn label_agreements(self, filter: &str) -> Result<Vec<LabelAgreement>, AppError> {
        self.app.runs().check_filter_of_folder(filter)?;
        let open = self.app.require_folder()?;
        open.ask(|index| open.lists.label_agreements(index, filter))
    }

    /// Saves a filter as a label in the workspace file. Fails if the filter cannot be read, the name is
    /// taken, or another folder is open.
    pub fn save_label(
        self,
        folder: Option<&str>,
        name: &str,
        question: &str,
    ) -> Result<(), AppError> {
        let (name, question) = (name.trim(), question.trim());
        self.change_workspace(folder, |text| {
            self.app.runs().check_filter_of_folder(question)?;
            let new = with_question(text, name, question).map_err(|error| unchanged(&error))?;
            refuse_mistake(&new, name)?;
            Ok(new)
        })
    }

    /// Adds a label that people give to the workspace file. Fails if the name is taken, the values are not
    /// of use, or another folder is open.
    pub fn add_label(
        self,
        folder: Option<&str>,
        name: &str,
        schema: &LabelSchema,
    ) -> Result<(), AppError> {
        let edit = LabelEdit {
            name: name.trim().to_owned(),
            question: None,
            schema: Some(schema.clone()),
        };
        let kind = match schema {
            LabelSchema::Category { .. } => LabelKind::Category(Vec::new()),
            LabelSchema::Number { .. } => LabelKind::Number { min: None, max: None },
            LabelSchema::Text => LabelKind::Text,
        };
        let kind = changed_kind(&kind, &edit)?;
        self.change_workspace(folder, |text| {
            with_label(text, &edit.name, &kind).map_err(|error| unchanged(&error))
        })
    }

    /// Returns what a change of a label concerns. Counting its runs may take a search of all transcripts.
    pub fn label_uses(self, name: &str) -> Result<LabelUses, AppError> {
        let open = self.app.require_folder()?;
        let text = workspace_text(&open.flow.roots.folder)?;
        let file = workspace::read(&text).map_err(|error| unchanged(&error))?;
        let views = file.views.iter();
        let views = views.filter(|view| with_renamed(&view.filter, name, name).is_some());
        Ok(LabelUses {
            runs: open.ask(|index| open.lists.label_count(index, name))?,
            labels: users(&file.labels, name),
            views: views.map(|view| view.name.clone()).collect(),
        })
    }

    /// Changes the name, and the question or the values of a label in the workspace file. Questions of
    /// other labels and the values that people gave in their reviews follow its name. If a file cannot
    /// be written, all get their former name back.
    pub fn change_label(
        self,
        folder: Option<&str>,
        name: &str,
        edit: &LabelEdit,
    ) -> Result<(), AppError> {
        let new_name = edit.name.trim();
        let mut renamed = None;
        let done = self.change_workspace(folder, |text| {
            let mut labels = labels_of(text)?;
            let label = find(&mut labels, name)?;
            let kind = changed_kind(&label.kind, edit)?;
            self.refuse_lost_values(name, (&label.kind, &kind))?;
            label.kind = kind;
            new_name.clone_into(&mut label.name);
            let is_given = !matches!(label.kind, LabelKind::Question(_));
            if new_name != name {
                follow_name(&mut labels, name, new_name);
            }
            let new = with_labels(text, &labels, Some((name, new_name)))
                .map_err(|error| unchanged(&error))?;
            refuse_mistake(&new, new_name)?;
            if is_given && new_name != name {
                renamed = Some(RenamedReviews::rename(self.app, name, new_name)?);
            }
            Ok(new)
        });
        match (done, renamed) {
            (Err(error), Some(renamed)) => {
                renamed.take_back();
                Err(error)
            }
            (done, _) => done,
        }
    }

    /// Removes a label from the workspace file. Values that people gave stay in their reviews. Fails while
    /// the question of another label asks for it.
    pub fn remove_label(self, folder: Option<&str>, name: &str) -> Result<(), AppError> {
        self.change_workspace(folder, |text| {
            let mut labels = labels_of(text)?;
            find(&mut labels, name)?;
            if let Some(user) = users(&labels, name).first() {
                let message = format!("The label was not removed: `{user}` asks for it.");
                let hint = format!("Change or remove `{user}` first.");
                return Err(AppError::new(Code::BadRequest, message).hint(&hint));
            }
            labels.retain(|label| label.name != name);
            with_labels(text, &labels, None).map_err(|error| unchanged(&error))
        })
    }

    /// Fails if a category loses values that people gave.
    fn refuse_lost_values(
        self,
        name: &str,
        (old, new): (&LabelKind, &LabelKind),
    ) -> Result<(), AppError> {
        let (LabelKind::Category(old), LabelKind::Category(new)) = (old, new) else {
            return Ok(());
        };
        let lost: Vec<&String> = old.iter().filter(|value| !new.contains(value)).collect();
        if lost.is_empty() {
            return Ok(());
        }
        let open = self.app.require_folder()?;
        let (_, given) = open.ask(|index| open.lists.label_values_kept(index, name))?;
        let Some(value) = lost.into_iter().find(|value| given.contains(*value)) else {
            return Ok(());
        };
        let message = format!("The label keeps its value {value}: reviews give it.");
        Err(AppError::new(Code::BadRequest, message)
            .hint("Give these runs another value first, or keep the value."))
    }

    /// Replaces the workspace file by what `change` makes of its text. Fails if another folder is open.
    fn change_workspace(
        self,
        folder: Option<&str>,
        change: impl FnOnce(&str) -> Result<String, AppError>,
    ) -> Result<(), AppError> {
        let open = self.app.require_folder()?;
        open.check_writable()?;
        let dir = &open.flow.roots.folder;
        if folder.is_some_and(|folder| folder != roots_id(&open.flow.roots)) {
            let message = "The label was not saved: another folder is open now.";
            return Err(AppError::new(Code::Gone, message).hint("Open the folder again."));
        }
        let new = change(&workspace_text(dir)?)?;
        atomic_write::replace(dir, WORKSPACE, new.as_bytes()).map_err(|error| {
            AppError::new(Code::Failed, format!("touchstone.yaml could not be written: {error}"))
        })
    }
}

fn workspace_text(dir: &Path) -> Result<String, AppError> {
    let text = paths::workspace_text(dir).transpose().map_err(|error| unchanged(&error))?;
    Ok(text.unwrap_or_default())
}

fn labels_of(text: &str) -> Result<Vec<Label>, AppError> {
    Ok(workspace::read(text).map_err(|error| unchanged(&error))?.labels)
}

fn find<'a>(labels: &'a mut [Label], name: &str) -> Result<&'a mut Label, AppError> {
    labels.iter_mut().find(|label| label.name == name).ok_or_else(|| {
        let message = format!("There is no label `{name}` in touchstone.yaml any more.");
        AppError::new(Code::NotFound, message).hint("Look at the labels again.")
    })
}

/// Returns the labels whose question asks for a label.
fn users(labels: &[Label], name: &str) -> Vec<String> {
    let asks = |label: &&Label| match &label.kind {
        LabelKind::Question(question) => with_renamed(question, name, name).is_some(),
        _ => false,
    };
    let others = labels.iter().filter(|label| label.name != name).filter(asks);
    others.map(|label| label.name.clone()).collect()
}

/// Lets the questions of all labels ask for a label by its new name.
fn follow_name(labels: &mut [Label], old: &str, new: &str) {
    for label in labels {
        if let LabelKind::Question(question) = &mut label.kind
            && let Some(renamed) = with_renamed(question, old, new)
        {
            *question = renamed;
        }
    }
}

/// Returns what a label becomes. Fails for another kind: values of people would lose their meaning.
fn changed_kind(old: &LabelKind, edit: &LabelEdit) -> Result<LabelKind, AppError> {
    let bad = |message: &str| Err(AppError::new(Code::BadRequest, message));
    match (old, &edit.question, &edit.schema) {
        (LabelKind::Question(_), Some(question), None) => {
            let question = question.trim();
            if question.is_empty() || question.contains(char::is_control) {
                return bad("The question of a label has to be a filter on one line.");
            }
            Ok(LabelKind::Question(question.to_owned()))
        }
        (LabelKind::Category(_), None, Some(LabelSchema::Category { values })) => {
            let values: Vec<String> = values.iter().map(|value| value.trim().to_owned()).collect();
            if values.is_empty() {
                return bad("A category needs at least one value.");
            }
            Ok(LabelKind::Category(values))
        }
        (LabelKind::Number { .. }, None, Some(LabelSchema::Number { min, max })) => {
            let is_finite = [min, max].into_iter().flatten().all(|bound| bound.is_finite());
            if !is_finite || min.zip(*max).is_some_and(|(min, max)| min > max) {
                return bad("The least value has to be a number that is not above the greatest.");
            }
            Ok(LabelKind::Number { min: *min, max: *max })
        }
        (LabelKind::Text, None, Some(LabelSchema::Text)) => Ok(LabelKind::Text),
        _ => bad("A label keeps its kind. Add a label with another name instead."),
    }
}

/// Fails if a label has a mistake together with the others of its file.
fn refuse_mistake(text: &str, name: &str) -> Result<(), AppError> {
    match Labels::new(&labels_of(text)?).rule(name).and_then(|rule| rule.error.clone()) {
        Some(error) => Err(AppError::new(Code::BadRequest, error)),
        None => Ok(()),
    }
}

fn unchanged(error: &ReadError) -> AppError {
    let line = error.line.map(|line| format!("line {line}: ")).unwrap_or_default();
    let message = format!("The label was not saved: {line}{}", error.message);
    let advice = error.advice.clone().unwrap_or_else(|| "Correct it, and try again.".to_owned());
    AppError::new(Code::BadRequest, message).hint(&advice)
}

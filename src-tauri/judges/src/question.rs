//! **Pure.** The question that a judge or an evaluator asks a model.

/// A question to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// System message.
    pub instructions: String,
    /// User message.
    pub text: String,
    /// A previous unreadable reply, and the message that follows it.
    pub unread: Option<(String, &'static str)>,
    /// True when the model is asked as a reasoning model, regardless of its own settings.
    pub reasoning: bool,
}

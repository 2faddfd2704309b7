//! **Pure.** `PromptQL` replies: actions with programs, and the artifacts they stored. Transcripts
//! have them under `output:`, benchmark folders as single interactions.
use super::conversation::facts;
use super::sink::{Head, Role, Sink};
use touchstone_model::node::{Node, Shape};
use touchstone_model::run::StepKind;

/// Walks over a whole file.
pub(crate) fn walk_file<'t, N: Node<'t>>(root: N, sink: &mut impl Sink<'t>) {
    let mut turn = 0;
    if let Some(output) = root.get_non_null("output") {
        match (output.get("interactions"), output.shape()) {
            (Some(interactions), _) if interactions.shape() == Shape::List => {
                interactions.items().for_each(|interaction| walk(interaction, &mut turn, sink));
            }
            (_, Shape::List) => {
                output.items().for_each(|interaction| walk(interaction, &mut turn, sink));
            }
            (_, Shape::Map) => walk(output, &mut turn, sink),
            _ => sink.fact("output", output),
        }
        for (key, value) in output.entries() {
            if let Some(word) = key.word().filter(|word| !is_step(word)) {
                sink.fact(&format!("output.{word}"), value);
            }
        }
    }
    if let Some(error) = root.get_non_null("error") {
        sink.step(Head { kind: StepKind::Error, turn: turn.max(1), ..Head::default() });
        sink.part("error", Role::Other, error);
    }
    facts(root, &["output", "answer", "error"], sink);
    if let Some(answer) = root.get("answer") {
        sink.answer(answer, "answer");
    }
}

fn is_step(key: &str) -> bool {
    matches!(key, "interactions" | "user_message" | "assistant_actions" | "modified_artifacts")
}

/// Walks over one interaction: the user message, if recorded, the actions, and the stored
/// artifacts.
pub(crate) fn walk<'t, N: Node<'t>>(interaction: N, turn: &mut u32, sink: &mut impl Sink<'t>) {
    if let Some(message) = interaction.get_non_null("user_message") {
        *turn += 1;
        sink.step(Head { kind: StepKind::User, turn: *turn, nudge: *turn > 1, ..Head::default() });
        sink.part("message", Role::Message, message.get("text").unwrap_or(message));
    }
    for action in interaction.get("assistant_actions").into_iter().flat_map(N::items) {
        *turn += 1;
        self::action(action, *turn, sink);
    }
    for artifact in interaction.get("modified_artifacts").into_iter().flat_map(N::items) {
        self::artifact(artifact, (*turn).max(1), sink);
    }
}

fn action<'t, N: Node<'t>>(action: N, turn: u32, sink: &mut impl Sink<'t>) {
    if let Some(message) = action.get_non_null("message") {
        sink.step(Head { kind: StepKind::Assistant, turn, ..Head::default() });
        sink.part("message", Role::Message, message);
    }
    let program = |key: &str| matches!(key, "plan" | "code" | "code_output" | "code_error");
    let mut parts = action
        .entries()
        .filter(|(key, value)| key.text().is_some_and(program) && !value.is_null())
        .peekable();
    if parts.peek().is_none() {
        return;
    }
    let failed = match (
        action.get_non_null("code_error"),
        action.get_non_null("code_output"),
        action.get_non_null("code"),
    ) {
        (Some(_), ..) => Some(true),
        (None, Some(_), _) => Some(false),
        _ => None,
    };
    sink.step(Head { kind: StepKind::Program, turn, failed, ..Head::default() });
    for (label, role, key) in [
        ("plan", Role::Message, "plan"),
        ("code", Role::Code, "code"),
        ("output", Role::Other, "code_output"),
        ("error", Role::Other, "code_error"),
    ] {
        if let Some(value) = action.get_non_null(key) {
            sink.part(label, role, value);
        }
    }
}

fn artifact<'t, N: Node<'t>>(artifact: N, turn: u32, sink: &mut impl Sink<'t>) {
    let word = |key| artifact.get(key).and_then(N::word);
    let title = word("identifier").or_else(|| word("title"));
    sink.step(Head { kind: StepKind::Artifact, turn, title, ..Head::default() });
    for (key, value) in artifact.entries() {
        match key.word().unwrap_or_default() {
            "identifier" => {}
            "data" => sink.part("data", Role::Result, value),
            word => sink.part(word, Role::Other, value),
        }
    }
}

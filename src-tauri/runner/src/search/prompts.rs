//! **Pure.** Prompts for models in a search.
use super::{Kind, Node};
use touchstone_model::json;

/// Instructions that precede every system prompt.
pub const SYSTEM: &str = "\
You carry out what a person asks for by calling functions. Work in small steps: say in one or two sentences what you know and what \
you need next, call a function, read what it returns. A function may really change something, and nothing can be undone. When a \
call fails, think about why and mend it or take another function. When you know enough, call `Finish` with \
`return_type: give_answer` and the whole answer; the person sees nothing but that. When this way leads nowhere, call `Finish` with \
`return_type: give_up_and_restart`. Every piece of work ends with `Finish`.

The time is {now}.";

/// Added if there are too many functions to list.
pub const MANY: &str = "\n\nThere are {count} functions, too many to be listed. Find the ones you need with `search_apis` and \
call them with `call_api`, by exactly the name you found.";

/// Message after a reply without a call.
pub(super) const GO_ON: &str = "Go on: call the next function, or `Finish`.";

/// Maximum number of bytes of earlier attempts to repeat to the model.
const MOST: usize = 8_000;

/// Returns the message for a node where other branches were tried already.
pub(super) fn another(tried: &[&Node]) -> String {
    let mut text =
        "You were at this point before, and what you did next led to no answer:\n".to_owned();
    for node in tried {
        let Kind::Call(call) = &node.kind else { continue };
        let returned = call
            .outcome
            .as_ref()
            .map(super::super::conversation::Outcome::to_model_text)
            .unwrap_or_default();
        let params = json::write(&call.params, false);
        text.extend(["\n- ", &call.name, " with ", &params, " returned: ", &returned]);
    }
    if text.len() > MOST {
        text.truncate(text.floor_char_boundary(MOST));
        text.push('…');
    }
    text + "\n\nDo something else now: another function, other arguments, or `Finish` when nothing else is left."
}

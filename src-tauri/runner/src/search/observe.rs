//! **Pure.** API responses as the model sees them, and the status of calls.

/// Status of a call, with the numbers of the original.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code(pub u8);

impl Code {
    /// Success.
    pub const FINE: Self = Self(0);
    /// Unknown function.
    pub const UNKNOWN: Self = Self(1);
    /// A `Finish` call that could not be used.
    pub const UNUSABLE: Self = Self(2);
    /// A `Finish` call with an answer.
    pub const ANSWERED: Self = Self(3);
    /// A `Finish` call that gives up.
    pub const GAVE_UP: Self = Self(4);
    /// No response in time.
    pub const TIMED_OUT: Self = Self(5);
    /// Invalid response.
    pub const INVALID: Self = Self(12);

    /// Returns a short description of the error; `None` on success.
    pub fn error_label(self) -> Option<&'static str> {
        Some(match self.0 {
            1 => "Unknown function",
            2 => "Finish without an answer",
            4 => "Gave up",
            5 => "Timed out",
            6 => "The API does not work",
            7 => "Not authorized",
            8 => "Not subscribed",
            9 => "Too many requests",
            10 => "Too many requests a minute",
            11 => "Refused by the API",
            12 => "Invalid reply",
            _ => return None,
        })
    }

    /// Returns the status for the `error` field of a response.
    pub fn of_error(error: &str) -> Self {
        Self(match error {
            "Timeout error..." => 5,
            "API not working error..." => 6,
            "Unauthorized error..." => 7,
            "Unsubscribed error..." => 8,
            "Too many requests error..." => 9,
            "Rate limit per minute error..." => 10,
            "Message error..." => 11,
            error if error.starts_with("request invalid, data error") => 12,
            _ => 0,
        })
    }

    /// Returns the status for the text that the model sees, which may be cut.
    pub fn of_text(text: &str) -> Self {
        let error = text.strip_prefix("{\"error\": \"").and_then(|rest| rest.split_once('"'));
        error.map_or(Self::FINE, |(error, _)| Self::of_error(error))
    }
}

/// Cuts a response for the model after `most` characters.
pub fn cut(mut reply: String, most: usize) -> String {
    if let Some((end, _)) = reply.char_indices().nth(most) {
        reply.truncate(end);
        reply.push_str("...");
    }
    reply
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_cut_only_when_it_is_longer() {
        let text = |most| cut("\"abc\"".to_owned(), most);
        assert_eq!((text(5).as_str(), text(4).as_str()), ("\"abc\"", "\"abc..."));
    }

    #[test]
    fn how_a_call_ended_is_read_out_of_what_is_shown() {
        for (text, code) in [
            (r#"{"error": "Unauthorized error...", "response": ""}"#, 7),
            (r#"{"error": "Timeout error...", "respo..."#, 5),
            (r#"{"error": "", "response": "Unauthorized error..."}"#, 0),
            ("", 0),
        ] {
            assert_eq!(Code::of_text(text), Code(code), "{text}");
        }
    }
}

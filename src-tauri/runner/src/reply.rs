//! **Pure.** Transcript of a `PromptQL` run: the complete API response, and the answer extracted
//! from it.
use super::script::{self, Facts};
use touchstone_formats::transcript::Document;
use touchstone_model::value::Value;

/// `PromptQL` transcript under construction.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplyFile {
    document: Document,
}

impl Default for ReplyFile {
    fn default() -> Self {
        Self { document: Document::reply() }
    }
}

impl From<Document> for ReplyFile {
    fn from(document: Document) -> Self {
        Self { document }
    }
}

impl ReplyFile {
    /// Stores the API response, and as the answer the `data` of the last artifact with the given
    /// name. Without such an artifact there is no answer.
    pub fn answered(&mut self, output: &Value, artifact: Option<&str>) {
        self.document.remove("error");
        self.document.set("output", script::fit_parts(output));
        let answer = artifact.and_then(|name| last_artifact(output, name));
        self.document.set_answer(answer.map(script::fit_parts));
    }

    /// Stores an error, with the API response if there was one.
    pub fn failed(&mut self, error: &Value, output: Option<&Value>) {
        match output {
            Some(output) => self.document.set("output", script::fit_parts(output)),
            None => self.document.remove("output"),
        }
        self.document.set("error", script::fit(error));
        self.document.set_answer(None);
    }

    /// Returns the recorded facts about the run.
    pub fn facts(&self) -> Facts {
        script::facts_of(&self.document)
    }

    /// Updates the recorded facts; fields that are `None` stay unchanged.
    pub fn set_facts(&mut self, facts: &Facts) {
        script::set_facts(&mut self.document, facts);
    }

    /// Returns true if there is an answer.
    pub fn has_answer(&self) -> bool {
        self.document.get("answer").is_some()
    }

    /// Returns the text of the file.
    pub fn write(&self) -> String {
        self.document.write()
    }
}

/// Returns the `data` of the last artifact with a name, in one reply or in a list of interactions.
/// Identifiers may repeat; the last one counts.
pub(super) fn last_artifact<'v>(output: &'v Value, name: &str) -> Option<&'v Value> {
    let interactions = output.get("interactions").map_or(&[][..], Value::items);
    let mut replies = output.items().iter().chain(interactions).chain([output]).rev();
    let is_named =
        |artifact: &&Value| artifact.get("identifier").and_then(Value::text) == Some(name);
    let artifact = replies
        .find_map(|reply| reply.get("modified_artifacts")?.items().iter().rev().find(is_named))?;
    artifact.get("data").filter(|value| **value != Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;
    use touchstone_formats::transcript::outline_of;
    use touchstone_model::json;
    use touchstone_model::run::RecordedState;

    #[test]
    fn the_last_artifact_of_the_name_is_the_answer() {
        for (output, answer) in [
            (
                r#"{"modified_artifacts":[{"identifier":"a","data":[1]},{"identifier":"b","data":2},{"identifier":"a","data":[3]}]}"#,
                Some("[3]"),
            ),
            (
                r#"{"interactions":[{"modified_artifacts":[{"identifier":"a","data":"x"}]}]}"#,
                Some("\"x\""),
            ),
            (
                r#"[{"modified_artifacts":[{"identifier":"a","data":1}]},{"modified_artifacts":[{"identifier":"a","data":2}]}]"#,
                Some("2"),
            ),
            (r#"{"modified_artifacts":[{"identifier":"b","data":2}]}"#, None),
            (r#"{"modified_artifacts":[{"identifier":"a","data":null}]}"#, None),
            (r"{}", None),
        ] {
            let mut file = ReplyFile::default();
            file.failed(&"before".into(), None);
            file.answered(&json::read(output).unwrap(), Some("a"));
            let answer = answer.map(|answer| json::read(answer).unwrap());
            let document =
                Document::read(format!("{}run: {{}}\n", file.write()).as_bytes()).unwrap();
            assert_eq!(document.get("answer"), answer.as_ref(), "{output}");
            assert_eq!(file.has_answer(), answer.is_some());
        }
    }

    #[test]
    fn a_reply_that_is_too_large_for_a_file_keeps_its_shape_and_its_answer() {
        let rows = |count: usize| format!("[{}]", vec!["[1,2]"; count].join(","));
        for (count, is_text) in [(30_000, false), (200_000, true)] {
            let output = format!(
                r#"{{"thread_id":"t","modified_artifacts":[{{"identifier":"a","data":{}}}]}}"#,
                rows(count)
            );
            let mut file = ReplyFile::default();
            file.answered(&json::read(&output).unwrap(), Some("a"));
            let read = Document::read(file.write().as_bytes()).unwrap();
            let answer = read.get("answer").unwrap();
            assert_eq!(answer.text().map(str::to_owned), is_text.then(|| rows(count)));
            let output = read.get("output").unwrap();
            assert_eq!(output.get("thread_id"), Some(&"t".into()));
            assert_eq!(last_artifact(output, "a"), Some(answer));
        }
    }

    #[test]
    fn a_failure_is_a_file_with_an_error_and_no_answer() {
        let mut file = ReplyFile::default();
        file.answered(
            &json::read(r#"{"modified_artifacts":[{"identifier":"a","data":2}]}"#).unwrap(),
            Some("a"),
        );
        file.failed(&json::read(r#"{"status":503,"body":"busy"}"#).unwrap(), None);
        file.set_facts(&Facts { model: Some("o1".into()), cost: Some(0.25), ..Facts::default() });
        insta::assert_snapshot!(file.write(), @r"
        error:
          status: 503
          body: busy
        run:
          model: o1
          cost: 0.25
        ");
        let run = Document::read(file.write().as_bytes()).unwrap().run().unwrap();
        assert_eq!(outline_of(&run).standing, RecordedState::Error);
        assert_eq!(file.facts().cost, Some(0.25));
    }
}

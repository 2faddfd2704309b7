//! **Pure.** The evaluators that there are, and one of them as somebody configured it.
use super::Inputs;
use touchstone_formats::value::Value;

/// What a kind of evaluator is and takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Takes {
    /// As it is written: `task_adherence`. The id on export is `azureai://built-in/evaluators/` and this.
    pub name: &'static str,
    /// What it says, as a sentence.
    pub what: &'static str,
    /// Names of inputs that it needs, and those it may have.
    pub needs: &'static [&'static str],
    /// Names of inputs that it may have.
    pub may_have: &'static [&'static str],
    /// A model is asked.
    pub model: bool,
    /// A program is run in the sandbox.
    pub program: bool,
}

/// All kinds.
pub fn all() -> &'static [Takes] {
    &[]
}

/// An evaluator as it was configured: its name in results, its kind and its options.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluator {
    /// As results name it: `outputs.<name>.<key>`.
    pub name: String,
    /// Its kind.
    pub takes: Takes,
}

impl Evaluator {
    /// Of a name and options: `{kind?: "f1_score", threshold?: 4, …}`; the kind is the name unless it is told. The error is a sentence.
    pub fn read(name: &str, options: &Value) -> Result<Self, String> {
        let kind = options.get("kind").and_then(Value::text).unwrap_or(name);
        let takes = all().iter().find(|takes| takes.name == kind);
        let takes = takes.ok_or_else(|| format!("There is no evaluator named `{kind}`."))?;
        Ok(Self { name: name.to_owned(), takes: *takes })
    }

    /// What of a row it is given: what it does not take is left out.
    pub fn filtered(&self, inputs: &Inputs) -> Inputs {
        let Takes { needs, may_have, .. } = self.takes;
        let known = |name: &str| needs.iter().chain(may_have).any(|taken| *taken == name);
        Inputs(inputs.0.iter().filter(|(name, _)| known(name)).cloned().collect())
    }
}

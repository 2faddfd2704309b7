//! **Pure.** Where we differ from the package on purpose, each difference with the name of the switch that brings its way back.

/// A way of the package that is a mistake, by the name of its switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quirk {
    /// As it is written on the command line and in files: `hidden_tool_definitions`.
    pub name: &'static str,
    /// What the package does, as a sentence.
    pub theirs: &'static str,
    /// What we do, as a sentence.
    pub ours: &'static str,
}

/// The switches that are on. None is our way.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Quirks {
    on: Vec<&'static str>,
}

/// All switches.
pub const QUIRKS: [Quirk; 0] = [];

impl Quirks {
    /// The way of the package in everything, except what is never done (roles made of text, local files read).
    pub fn all() -> Self {
        Self { on: QUIRKS.iter().map(|quirk| quirk.name).collect() }
    }

    /// Of names; `all` is every one. The error is a sentence.
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut on = Vec::new();
        for name in names {
            if name == "all" {
                return Ok(Self::all());
            }
            let known = QUIRKS.iter().find(|quirk| quirk.name == name);
            on.push(known.ok_or_else(|| format!("There is no switch named `{name}`."))?.name);
        }
        Ok(Self { on })
    }

    /// Whether a switch is on.
    pub fn has(&self, name: &str) -> bool {
        self.on.contains(&name)
    }
}

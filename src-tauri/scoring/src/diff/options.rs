//! **Pure.** What counts as a difference, and how long to look for one.

/// How two values are compared. The default finds every difference of value, takes moved rows as
/// moved, and looks for as long as a person waits.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Fields that tell which row is which. None: they are found, see [`super::Alignment`].
    pub key: Option<Vec<String>>,
    /// Fields whose numbers are what is compared, so that they tell no row from another.
    pub measured: Measured,
    /// Numbers that are this near count as equal.
    pub tolerance: Option<Tolerance>,
    /// True when it does not matter in which order rows stand.
    pub ignore_order: bool,
    /// True when rows find each other by what they hold alone: where a row stands says nothing
    /// about which it is.
    pub places_say_nothing: bool,
    /// Fields that are shown and never count, at any depth.
    pub ignore: Vec<String>,
    /// What a field means that nobody expected.
    pub extra_fields: ExtraFields,
    /// What the same day means that is written otherwise.
    pub dates: Dates,
    /// True when the first value is nothing that was expected, only another one: nothing is right
    /// or wrong then.
    pub between: bool,
    /// Steps of work after which the rest is compared coarsely. A step takes some nanoseconds.
    pub budget: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            key: None,
            measured: Measured::default(),
            tolerance: None,
            ignore_order: false,
            places_say_nothing: false,
            ignore: Vec::new(),
            extra_fields: ExtraFields::default(),
            dates: Dates::default(),
            between: false,
            budget: 60_000_000,
        }
    }
}

/// Numbers that a row cannot be found by unless its key is named, because they may be what is wrong
/// in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Measured {
    /// None: any whole numbers may tell which row is which.
    #[default]
    Nothing,
    /// Those of these fields.
    Fields(Vec<String>),
    /// The last field that has a number in any row: it is what the rows are about, and a year
    /// before it may name one.
    Numbers,
}

/// How far a number may be off. Either limit is enough when both are given.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tolerance {
    /// In the unit of the number.
    pub absolute: Option<f64>,
    /// As a share of the expected number: `0.01` is one percent.
    pub relative: Option<f64>,
}

/// What a field means that nobody expected, in an object that was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExtraFields {
    /// It is a difference.
    #[default]
    Wrong,
    /// It is shown, and counts for nothing.
    Allowed,
}

/// What the same date means that is written otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dates {
    /// The same value, in another notation.
    #[default]
    ByMeaning,
    /// A changed text. What it means is still said.
    AsWritten,
}

//! **Pure.** Comparison options: rules for differences, and the work budget.

/// Comparison options. By default every difference in value is found, moved rows count as moved,
/// and the work budget is about as long as a user is willing to wait.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Fields that identify rows. `None` infers them, see [`super::Alignment`].
    pub key: Option<Vec<String>>,
    /// Fields whose numbers are compared and therefore never identify a row.
    pub measured: Measured,
    /// Tolerance within which numbers count as equal.
    pub tolerance: Option<Tolerance>,
    /// True if the order of rows does not matter.
    pub ignore_order: bool,
    /// True if rows are paired only by their contents, never by position.
    pub places_say_nothing: bool,
    /// Fields that are shown but never count, at any depth.
    pub ignore: Vec<String>,
    /// Treatment of fields that were not expected.
    pub extra_fields: ExtraFields,
    /// Treatment of equal dates in different notation.
    pub dates: Dates,
    /// True if the first value is merely another actual value, not an expected one: then nothing is
    /// right or wrong.
    pub between: bool,
    /// Work steps after which the rest is compared coarsely. A step takes some nanoseconds.
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

/// Numeric fields that identify no row unless they are named as the key, because their values may
/// be wrong.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Measured {
    /// None: any whole number may identify a row.
    #[default]
    Nothing,
    /// Numbers in these fields.
    Fields(Vec<String>),
    /// The last field that has a number in any row: it is the measured value, whereas an earlier
    /// number such as a year may identify a row.
    Numbers,
}

/// Maximum deviation of a number. If both limits are set, either is enough.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tolerance {
    /// Absolute deviation, in the unit of the number.
    pub absolute: Option<f64>,
    /// Deviation as a share of the expected number: `0.01` is one percent.
    pub relative: Option<f64>,
}

/// Treatment of an unexpected field in an expected object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ExtraFields {
    /// Counts as a difference.
    #[default]
    Wrong,
    /// Shown, but does not count.
    Allowed,
}

/// Treatment of equal dates in different notation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dates {
    /// Equal.
    #[default]
    ByMeaning,
    /// Different texts; the remark still says that the dates are equal.
    AsWritten,
}

//! Sensitive runs: which they are, and leaving out their texts.
mod quote_care;
pub(crate) mod scan_care;
pub(crate) mod sensitive_marks;
mod view_care;

pub use quote_care::QuoteCare;
pub use scan_care::LEFT_OUT;
pub use view_care::leave_out_judged;

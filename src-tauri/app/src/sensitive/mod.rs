//! Sensitive runs: which they are, and leaving out their texts.
mod quote_care;
pub(crate) mod scan_care;
pub(crate) mod sensitive_marks;
mod view_care;

use crate::App;

pub use quote_care::QuoteCare;
pub use scan_care::LEFT_OUT;
pub use view_care::leave_out_judged;

/// The actions on sensitive runs.
#[derive(Clone, Copy)]
pub struct SensitiveActions<'a> {
    pub(crate) app: &'a App,
}

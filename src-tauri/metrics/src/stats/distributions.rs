//! **Pure.** Quantiles and tails of the normal distribution and of Student's distribution.
use special::{Beta as _, Error as _};
use std::f64::consts::SQRT_2;

/// Returns the number of standard deviations around the mean that contain this share of a normal
/// distribution.
pub(super) fn normal_middle(share: f64) -> f64 {
    SQRT_2 * share.inv_error()
}

/// Returns the share of a normal distribution above a point; accurate in the far tail too.
pub(super) fn normal_above(point: f64) -> f64 {
    0.5 * (point / SQRT_2).compl_error()
}

/// Returns the point above which this share of Student's distribution lies, for shares up to 0.5.
pub(super) fn student_above(share: f64, freedom: f64) -> f64 {
    let half = freedom / 2.0;
    let inner = (2.0 * share).inv_inc_beta(half, 0.5, half.ln_beta(0.5));
    (freedom * (1.0 - inner) / inner).sqrt()
}

//! Events of the application.
mod event_bus;

pub use event_bus::Subscription;
pub(crate) use event_bus::{EventBus, EventSender};

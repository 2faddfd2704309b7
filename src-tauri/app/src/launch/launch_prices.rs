//! The prices of a launch: what is unknown, and whether a budget binds.
use crate::OpenFolder;
use crate::jobs::spend_limit::Prices;
use std::collections::BTreeSet;
use touchstone_formats::system::{System, ToolKind};
use touchstone_runner::plan::{Plan, Planned};
use touchstone_runner::setup::{MOST_AT_ONCE, Setup, ToolEntry};
use touchstone_runner::spec::{Model, Provider};
use touchstone_runner::tools::virtual_api::{Order, VirtualSettings};

/// Returns the share of one part, at least one and at most what one machine makes.
pub(super) fn parts_share(concurrency: u32, shards: u32) -> u32 {
    (concurrency / shards).clamp(1, MOST_AT_ONCE)
}

/// Returns the virtual API tools that may have to simulate an API, each with its simulator model.
pub(super) fn simulators<'s>(
    open: &'s OpenFolder,
    setup: &'s Setup,
) -> impl Iterator<Item = (&'s ToolEntry, &'s Model)> {
    let simulator = |tool: &ToolEntry| {
        let read = VirtualSettings::read(&tool.name, &tool.settings, &open.flow.roots.folder, &[]);
        setup.model(&read.ok().filter(|settings| settings.order != Order::Real)?.simulator?)
    };
    let virtual_apis = setup.tools.iter().filter(|tool| tool.kind == ToolKind::Virtual);
    virtual_apis.filter_map(move |tool| Some((tool, simulator(tool)?)))
}

/// Collects the unknown prices of the planned runs: of their models and of the simulators of their
/// tools.
pub(super) fn prices(open: &OpenFolder, setup: &Setup, plan: &Plan) -> Prices {
    let model = |planned: &Planned| {
        setup.model(&planned.slot.at.model).filter(|model| model.provider != Provider::Replay)
    };
    let (of_promptql, talks): (Vec<&Planned>, Vec<&Planned>) =
        plan.owed.iter().partition(|planned| planned.slot.at.system == System::PromptQl);
    let uses = |tool: &ToolEntry| {
        let named = |planned: &&Planned| {
            planned.slot.task.tools.as_ref().is_none_or(|tools| tools.contains(&tool.name))
        };
        talks.iter().any(named)
    };
    let simulated = simulators(open, setup).filter(|(tool, _)| uses(tool)).map(|(_, model)| model);
    let mut prices =
        Prices::for_models(talks.iter().filter_map(|planned| model(planned)).chain(simulated));
    for name in user_models(setup, plan) {
        if setup.model(&name).is_some_and(|model| model.price.is_none()) {
            prices.add(format!("`{name}`"));
        }
    }
    if of_promptql.iter().any(|planned| model(planned).is_some()) {
        prices.add("PromptQL".to_owned());
    }
    prices
}

/// Returns the model that plays the simulated user of a planned run.
pub(super) fn user_model<'s>(setup: &'s Setup, planned: &'s Planned) -> Option<&'s str> {
    setup.user_model_for(planned.slot.user(), planned.slot.user_model.as_deref())
}

/// Returns the models that play the simulated users of the planned runs, without duplicates.
pub(super) fn user_models(setup: &Setup, plan: &Plan) -> Vec<String> {
    names(plan.owed.iter().filter_map(|planned| user_model(setup, planned)))
}

/// Returns names in order, without duplicates.
pub(super) fn names<'s>(names: impl Iterator<Item = &'s str>) -> Vec<String> {
    names.collect::<BTreeSet<&str>>().into_iter().map(str::to_owned).collect()
}

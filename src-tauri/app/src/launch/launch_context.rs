//! What the runs of a launch share: keys, tools, limits and virtual APIs.
use super::LaunchActions;
use crate::OpenFolder;
use crate::settings::keys::KnownSecrets;
use std::sync::Arc;
use touchstone_formats::stabletoolbench::{Pool, Query};
use touchstone_formats::system::{System, ToolKind};
use touchstone_runner::execute::{
    Account, Endpoints, Job, LaunchContext, SpendLimit, Toolbox, VirtualApiContext,
};
use touchstone_runner::launch::{RunEventSender, StopTokens};
use touchstone_runner::setup::Setup;
use touchstone_runner::tools::virtual_api::ApiEnvironment;

impl LaunchActions<'_> {
    /// Returns the context of virtual APIs, if there are any.
    fn virtual_api_context(
        self,
        open: &OpenFolder,
        setup: &Setup,
        known: &KnownSecrets,
        account: Account,
    ) -> Option<VirtualApiContext> {
        let apis = || setup.tools.iter().filter(|tool| tool.kind == ToolKind::Virtual);
        apis().next()?;
        let need_queries = apis().any(|tool| tool.settings.get("tools_folder").is_none());
        let tasks = open.flow.shelf.tasks();
        let queries: Vec<Query> = tasks
            .all()
            .filter(|_| need_queries)
            .filter_map(|task| Query::of_task(&task.suite))
            .collect();
        let keys = known.keys.clone();
        Some(VirtualApiContext {
            queries: Arc::new(Pool::of_queries(&queries)),
            wires: ApiEnvironment {
                client: self.app.inner.launches.client().clone(),
                limiters: self.app.inner.launches.limiters(),
                keys: Arc::new(move |name| keys.get(name).cloned()),
                redactor: known.redactor(),
                payer: Some(Arc::new(account)),
            },
        })
    }

    pub(crate) async fn launch_context(
        self,
        open: &OpenFolder,
        setup: Setup,
        jobs: &[Job],
        teller: RunEventSender,
    ) -> LaunchContext {
        let base = open.flow.roots.folder.clone();
        let known = self.app.settings().known_secrets(&setup);
        let redactor = known.redactor();
        let (purse, stops) =
            (Arc::new(SpendLimit::new(setup.rules.max_cost)), StopTokens::default());
        let with_python = jobs.iter().any(|job| job.slot.at.system == System::ToolCallingPython);
        let with_tools = jobs.iter().any(|job| job.slot.at.system != System::PromptQl);
        let cache = with_python.then_some(self.app.inner.config.cache_dir.as_path());
        let toolbox = if with_tools {
            let wanted = |name: &str| {
                let uses = |job: &Job| {
                    job.slot
                        .task
                        .tools
                        .as_ref()
                        .is_none_or(|tools| tools.iter().any(|tool| tool == name))
                };
                jobs.iter().any(|job| job.slot.at.system != System::PromptQl && uses(job))
            };
            let account =
                Account::new(Arc::clone(&purse), teller.clone(), stops.clone(), redactor.clone());
            let around = self.virtual_api_context(open, &setup, &known, account);
            Toolbox::open(&setup, &base, &known.secrets, wanted, cache, around.as_ref()).await
        } else {
            Toolbox::default()
        };
        LaunchContext {
            output_dir: open.flow.roots.output_dir.clone(),
            base,
            keys: known.keys,
            secrets: known.secrets,
            client: self.app.inner.launches.client().clone(),
            limiters: self.app.inner.launches.limiters(),
            redactor,
            toolbox,
            teller,
            stops,
            purse,
            doors: Endpoints::for_jobs(&setup, jobs),
            setup,
        }
    }
}

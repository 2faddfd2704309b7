//! Has a model name the causes of failures, when somebody asks for it. Replies are journaled, and names
//! are kept beside the results, so that nothing is paid for twice.
use super::cause_names::{self, CauseNames, INSTRUCTIONS, VERSION};
use super::{FailureActions, select};
use crate::OpenFolder;
use crate::error::{AppError, Code};
use crate::jobs::spend_limit::{Budget, Prices};
use crate::launch::buying::{ReplyFiles, Unfinished};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use touchstone_api::{
    FailureCluster, FailureMap, FailuresState, NameCausesPlan, NameCausesRequest, NamingView, Stale,
};
use touchstone_clock as clock;
use touchstone_runner::cause_names as names_file;
use touchstone_runner::conversation::Turn;
use touchstone_runner::execute::{LaunchContext, PromptError, PromptRequest};
use touchstone_runner::journal::Journal;
use touchstone_runner::setup::Setup;
use touchstone_runner::spec::{Model, Provider};

/// Name of the lock and the journal; no run can have it, because hidden files are never runs.
const HIDDEN: &str = ".cause-names";
/// Maximum number of causes in a request, the most frequent first.
const MOST: usize = 50;

/// Says how often the user asked for an end, and is told of progress.
type Watch<'a> = (&'a dyn Fn() -> u32, &'a dyn Fn(&NamingView));

/// Naming that is going on, or was the last.
#[derive(Debug, Default)]
pub(crate) struct Naming {
    /// How often it was asked to stop.
    stops: AtomicU32,
    view: Mutex<NamingView>,
}

/// A request resolved against the workspace.
struct Resolved {
    setup: Setup,
    model: Model,
    budget: Budget,
    /// Causes without a name by the model.
    clusters: Vec<FailureCluster>,
    /// Number of causes with one.
    named: u64,
}

impl Naming {
    /// Asks it to stop: the request in flight finishes.
    pub(super) fn stop(&self) {
        self.stops.fetch_add(1, Ordering::Relaxed);
    }

    fn view(&self) -> MutexGuard<'_, NamingView> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FailureActions<'_> {
    /// Returns what naming the causes would take. Sends nothing.
    pub fn plan_cause_names(self, request: &NameCausesRequest) -> Result<NameCausesPlan, AppError> {
        let Resolved { model, budget, clusters, named, .. } = self.resolve_names(request)?;
        let messages: Vec<String> = clusters.iter().map(cause_names::message).collect();
        let (input, output) = cause_names::estimate(&messages);
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let cost = model
            .price
            .map(|price| (input as f64 * price.input + output as f64 * price.output) / 1e6);
        Ok(NameCausesPlan {
            requests: clusters.len() as u64,
            named,
            tokens: input + output,
            cost: if clusters.is_empty() { Some(0.0) } else { cost },
            example: messages.into_iter().next(),
            unbound: budget.ineffective_note(&Prices::for_models([&model])),
        })
    }

    /// Has the model name the causes, and waits for it. `interrupts` returns how often the user asked for
    /// an end.
    pub fn name_causes(
        self,
        request: &NameCausesRequest,
        interrupts: &dyn Fn() -> u32,
        on_progress: &dyn Fn(&NamingView),
    ) -> Result<NamingView, AppError> {
        let open = self.app.require_folder()?;
        let mut resolved = self.resolve_names(request)?;
        let mut view = NamingView { all: resolved.clusters.len() as u64, ..NamingView::default() };
        view.cost = Some(0.0);
        if resolved.clusters.is_empty() {
            return Ok(view);
        }
        resolved.budget.check(&Prices::for_models([&resolved.model]))?;
        resolved.setup.rules.max_cost = resolved.budget.most();
        if let Some(why) =
            resolved.model.key.as_deref().and_then(|key| self.app.settings().no_key(key))
        {
            return Err(AppError::new(Code::BadRequest, why));
        }
        self.ask_for_names(&open, &resolved, (interrupts, on_progress), &mut view)?;
        Ok(view)
    }

    /// Has the model name the causes in the background. The map of failures has its progress.
    pub fn start_cause_names(self, request: &NameCausesRequest) -> Result<(), AppError> {
        let open = self.app.require_folder()?;
        self.resolve_names(request)?;
        let naming = Arc::new(Naming::default());
        *naming.view() = NamingView { is_running: true, cost: Some(0.0), ..NamingView::default() };
        {
            let mut last = open.failures.naming();
            if last.as_ref().is_some_and(|last| last.view().is_running) {
                return Err(failed("Causes are being named already.".to_owned())
                    .hint("Wait for it, or stop it."));
            }
            *last = Some(Arc::clone(&naming));
        }
        let (app, request, poster) =
            (self.app.clone(), request.clone(), self.app.inner.bulletin.sender());
        let at_work = Arc::clone(&naming);
        let work = move || {
            let stops = || at_work.stops.load(Ordering::Relaxed);
            let on_progress = |view: &NamingView| {
                *at_work.view() = NamingView { is_running: true, ..view.clone() };
                poster.post(Stale::Failures);
            };
            let done = catch_unwind(AssertUnwindSafe(|| {
                app.failures().name_causes(&request, &stops, &on_progress)
            }));
            let mut view = at_work.view();
            match done {
                Ok(Ok(done)) => *view = done,
                Ok(Err(error)) => view.why = Some(error.message),
                Err(_) => view.why = Some("Naming ended with an error of the program.".to_owned()),
            }
            view.is_running = false;
            drop(view);
            poster.post(Stale::Failures);
        };
        std::thread::Builder::new().name("causes".to_owned()).spawn(work).map(drop).map_err(|_| {
            *naming.view() = NamingView::default();
            failed("No thread is free to name the causes.".to_owned()).hint("Try again.")
        })
    }

    /// Stops naming: the request in flight finishes and is kept.
    pub fn stop_cause_names(self) -> Result<(), AppError> {
        if let Some(naming) = self.app.require_folder()?.failures.naming().as_ref() {
            naming.stop();
        }
        Ok(())
    }

    /// Puts the names of causes into a map, and whether more are being made.
    pub(super) fn put_names(self, map: &mut FailureMap) -> Result<(), AppError> {
        let open = self.app.require_folder()?;
        // Where the file cannot be read, the mined names are there.
        let names = names_of(&open).unwrap_or_default();
        for cluster in &mut map.clusters {
            cluster.named = names.latest(cluster);
        }
        map.naming = open.failures.naming().as_ref().map(|naming| naming.view().clone());
        Ok(())
    }

    fn resolve_names(self, request: &NameCausesRequest) -> Result<Resolved, AppError> {
        let open = self.app.require_folder()?;
        let setup = self.app.settings().setup()?;
        let bad = |why: String| AppError::new(Code::BadRequest, why);
        let model = setup
            .model(&request.model)
            .cloned()
            .ok_or_else(|| crate::settings::keys::no_model(&setup, &request.model))?;
        if model.provider == Provider::Replay {
            return Err(bad(format!("`{}` repeats recordings and names nothing.", model.name)));
        }
        let budget = Budget::resolve(request.max_cost, &setup.rules)?;
        let selection = select(&open, &request.failures)?;
        let made = open.failures.map(&request.failures, &selection, FailuresState::Running);
        if made.map.read + made.map.unreadable < made.map.failed {
            return Err(bad("Not all failed runs have been read.".to_owned())
                .hint("Wait until they are, so that each cause is named once."));
        }
        // Texts of sensitive runs are sent to nobody.
        let causes = self.causes_to_send(&selection, &made)?;
        let names = names_of(&open)?;
        let main = causes.into_iter().filter(|cluster| cluster.runs > 0).take(MOST);
        let (known, clusters): (Vec<_>, Vec<_>) =
            main.partition(|cluster| names.has(cluster, &model.name));
        Ok(Resolved { setup, model, budget, clusters, named: known.len() as u64 })
    }

    /// Asks for the name of each cause in turn, and keeps each name at once.
    fn ask_for_names(
        self,
        open: &Arc<OpenFolder>,
        resolved: &Resolved,
        (interrupts, on_progress): Watch<'_>,
        view: &mut NamingView,
    ) -> Result<(), AppError> {
        let files = ReplyFiles { name: HIDDEN, busy: "is naming causes" };
        let at = (open.as_ref(), &resolved.setup);
        let (is_failed, why) = self.app.launches().buy_some(
            at,
            &files,
            (&interrupts, &|_, _| ()),
            async |crew, journal| {
                let end = ask(crew, (open, resolved), journal, (view, on_progress)).await.err();
                (matches!(end, Some(Unfinished::Failed(_))), end)
            },
        )?;
        match why {
            Some(why) if is_failed => return Err(failed(why).hint(CONTINUE)),
            why => view.why = why,
        }
        Ok(())
    }
}

/// Next step after a failure.
const CONTINUE: &str = "Names that were made are kept: the same request continues from there.";

/// Asks for the names.
async fn ask(
    crew: &Arc<LaunchContext>,
    (open, resolved): (&OpenFolder, &Resolved),
    journal: &Journal,
    (view, on_progress): (&mut NamingView, &dyn Fn(&NamingView)),
) -> Result<(), Unfinished> {
    let mark = format!("cause-name-{VERSION}");
    for cluster in &resolved.clusters {
        if crew.stops.soft.is_cancelled() {
            return Err(Unfinished::Stopped);
        }
        let request =
            PromptRequest { crew, path: HIDDEN, journal, model: &resolved.model, mark: &mark };
        let message = cause_names::message(cluster);
        match request.ask(INSTRUCTIONS, &[Turn::User(message)]).await {
            Ok(reply) => {
                if !reply.paid.journaled {
                    view.requests += 1;
                    view.cost = view.cost.zip(reply.paid.cost).map(|(sum, more)| sum + more);
                }
                let name = cause_names::name_in(&reply.text).filter(|_| !reply.refused);
                match name {
                    Some(name) => {
                        keep(open, cluster, (&resolved.model.name, reply.model_id), name)?;
                        view.done += 1;
                    }
                    None => view.without += 1,
                }
            }
            Err(PromptError::Stopped) => return Err(Unfinished::Stopped),
            Err(PromptError::Useless { .. }) => view.without += 1,
            Err(PromptError::Failed(why)) => return Err(Unfinished::Failed(why)),
        }
        on_progress(view);
    }
    Ok(())
}

/// Adds a name to the file.
fn keep(
    open: &OpenFolder,
    cluster: &FailureCluster,
    model: (&str, Option<String>),
    name: String,
) -> Result<(), Unfinished> {
    let mut names = names_of(open).map_err(|error| Unfinished::Failed(error.message))?;
    names.add(cluster, model, (name, clock::format_utc(clock::now_ms())));
    names_file::replace(&open.flow.roots.output_dir, names.write().as_bytes())
        .map_err(|error| Unfinished::Failed(format!("The name could not be kept: {error}")))
}

/// Returns the names of a folder. A file that cannot be read is never replaced.
fn names_of(open: &OpenFolder) -> Result<CauseNames, AppError> {
    let bytes =
        names_file::read(&open.flow.roots.output_dir).map_err(|why| failed(why.to_string()))?;
    let Some(bytes) = bytes else { return Ok(CauseNames::default()) };
    CauseNames::read(&bytes).map_err(|why| failed(why).hint("Correct the file, or move it away."))
}

fn failed(why: String) -> AppError {
    AppError::new(Code::Failed, why)
}

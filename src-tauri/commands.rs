//! **Pure.** The commands of the page. This table is the only list of them: the build script reads
//! the permissions of the window from it, `calls.rs` the functions and their access checks, and a
//! test writes `ui/src/generated/Commands.ts` from it.

/// Access level of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Allowed to every page: changes nothing on disk or in the program.
    Look,
    /// Allowed to the window, and to a page with `--allow-run`: spends money, runs programs, writes
    /// files or uses keys.
    Act,
    /// Like `Act`; changes the open folder or the list of recent folders.
    Open,
    /// Allowed to the window only, because it opens a dialog or a program on this machine. Holds
    /// the refusal that served pages get: the sentence and the next step.
    Local(&'static str, &'static str),
}

/// Calls the macro `$then` with all commands. Each entry is the description for the page, the
/// access level, name and arguments, the reply, and the function of the app and the calling page.
macro_rules! page_commands {
    ($then:ident) => { $then! {
        Look status() -> Status = |app, _| Ok(app.folder().status());
        Look folders() -> Folders =
            |app, page| Ok(app.folder().folders(page.is_window(), page.may_act()));
        Open open_recent(id: String) -> () = |app, _| app.folder().open_recent(&id);
        /// Opens the results in a bucket: `s3://bucket/prefix`.
        Open open_bucket(address: String) -> () = |app, _| app.folder().open_bucket(&address);
        /// Folders of this machine in which other tools keep their results; only names are looked at.
        Open found_results() -> Vec<FoundResults> = |app, _| Ok(app.folder().found_results());
        Open open_found(id: String) -> () = |app, _| app.folder().open_found(&id);
        Open forget_recent(id: String) -> () = |app, _| app.folder().forget_recent(&id);
        Open open_demo() -> () = |app, _| app.folder().open_demo();
        /// Opens the system's folder dialog; false on cancel. Window only.
        Local("A served page cannot pick a folder of the machine that serves it.",
            "Start it with the folder instead: touchstone serve FOLDER")
        pick_folder() -> bool = |app, page| dialogs::pick_folder(app, page.window()?);
        Open close_folder() -> () = |app, _| app.folder().close_folder();
        Look facets() -> Facets = |app, _| app.runs().facets();
        Look list_runs(request: ListRequest) -> RunPage = |app, _| app.runs().list_runs(request);
        /// Values of columns of one's own for runs, in the order of both; null where a run has none.
        Look own_columns(columns: Vec<String>, runs: Vec<String>) -> OwnColumns =
            |app, _| app.runs().own_columns(&columns, &runs);
        Look locate_run(filter: String, sort: Sort, id: String) -> ListPosition =
            |app, _| app.runs().locate_run(&filter, &sort, &id);
        Look runs_around(filter: String, sort: Sort, id: String) -> RunsAround =
            |app, _| app.runs().runs_around(&filter, &sort, &id);
        /// Like `runs_around`, in the order of a review queue of the person with this name.
        Look queue_around(
            filter: String, sort: Sort, order: QueueOrder, author: Option<String>, id: String
        ) -> RunsAround =
            |app, _| app.runs().queue_around((&filter, &sort), order, author.as_deref(), &id);
        Look queue_progress(filter: String, author: Option<String>) -> QueueProgress =
            |app, _| app.runs().queue_progress(&filter, author.as_deref());
        /// Saved views of the workspace file.
        Look views() -> Vec<ListView> = |app, _| app.runs().views();
        /// Labels of the workspace file, with the number of runs that have them.
        Look labels() -> Vec<LabelView> = |app, _| app.labels().label_schemas();
        /// Agreement of each two people on each category, over the runs of a filter.
        Look label_agreements(filter: String) -> Vec<LabelAgreement> =
            |app, _| app.labels().label_agreements(&filter);
        /// Saves a filter as a label in the workspace file. With a folder, nothing is saved once another
        /// one is open.
        Act save_label(folder: Option<String>, name: String, question: String) -> () =
            |app, _| app.labels().save_label(folder.as_deref(), &name, &question);
        /// Adds a label that people give to the workspace file.
        Act add_label(folder: Option<String>, name: String, schema: LabelSchema) -> () =
            |app, _| app.labels().add_label(folder.as_deref(), &name, &schema);
        /// The runs, labels and views that a change of a label concerns.
        Look label_uses(name: String) -> LabelUses = |app, _| app.labels().label_uses(&name);
        /// Gives a label another name, question or values in the workspace file.
        Act change_label(folder: Option<String>, name: String, edit: LabelEdit) -> () =
            |app, _| app.labels().change_label(folder.as_deref(), &name, &edit);
        /// Removes a label from the workspace file. Values in reviews stay.
        Act remove_label(folder: Option<String>, name: String) -> () =
            |app, _| app.labels().remove_label(folder.as_deref(), &name);
        /// The name under which reviews are written, where a request gives none.
        Look author() -> Author = |app, _| app.settings().author();
        Look search(text: String, span: Span) -> Vec<Hit> = |app, _| app.runs().search(&text, span);
        Look problems(span: Span) -> ProblemPage = |app, _| app.folder().problems(span);
        Look open_run(id: String) -> RunView = |app, _| app.runs().open_run(&id);
        /// How far the reading of a run from its files is; null if it is not being read.
        Look run_reading(id: String) -> Option<ReadProgress> = |app, _| app.runs().run_reading(&id);
        /// The first steps of a large run, to be shown while it is read; null if there is nothing to
        /// show yet.
        Look run_beginning(id: String) -> Option<RunBeginning> =
            |app, _| app.runs().run_beginning(&id);
        /// Stops the reading of a run that was opened.
        Look stop_reading_run(id: String) -> () = |app, _| app.runs().stop_reading_run(&id);
        Look read_steps(id: String, version: String, span: Span) -> StepPage =
            |app, _| app.runs().read_steps(&id, &version, span);
        Look run_outline(id: String, version: String) -> RunOutline =
            |app, _| app.runs().run_outline(&id, &version);
        Look read_tree(id: String, version: String) -> TreeView =
            |app, _| app.runs().read_tree(&id, &version);
        /// `part` is the id of a part, or `raw:<n>` for the n-th file of the run on disk.
        Look read_text(id: String, part: String, offset: u64, limit: u64) -> TextPiece =
            |app, _| app.runs().read_text(&id, &part, offset, limit);
        Look read_rows(id: String, part: String, request: RowRequest) -> RowPiece =
            |app, _| app.runs().read_rows(&id, &part, request);
        /// An entire table as CSV.
        Look read_csv(id: String, part: String) -> String =
            |app, _| app.runs().read_csv(&id, &part);
        /// The image, sound or file that a part of a step describes.
        Look read_media(id: String, version: String, part: String) -> MediaFile =
            |app, _| app.runs().read_media(&id, &version, &part);
        /// Opens the system's save dialog; false on cancel. Window only; a served page downloads
        /// instead.
        Local("A served page cannot write to the machine that serves it.",
            "Download the file instead.")
        save_media(id: String, version: String, part: String) -> bool = |app, page| {
            dialogs::save_media(app, page.window()?, (&id, &version), &part)
        };
        Look find_in_run(id: String, text: String) -> Matches =
            |app, _| app.runs().find_in_run(&id, &text);
        /// Shows a file of a run in the file manager. Window only.
        Local("A served page cannot open the file manager of the machine that serves it.",
            "Copy the path instead.")
        reveal_file(id: String, file: u32) -> () = |app, page| {
            page.window()?;
            reveal::reveal_in_folder(&app.runs().reveal_file(&id, file)?)
        };

        Look launch_options() -> LaunchOptions =
            |app, page| app.launches().launch_options(page.may_act());
        /// Plans a launch without sending anything.
        Act plan_launch(request: LaunchRequest) -> LaunchPlan =
            |app, _| app.launches().plan_launch(&request);
        /// Remembers that the targets of a request may be attacked. Sends nothing. Fails if they are
        /// not the ones that were seen.
        Act confirm_scan(request: LaunchRequest, targets: Vec<ScanTarget>) -> () =
            |app, _| app.red_team().confirm_scan(&request, &targets);
        Act start_launch(request: LaunchRequest) -> Launched =
            |app, _| app.launches().start_launch(&request);
        /// All launches since the program started, newest first, without their runs.
        Look launches() -> Vec<LaunchView> = |app, _| Ok(app.launches().all());
        Look launch(id: String, span: Span) -> LaunchView =
            |app, _| app.launches().view(&id, span);
        /// Lets calls in flight finish and be saved; `now` cancels them.
        Act stop_launch(id: String, now: bool) -> () =
            |app, _| app.launches().stop_launch(&id, now);
        /// Launches that are split over several machines, newest first, without their parts.
        Look split_launches() -> Vec<SplitLaunch> =
            |app, page| app.launches().split_launches(page.may_act());
        Look split_launch(id: String, span: Span) -> SplitLaunch =
            |app, page| app.launches().split_launch(&id, span, page.may_act());
        /// Cancels the jobs of a split launch: parts that run finish calls in flight; `now` ends them.
        Act stop_split_launch(id: String, now: bool) -> () =
            |app, _| app.launches().stop_split_launch(&id, now);
        /// Hands the incomplete parts of a split launch to the scheduler again.
        Act submit_again(id: String) -> () =
            |app, _| app.launches().submit_again(&id, None, false).map(drop);
        /// Launches the failed and stopped runs again.
        Act retry_launch(id: String) -> Launched = |app, _| app.launches().retry_launch(&id);
        /// Sends a user message to a run and continues it. A finished run stays unchanged and a
        /// fork of it continues, unless `in_place` is set.
        Act nudge_run(id: String, message: String, in_place: bool) -> Launched =
            |app, _| app.launches().nudge_run(&id, &message, in_place);
        /// What can be edited of a step before a run is continued from it.
        Look editable_step(id: String, step: u32) -> EditableStep =
            |app, _| app.launches().editable_step(&id, step);
        /// Copies a run up to and including a step to a fork. A message becomes the next one of the
        /// user (replacing the step if that is one); an edit takes the place of a part of the
        /// step. The fork is launched if it has either, or as `run` says, with `model` if given.
        Act fork_run(
            id: String,
            step: u32,
            message: Option<String>,
            edit: Option<StepEdit>,
            model: Option<String>,
            run: Option<bool>
        ) -> Copied =
            |app, _| app.launches().fork_run(&id, &ForkRequest { step, message, edit, model, run });
        Act keys() -> Vec<KeyState> = |app, _| app.settings().keys();
        Act set_key(name: String, key: String) -> () = |app, _| app.settings().set_key(&name, key);
        Act forget_key(name: String) -> () = |app, _| app.settings().forget_key(&name);
        /// Asks a model for one word, with its key.
        Act test_model(name: String) -> Check = |app, _| app.settings().test_model(&name);
        Look doctor() -> Vec<Check> =
            |app, page| Ok(with_ours(app.folder().doctor(page.may_act())));

        Look overview(request: OverviewRequest) -> Overview =
            |app, _| app.stats().overview(&request);
        /// What having a model name the causes would take. Sends nothing.
        Act plan_cause_names(request: NameCausesRequest) -> NameCausesPlan =
            |app, _| app.failures().plan_cause_names(&request);
        Act start_cause_names(request: NameCausesRequest) -> () =
            |app, _| app.failures().start_cause_names(&request);
        Act stop_cause_names() -> () = |app, _| app.failures().stop_cause_names();
        /// Why runs fail. Reads transcripts in the background; the map covers those that were read.
        Look failures(request: FailuresRequest) -> FailureMap =
            |app, _| app.failures().map(&request);
        Look stop_failures(request: FailuresRequest) -> () =
            |app, _| app.failures().stop_failures(&request);
        /// Continues to read transcripts after a stop.
        Look resume_failures(request: FailuresRequest) -> FailureMap =
            |app, _| app.failures().resume_failures(&request);
        /// Systems with their models beside each other, with plots.
        Look leaderboard(request: LeaderboardRequest) -> Leaderboard =
            |app, _| app.stats().leaderboard(&request);
        /// Trends of the systems over sets of runs, with plots.
        Look history(request: TrendRequest) -> History = |app, _| app.stats().history(&request);
        /// What changed between two sets; null if there are fewer than two.
        Look set_changes(request: ChangesRequest) -> Option<SetChanges> =
            |app, _| app.stats().set_changes(&request);
        /// The baseline file of the folder, and the runs beside it.
        Look baseline() -> BaselineView = |app, _| app.reports().baseline();
        /// Writes the baseline file of the folder. A filter or scorer that is null is that of the
        /// existing file. Fails for an existing file without `replace`.
        Act save_baseline(filter: Option<String>, scorer: Option<String>, replace: bool)
            -> BaselineSaved = |app, _| {
            app.reports().save_baseline(filter.as_deref(), scorer.as_deref(), replace)
        };
        /// How often attacks succeeded, over the runs of a filter.
        Look attack_scorecard(filter: String) -> AttackScorecard =
            |app, _| app.red_team().attack_scorecard(&filter);
        /// The run of the same task, system and model whose objective is not disguised; null for a run
        /// that is no disguised attack, or whose baseline was not run.
        Look attack_baseline(id: String) -> Option<RunRow> =
            |app, _| app.red_team().attack_baseline(&id);
        /// Runs whose texts are folded, and left out of what is written for others.
        Look sensitive() -> SensitiveRuns = |app, _| app.sensitive().sensitive();
        /// What evaluators are recorded to have said, by evaluator and system; empty where nothing is.
        Look evaluator_summaries(filter: String) -> Vec<EvaluatorSummary> =
            |app, _| app.reports().evaluator_summaries(&filter);
        Look run_scores(id: String, author: Option<String>) -> RunScores =
            |app, _| app.scoring().run_scores_for(&id, author.as_deref());
        Look diff_answer(request: DiffRequest) -> DiffView =
            |app, _| app.runs().diff_answer(&request);
        /// Compares two to four runs; the first is the baseline.
        Look compare_runs(ids: Vec<String>) -> Comparison = |app, _| app.runs().compare_runs(&ids);
        Look diff_steps(left: StepRef, right: StepRef) -> StepDiff =
            |app, _| app.runs().diff_steps(&left, &right);
        /// With `whole` the full text, else the part for the preview.
        Look make_report(request: ReportRequest, whole: bool) -> Report =
            |app, _| app.reports().make_report(&request, whole);
        /// Opens the system's save dialog, and returns the path; null on cancel. Window only; a
        /// served page downloads instead.
        Local("A served page cannot write to the machine that serves it.",
            "Download the report, or write it there: touchstone report FOLDER")
        save_report(request: ReportRequest) -> Option<String> =
            |app, page| dialogs::save_report(app, page.window()?, &request);
        /// A run in a format of another tool.
        Look export_run(request: ExportRequest) -> ExportedFile =
            |app, _| app.reports().export_run(&request);
        /// Opens the system's save dialog. Returns the notes on what was written; null on cancel.
        /// Window only; a served page downloads instead.
        Local("A served page cannot write to the machine that serves it.",
            "Download the run, or write it there: touchstone convert RUN --to FORMAT")
        save_export(request: ExportRequest) -> Option<Vec<String>> =
            |app, page| dialogs::save_export(app, page.window()?, &request);
        Look list_tasks(request: TaskRequest) -> TaskPage =
            |app, _| app.suites().list_tasks(request);
        /// `id` is the id of the task.
        Look read_task(id: String) -> TaskView = |app, _| app.suites().read_task(&id);
        /// What a suite of the tasks of runs would hold. Nothing is written.
        Look plan_suite(folder: Option<String>, request: SuiteRequest) -> SuitePlan =
            |app, _| app.suites().plan_suite(folder.as_deref(), &request);
        /// Writes a suite into the folder of suites, never in the place of a file.
        Act make_suite(folder: Option<String>, request: SuiteRequest) -> SuiteMade =
            |app, _| app.suites().make_suite(folder.as_deref(), &request);
        Look generation_options() -> GenerationOptions =
            |app, page| app.suites().generation_options(page.may_act());
        /// Estimates a generation of tasks without sending anything.
        Act plan_generation(request: GenerationRequest) -> GenerationPlan =
            |app, _| app.suites().plan_page_generation(&request);
        /// Has a model write a suite, never in the place of a file. With a folder, nothing is started
        /// once another one is open.
        Act start_generation(folder: Option<String>, request: GenerationRequest) -> Generation =
            |app, _| app.suites().start_generation(folder.as_deref(), &request);
        /// All generations since the program started, newest first.
        Look generations() -> Vec<GenerationView> = |app, _| Ok(app.suites().generations());
        /// Lets the request in flight finish, and writes the suite of what there is; `now` cancels it.
        Act stop_generation(id: String, now: bool) -> () =
            |app, _| app.suites().stop_generation(&id, now);
        /// Results of the local runs of query sets, and published results.
        Look published(request: PublishedRequest) -> Published =
            |app, _| app.reports().published(&request);
        /// Runs pending program scorers in the sandbox; returns the number of runs.
        Act run_scorers(filter: String) -> u64 = |app, _| app.scoring().run_scorers(&filter);
        /// A null review deletes it. With a folder, nothing is saved once another one is open.
        /// Returns the number of the change for `undo_review`; null if nothing changed.
        Act review_run(
            folder: Option<String>, author: Option<String>, id: String, review: Option<Review>
        ) -> Option<u32> = |app, _| {
            app.reviews().review_run_of(folder.as_deref(), author.as_deref(), &id, review.as_ref())
        };
        /// Restores the former file of the review of a run, unless it changed since.
        Act undo_review(folder: Option<String>, id: String, change: u32) -> () =
            |app, _| app.reviews().undo_review(folder.as_deref(), &id, change);

        /// Names that are missing are those in the file again. With a folder, nothing is saved once
        /// another one is open.
        Act rename_run(folder: Option<String>, id: String, names: RunNames) -> () =
            |app, _| app.runs().rename_run(folder.as_deref(), &id, &names);

        Look judge_options() -> JudgeOptions =
            |app, page| app.judging().judge_options(page.may_act());
        /// All judging jobs since the program started, newest first.
        Look judgings() -> Vec<JudgingView> = |app, _| Ok(app.judging().judgings());
        /// Raters of the runs that match a filter, and the agreement of each pair.
        /// The main cause of a failed run, with the step that shows it; null for other runs.
        Look run_cause(id: String) -> Option<RunCause> = |app, _| app.failures().run_cause(&id);
        Look trust(filter: String) -> Trust = |app, _| app.reviews().trust(&filter);
        /// One pair of raters, by ids, with the runs they disagree on.
        Look agreement(first: String, second: String, filter: String) -> Agreement =
            |app, _| app.reviews().agreement(&first, &second, &filter);
        /// Plans judging without sending anything.
        Act plan_judging(request: JudgeRequest) -> JudgePlan =
            |app, _| app.judging().plan_judging(&request);
        Act start_judging(request: JudgeRequest) -> Judging =
            |app, _| app.judging().start_judging(&request);
        /// Lets requests in flight finish and be saved; `now` cancels them.
        Act stop_judging(id: String, now: bool) -> () =
            |app, _| app.judging().stop_judging(&id, now);

        Look evaluate_options() -> EvaluateOptions =
            |app, page| app.evaluations().evaluate_options(page.may_act());
        /// Columns, first rows and errors of a data file.
        Look look_at_data(id: String) -> DataLook = |app, _| app.evaluations().look_at_data(&id);
        /// All evaluations, newest first.
        Look evaluations() -> Vec<EvaluationView> = |app, _| Ok(app.evaluations().evaluations());
        /// Rows of the results of an evaluation, with what each evaluator said.
        Look evaluation_rows(id: String, span: Span) -> EvaluatedRows =
            |app, _| app.evaluations().evaluation_rows(&id, span);
        /// Evaluations without complete results, newest first; active ones excluded.
        Look unfinished_evaluations() -> Vec<EvaluateUnfinished> =
            |app, _| app.evaluations().unfinished_evaluations();
        /// Opens the system's file dialog for a data file; null on cancel. Window only.
        Local("A served page cannot pick a file of the machine that serves it.",
            "Choose one of the folder, or evaluate it there: touchstone evaluate --data FILE")
        pick_file() -> Option<DataFile> = |app, page| dialogs::pick_file(app, page.window()?);
        /// Plans an evaluation without sending anything.
        Act plan_evaluating(request: EvaluateRequest) -> EvaluatePlan =
            |app, _| app.evaluations().plan_evaluating(&request);
        Act start_evaluating(request: EvaluateRequest) -> Evaluating =
            |app, _| app.evaluations().start_evaluating(&request);
        /// Lets requests in flight finish and be saved; `now` cancels them.
        Act stop_evaluating(id: String, now: bool) -> () =
            |app, _| app.evaluations().stop_evaluating(&id, now);
        /// Writes the matching runs as rows of a data file beside the results.
        Act make_rows(filter: String, include_sensitive: bool) -> RowsMade =
            |app, _| app.evaluations().make_rows(&filter, include_sensitive);
    } };
}

macro_rules! names_and_access {
    ($(
        $(#[doc = $doc:literal])*
        $access:ident $(($($refusal:literal),*))?
        $name:ident($($arguments:tt)*) -> $reply:ty = $run:expr;
    )*) => {
        &[$((stringify!($name), Access::$access $(($($refusal),*))?)),*]
    };
}

/// Every command with its access level.
pub(crate) const COMMANDS: &[(&str, Access)] = page_commands!(names_and_access);

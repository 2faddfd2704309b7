// Global actions: places, folders and appearance. Views add their own.
import { BLANK_DRAFT } from "../domain/launchDraft";
import type { AppError, RunRow } from "../generated";
import { isActive, isSplitActive } from "../domain/launches";
import { asAppError } from "../backend/live";
import type { Action } from "./keys";
import { TEXT_SIZES, type Theme } from "./prefs";
import {
  EVALUATE,
  FAILURES,
  HISTORY,
  HOME,
  OVERVIEW,
  REPORT,
  TASKS,
  TRUST,
  type Route,
} from "./route";
import type { Session } from "./session";
import type { SavedView } from "./views";

export interface Frame {
  open: () => boolean;
  /** Saved views of the list of runs. */
  views: () => readonly SavedView[];
  showView: (view: SavedView) => void;
  /** True in a read-only side place. */
  aside: () => boolean;
  problems: () => boolean;
  canPick: () => boolean;
  /** False on a served page, which shows only the folder it was started with. */
  canOpen: () => boolean;
  /** Shows an error with its next step in a prominent place. */
  trouble: (error: AppError) => void;
  palette: () => void;
  sheet: () => void;
  runs: () => Route;
  /** The list or overview that was open last. */
  left: () => Route;
  /** Where the run was opened from: the list or the overview. */
  listed: () => Route;
  /** The run on screen. */
  shownRun: () => RunRow | undefined;
  /** Shows the progress of judging. */
  judgings: () => void;
  /** Opens the dialog in which a model writes tasks. */
  generate: () => void;
  /** Opens the dialog that adds a label. */
  newLabel: () => void;
  /** Opens the selection of runs to compare this one with. */
  compareWith: (row: RunRow) => void;
}

function compareWith(frame: Frame): void {
  const row = frame.shownRun();
  if (row) frame.compareWith(row);
}

const THEMES: Record<Theme, string> = { system: "System", light: "Light", dark: "Dark" };

export function actions({ router, prefs, backend, live }: Session, frame: Frame): Action[] {
  const to = (
    id: string,
    title: string,
    keys: string[],
    route: () => Route,
    when?: () => boolean,
  ): Action => ({ id, title, group: "Places", keys, when, run: () => router.go(route()) });
  const tried = (act: Promise<unknown>) =>
    void act.catch((thrown: unknown) => frame.trouble(asAppError(thrown)));
  const openHome = () => {
    live.reopen();
    router.go(HOME);
  };
  const launches = () => live.query("launches", {}).data ?? [];
  const splits = () => live.query("split_launches", {}).data ?? [];
  const newest = (): Route => ({
    place: "progress",
    id:
      (launches().find(isActive) ?? splits().find(isSplitActive) ?? launches()[0] ?? splits()[0])
        ?.id ?? "",
    top: 0,
  });
  const evaluations = () => live.query("evaluations", {}).data ?? [];
  const generations = () => live.query("generations", {}).data ?? [];
  const judgings = () => live.query("judgings", {}).data ?? [];
  // Jobs that cost money or time: the first press lets calls in flight finish, the second cancels
  // them.
  const running = () => [
    ...launches()
      .filter(isActive)
      .map((one) => ["stop_launch", one] as const),
    ...evaluations()
      .filter(isActive)
      .map((one) => ["stop_evaluating", one] as const),
    ...judgings()
      .filter(isActive)
      .map((one) => ["stop_judging", one] as const),
    ...generations()
      .filter(isActive)
      .map((one) => ["stop_generation", one] as const),
  ];
  const stop = () =>
    tried(
      Promise.all(
        running().map(([command, { id, state }]) =>
          backend.call(command, { id, now: state === "stopping" }),
        ),
      ),
    );
  const theme = (wanted: Theme): Action => ({
    id: `theme-${wanted}`,
    title: `Theme: ${THEMES[wanted]}`,
    group: "Appearance",
    when: () => prefs.current.theme !== wanted,
    run: () => prefs.set({ theme: wanted }),
  });
  return [
    // Two views may have one name: one for everybody, and one's own.
    ...frame.views().map((view, at): Action => ({
      id: `view-${at}`,
      title: `View: ${view.name}`,
      group: "Views",
      run: () => frame.showView(view),
    })),
    {
      id: "palette",
      title: "All actions",
      group: "Everywhere",
      keys: ["Mod+k"],
      quiet: true,
      run: frame.palette,
    },
    { id: "sheet", title: "All keys", group: "Everywhere", keys: ["?"], run: frame.sheet },
    to("overview", "Overview", ["g v"], () => OVERVIEW, frame.open),
    to("report", "Report", ["g e"], () => REPORT, frame.open),
    to("runs", "Runs", ["g r"], frame.runs, frame.open),
    to("tasks", "Tasks", ["g t"], () => TASKS, frame.open),
    to("trust", "Trust: agreement of judges with people", ["g j"], () => TRUST, frame.open),
    to("history", "History: trends and what changed", ["g y"], () => HISTORY, frame.open),
    to("failures", "Failures: why runs fail", ["g f"], () => FAILURES, frame.open),
    to(
      "launch",
      "New launch…",
      ["g n"],
      () => ({ place: "launch", draft: BLANK_DRAFT }),
      frame.open,
    ),
    to("launches", "Launches", ["g l"], newest, () => launches().length + splits().length > 0),
    {
      id: "stop-all",
      title: "Stop everything: launches, evaluations, judging, generating",
      group: "Launch",
      when: () => running().length > 0,
      run: stop,
    },
    {
      id: "judgings",
      title: "Judging: progress and skipped runs",
      group: "Places",
      when: () => judgings().length > 0,
      run: frame.judgings,
    },
    {
      id: "generate",
      title: "Generate tasks…",
      group: "Tasks",
      when: frame.open,
      run: frame.generate,
    },
    {
      id: "new-label",
      title: "New label…",
      group: "Review",
      when: frame.open,
      run: frame.newLabel,
    },
    to("evaluate", "Evaluate a data file", ["g d"], () => EVALUATE, frame.open),
    to("problems", "Problems", ["g p"], () => ({ place: "problems", top: 0 }), frame.problems),
    to("start", "Open another folder", ["g o"], () => ({ place: "start" })),
    to("guide", "Guide: the first five minutes", ["g h"], () => ({ place: "guide" })),
    to("settings", "Settings, models and keys, doctor", ["g s"], () => ({ place: "settings" })),
    {
      id: "aside",
      title: "Back",
      group: "Places",
      keys: ["Escape"],
      quiet: true,
      when: frame.aside,
      run: () => router.go(frame.left()),
    },
    {
      id: "compare-with",
      title: "Compare this run with…",
      group: "Run",
      keys: ["c"],
      when: () => frame.shownRun() !== undefined,
      run: () => compareWith(frame),
    },
    {
      id: "listed",
      title: "Back to where the run was opened from",
      group: "Places",
      quiet: true,
      when: frame.open,
      run: () => router.go(frame.listed()),
    },
    {
      id: "pick-folder",
      title: "Choose a folder…",
      group: "Places",
      keys: ["Mod+o"],
      when: frame.canPick,
      run: () => tried(backend.call("pick_folder", {}).then((picked) => picked && openHome())),
    },
    {
      id: "close-folder",
      title: "Close the folder",
      group: "Places",
      when: () => frame.open() && frame.canOpen(),
      run: () => tried(backend.call("close_folder", {}).then(() => router.go({ place: "start" }))),
    },
    theme("system"),
    theme("light"),
    theme("dark"),
    {
      id: "larger",
      title: "Larger text",
      group: "Appearance",
      keys: ["Mod+=", "Mod++", "Mod+Shift++"],
      when: () => prefs.current.textSize !== TEXT_SIZES.at(-1),
      run: () => prefs.resize(1),
    },
    {
      id: "smaller",
      title: "Smaller text",
      group: "Appearance",
      keys: ["Mod+-"],
      when: () => prefs.current.textSize !== TEXT_SIZES[0],
      run: () => prefs.resize(-1),
    },
    {
      id: "usual-size",
      title: "Default text size",
      group: "Appearance",
      keys: ["Mod+0"],
      run: () => prefs.resize(0),
    },
  ];
}

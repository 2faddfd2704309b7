// The address holds the whole view state. Parses and formats it (pure); the only reader and writer
// of `location.hash`.
import { createSubscriber } from "svelte/reactivity";
import { readDraft, writeDraft, type LaunchDraft } from "../domain/launchDraft";
import { isOwnName } from "../domain/names";
import { formatOrder, parseOrder } from "../domain/reviewQueue";
import type {
  Column,
  OwnName,
  QueueOrder,
  ReportFormat,
  SetsBy,
  Sort,
  TrendMeasure,
} from "../generated";

/**
 * `top` is the first visible row, so that back and reload restore the position. `single` opens the
 * run if it is the only one, once all files are read.
 */
export interface RunsRoute {
  place: "runs";
  q: string;
  sort: Sort;
  top: number;
  single: boolean;
}
/** Main content of the run page. */
export type RunShows = "steps" | "tree" | "answer";
/**
 * `q`, `sort` and `top` describe the list the run was opened from: they find its neighbours, and
 * back returns there. `step` is an index from 0; the address has its number, from 1, as the page
 * shows it. `find` is searched within the run. `view` is the main content: the steps, the search
 * tree, or the answer beside the expected one. With `queue`, the runs of the list are reviewed in
 * this order; `from` is the filter of the list that they were chosen from.
 */
export interface RunRoute {
  place: "run";
  id: string;
  q: string;
  sort: Sort;
  top: number;
  step: number | null;
  find: string;
  view: RunShows;
  queue: QueueOrder | null;
  from?: string;
}
/** The launch form. */
export interface LaunchRoute {
  place: "launch";
  draft: LaunchDraft;
}
/** Progress of a launch. */
export interface ProgressRoute {
  place: "progress";
  id: string;
  top: number;
}
/**
 * The matrix. `folded` is the default of all tasks; `except` lists the tasks that differ from it.
 */
export interface OverviewRoute {
  place: "overview";
  q: string;
  scorer: string;
  folded: boolean;
  except: string[];
  /** True to show tasks without runs. */
  missing: boolean;
  /** True to group columns by model, else by system. */
  byModel: boolean;
  /** True to group tasks by tag. */
  byTag: boolean;
  top: number;
}
/**
 * Runs side by side; the first is the baseline. `row` is the visible row. With `passing`, a passing
 * run among them is moved to the front once they are loaded.
 */
export interface CompareRoute {
  place: "compare";
  ids: string[];
  row: number | null;
  passing?: true;
}
/** Contents and format of a report. */
export interface ReportRoute {
  place: "report";
  q: string;
  format: ReportFormat;
  scorer: string;
  baseline: string;
  title: string;
  runs: boolean;
  /** Includes published results, for runs of query sets. */
  published: boolean;
  /** How runs are grouped into sets for the trend. */
  sets: SetsBy;
  /** Redacts texts of transcripts; null leaves it to the engine. */
  redact: boolean | null;
}
/** The tasks. `task` is shown beside the list; empty means the first. */
export interface TasksRoute {
  place: "tasks";
  q: string;
  /** Empty means any. */
  set: string;
  category: string;
  task: string;
  top: number;
}
/**
 * The evaluation form: the data file by id and the evaluators, repeated as often as chosen. `rows`
 * filters the runs to make rows from; null when none are made.
 */
export interface EvaluateRoute {
  place: "evaluate";
  data: string;
  by: string[];
  rows: string | null;
}
/** Progress and results of an evaluation. */
export interface EvaluationRoute {
  place: "evaluation";
  id: string;
}
/** Agreement of judges. `first` and `second` are the pair in detail; empty means the first pair. */
export interface TrustRoute {
  place: "trust";
  q: string;
  first: string;
  second: string;
}
/**
 * Why runs fail. `cause` is the cluster in detail; empty means the first. `scorer` says what failed;
 * empty means the first scorer of each task.
 */
export interface FailuresRoute {
  place: "failures";
  q: string;
  scorer: string;
  cause: string;
}
/**
 * Trends over sets of runs. `before` and `after` are the sets that are compared; empty means the
 * last two. With `baseline`, the runs are compared with the baseline file instead.
 */
export interface HistoryRoute {
  place: "history";
  q: string;
  by: SetsBy;
  measure: TrendMeasure;
  before: string;
  after: string;
  baseline: boolean;
}
/** The address without a place. It leads to the overview, or to the list if no run fits there. */
export interface HomeRoute {
  place: "home";
}
export type Route =
  | HomeRoute
  | { place: "start" }
  | OverviewRoute
  | CompareRoute
  | ReportRoute
  | RunsRoute
  | RunRoute
  | LaunchRoute
  | ProgressRoute
  | TasksRoute
  | EvaluateRoute
  | EvaluationRoute
  | TrustRoute
  | FailuresRoute
  | HistoryRoute
  | { place: "problems"; top: number }
  | { place: "settings" }
  | { place: "guide" };

export const HOME: HomeRoute = { place: "home" };
export const NEWEST_FIRST: Sort = { column: "modified", descending: true };
export const RUNS: RunsRoute = {
  place: "runs",
  q: "",
  sort: NEWEST_FIRST,
  top: 0,
  single: false,
};
export const OVERVIEW: OverviewRoute = {
  place: "overview",
  q: "",
  scorer: "",
  folded: false,
  except: [],
  missing: false,
  byModel: false,
  byTag: false,
  top: 0,
};
export const REPORT: ReportRoute = {
  place: "report",
  q: "",
  format: "html",
  scorer: "",
  baseline: "",
  title: "",
  runs: true,
  published: false,
  sets: "day",
  redact: null,
};
export const TASKS: TasksRoute = { place: "tasks", q: "", set: "", category: "", task: "", top: 0 };
export const EVALUATE: EvaluateRoute = { place: "evaluate", data: "", by: [], rows: null };
export const TRUST: TrustRoute = { place: "trust", q: "", first: "", second: "" };
/** The last step of a run, whatever its number. */
export const LAST_STEP = Number.MAX_SAFE_INTEGER;
const LAST = "last";
export const HISTORY: HistoryRoute = {
  place: "history",
  q: "",
  by: "day",
  measure: "score",
  before: "",
  after: "",
  baseline: false,
};
export const FAILURES: FailuresRoute = { place: "failures", q: "", scorer: "", cause: "" };

/** Route of a run that was not opened from a list. */
export const runRoute = (id: string): RunRoute => ({
  place: "run",
  id,
  q: "",
  sort: NEWEST_FIRST,
  top: 0,
  step: null,
  find: "",
  view: "steps",
  queue: null,
});

/** The list that a run was opened from; of a review queue, the one that its runs were chosen from. */
export const listOf = ({ q, from, sort, top }: RunRoute): RunsRoute => ({
  ...RUNS,
  q: from ?? q,
  sort,
  top,
});

const COLUMNS: Record<Exclude<Column, OwnName>, true> = {
  path: true,
  task: true,
  system: true,
  model: true,
  variation: true,
  repeat: true,
  state: true,
  turns: true,
  tool_calls: true,
  tokens: true,
  cost: true,
  seconds: true,
  size: true,
  modified: true,
  score: true,
  stored: true,
};
const FORMATS: Record<ReportFormat, true> = {
  html: true,
  markdown: true,
  csv: true,
  json: true,
  jsonl: true,
  junit: true,
  stabletoolbench: true,
  azure: true,
  parquet: true,
};
const isFormat = (word: string): word is ReportFormat => Object.hasOwn(FORMATS, word);
const isColumn = (word: string): word is Column => Object.hasOwn(COLUMNS, word) || isOwnName(word);

const SETS: Record<SetsBy, true> = {
  day: true,
  week: true,
  month: true,
  folder: true,
  file: true,
  commit: true,
  tag: true,
};
const isSets = (word: string): word is SetsBy => Object.hasOwn(SETS, word);
const MEASURES: Record<TrendMeasure, true> = {
  score: true,
  passes: true,
  cost: true,
  seconds: true,
};
const isMeasure = (word: string): word is TrendMeasure => Object.hasOwn(MEASURES, word);

export function parseSort(word: string | null): Sort {
  const descending = word?.startsWith("-") ?? false;
  const column = word?.slice(descending ? 1 : 0) ?? "";
  return isColumn(column) ? { column, descending } : NEWEST_FIRST;
}
export const formatSort = (sort: Sort): string => (sort.descending ? "-" : "") + sort.column;

const isShown = (word: string | null): RunShows =>
  word === "answer" || word === "tree" ? word : "steps";
const wholeNumber = (word: string | null): number | null =>
  word !== null && /^\d{1,9}$/.test(word) ? Number(word) : null;

/** Index of the step that an address names by its number. */
function parseStep(word: string | null): number | null {
  if (word === LAST) return LAST_STEP;
  const number = wholeNumber(word);
  return number === null || number === 0 ? null : number - 1;
}
const formatStep = (step: number): string => (step === LAST_STEP ? LAST : String(step + 1));

function unescaped(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

function readReport(asked: URLSearchParams, q: string): ReportRoute {
  const format = asked.get("format") ?? "";
  const word = (key: string) => asked.get(key) ?? "";
  const sets = word("sets");
  return {
    place: "report",
    q,
    format: isFormat(format) ? format : REPORT.format,
    scorer: word("scorer"),
    baseline: word("baseline"),
    title: word("title"),
    runs: !asked.has("short"),
    published: asked.has("published"),
    sets: isSets(sets) ? sets : REPORT.sets,
    redact: asked.has("redact") ? asked.get("redact") !== "no" : null,
  };
}

function readHistory(asked: URLSearchParams, q: string): HistoryRoute {
  const word = (key: string) => asked.get(key) ?? "";
  const [by, measure] = [word("by"), word("measure")];
  return {
    place: "history",
    q,
    by: isSets(by) ? by : HISTORY.by,
    measure: isMeasure(measure) ? measure : HISTORY.measure,
    before: word("before"),
    after: word("after"),
    baseline: asked.has("baseline"),
  };
}

/** Parses an address; unknown ones, and `#/?q=…` of older versions, lead to the list of runs. */
export function parse(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s, 2);
  const asked = new URLSearchParams(query);
  const [place, ...rest] = path.split("/");
  const q = asked.get("q") ?? "";
  const sort = parseSort(asked.get("sort"));
  const top = wholeNumber(asked.get("top")) ?? 0;
  const id = unescaped(rest.join("/"));
  if (path === "" && query === "") return HOME;
  if (place === "run" && id !== "")
    return {
      place,
      id,
      q,
      sort,
      top,
      step: parseStep(asked.get("step")),
      find: asked.get("find") ?? "",
      view: isShown(asked.get("view")),
      queue: parseOrder(asked.get("queue")),
      ...(asked.has("from") ? { from: asked.get("from") ?? "" } : {}),
    };
  if (place === "launch")
    return id === "" ? { place, draft: readDraft(asked) } : { place: "progress", id, top };
  if (place === "overview")
    return {
      place,
      q,
      scorer: asked.get("scorer") ?? "",
      folded: asked.has("folded"),
      except: asked.getAll("task"),
      missing: asked.has("missing"),
      byModel: asked.get("columns") === "model",
      byTag: asked.get("rows") === "tag",
      top,
    };
  if (place === "compare")
    return {
      place,
      ids: asked.getAll("run"),
      row: wholeNumber(asked.get("row")),
      ...(asked.get("first") === "passing" ? { passing: true as const } : {}),
    };
  if (place === "report") return readReport(asked, q);
  if (place === "tasks")
    return {
      place,
      q,
      set: asked.get("set") ?? "",
      category: asked.get("category") ?? "",
      task: asked.get("task") ?? "",
      top,
    };
  if (place === "evaluate")
    return id === ""
      ? { place, data: asked.get("data") ?? "", by: asked.getAll("by"), rows: asked.get("rows") }
      : { place: "evaluation", id };
  if (place === "trust")
    return { place, q, first: asked.get("first") ?? "", second: asked.get("second") ?? "" };
  if (place === "failures")
    return { place, q, scorer: asked.get("scorer") ?? "", cause: asked.get("cause") ?? "" };
  if (place === "history") return readHistory(asked, q);
  if (place === "problems") return { place, top };
  if (place === "start" || place === "settings" || place === "guide") return { place };
  return { place: "runs", q, sort, top, single: place === "runs" && asked.has("single") };
}

/** Places with an id, and the prefix of their addresses. */
const WITHIN: Partial<Record<Route["place"], string>> = {
  run: "run",
  progress: "launch",
  evaluation: "evaluate",
};

/** The address of a route; defaults are left out. */
export function format(route: Route): string {
  if (route.place === "home") return "#/";
  const asked = new URLSearchParams();
  const put = (key: string, value: string | number | null) => {
    if (value !== null && value !== "" && value !== 0) asked.set(key, String(value));
  };
  if (route.place === "runs" || route.place === "run") {
    put("q", route.q);
    const sort = formatSort(route.sort);
    if (sort !== formatSort(NEWEST_FIRST)) put("sort", sort);
  }
  if (route.place === "runs" && route.single) asked.set("single", "");
  if (route.place === "run") {
    if (route.step !== null) asked.set("step", formatStep(route.step));
    put("find", route.find);
    if (route.view !== "steps") asked.set("view", route.view);
    if (route.queue !== null) asked.set("queue", formatOrder(route.queue));
    if (route.from !== undefined) asked.set("from", route.from);
  }
  if (route.place === "overview") {
    put("q", route.q);
    put("scorer", route.scorer);
    if (route.folded) asked.set("folded", "");
    for (const task of route.except) asked.append("task", task);
    if (route.missing) asked.set("missing", "");
    if (route.byModel) asked.set("columns", "model");
    if (route.byTag) asked.set("rows", "tag");
  }
  if (route.place === "compare") {
    for (const id of route.ids) asked.append("run", id);
    if (route.row !== null) asked.set("row", String(route.row));
    if (route.passing) asked.set("first", "passing");
  }
  if (route.place === "report") {
    put("q", route.q);
    if (route.format !== REPORT.format) asked.set("format", route.format);
    put("scorer", route.scorer);
    put("baseline", route.baseline);
    put("title", route.title);
    if (!route.runs) asked.set("short", "");
    if (route.published) asked.set("published", "");
    if (route.sets !== REPORT.sets) asked.set("sets", route.sets);
    if (route.redact !== null) asked.set("redact", route.redact ? "yes" : "no");
  }
  if (route.place === "tasks") {
    put("q", route.q);
    put("set", route.set);
    put("category", route.category);
    put("task", route.task);
  }
  if (route.place === "evaluate") {
    put("data", route.data);
    for (const kind of route.by) asked.append("by", kind);
    if (route.rows !== null) asked.set("rows", route.rows);
  }
  if (route.place === "trust") {
    put("q", route.q);
    put("first", route.first);
    put("second", route.second);
  }
  if (route.place === "failures") {
    put("q", route.q);
    put("scorer", route.scorer);
    put("cause", route.cause);
  }
  if (route.place === "history") {
    put("q", route.q);
    if (route.by !== HISTORY.by) asked.set("by", route.by);
    if (route.measure !== HISTORY.measure) asked.set("measure", route.measure);
    put("before", route.before);
    put("after", route.after);
    if (route.baseline) asked.set("baseline", "");
  }
  if (route.place === "launch") writeDraft(route.draft, asked);
  if ("top" in route) put("top", route.top);
  const path =
    route.place in WITHIN && "id" in route
      ? `${WITHIN[route.place] ?? ""}/${encodeURIComponent(route.id)}`
      : route.place;
  // A comma needs no escape here and is easier to read.
  const query = asked.toString().replaceAll("%2C", ",");
  return `#/${path}${query === "" ? "" : `?${query}`}`;
}

/** The address of the page without its state: `#/run/ID`. */
export const pageNow = (): string => location.hash.split("?", 1)[0] ?? "";

const RETRY_MS = 1_000;

/** The address of this page, as reactive state. */
export class Router {
  #update: () => void = () => undefined;
  #hash: string | null = null;
  #route: Route = HOME;
  #retry: ReturnType<typeof setTimeout> | undefined;
  readonly #subscribe = createSubscriber((update) => {
    this.#update = update;
    window.addEventListener("hashchange", update);
    return () => window.removeEventListener("hashchange", update);
  });

  get current(): Route {
    this.#subscribe();
    if (this.#hash !== location.hash) {
      this.#hash = location.hash;
      this.#route = parse(location.hash);
    }
    return this.#route;
  }

  /** Navigates with a history entry. */
  go(route: Route): void {
    clearTimeout(this.#retry);
    if (format(route) === (location.hash || format(HOME))) return;
    history.pushState(null, "", format(route));
    this.#update();
  }

  /** Changes the address without a history entry. */
  replace(route: Route): void {
    clearTimeout(this.#retry);
    try {
      history.replaceState(history.state, "", format(route));
      this.#update();
    } catch {
      // Some browsers limit the number of changes, such as a hundred in 30 s; the last one is
      // retried.
      this.#retry = setTimeout(() => this.replace(route), RETRY_MS);
    }
  }

  back(otherwise: Route): void {
    if (history.length > 1) history.back();
    else this.go(otherwise);
  }

  /** The full address, for copying. */
  link(route: Route): string {
    return new URL(format(route), location.href).href;
  }
}

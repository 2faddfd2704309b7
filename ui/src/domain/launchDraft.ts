// Pure. Content of the launch form, as address parameters and as a request.
import type { LaunchOptions, LaunchRequest, RunRow } from "../generated";

/** A cell of the overview: the runs of a task or of one variation. */
export interface DraftCell {
  task: string;
  /** From 0; null means all. */
  variation: number | null;
  system: string;
  model: string;
}

export interface LaunchDraft {
  /** Only these runs; the matrix is ignored. */
  runs: readonly string[];
  /** Only the runs of these cells; the matrix is ignored. */
  cells: readonly DraftCell[];
  /** Filters the task list on screen; does not affect the launch. */
  find: string;
  /** Empty means all. */
  tasks: readonly string[];
  systems: readonly string[];
  models: readonly string[];
  /** From 0; empty means all. */
  variations: readonly number[];
  repeats: number | null;
  startOver: boolean;
  anyway: boolean;
  concurrency: number | null;
  maxCost: number | null;
  /** Search strategy and offered functions; empty means the configured ones. */
  method: string;
  offer: string;
  steps: number | null;
  queries: number | null;
  /** Model that plays simulated users; empty means the configured one. */
  userModel: string;
}

export const BLANK_DRAFT: LaunchDraft = {
  runs: [],
  cells: [],
  find: "",
  tasks: [],
  systems: [],
  models: [],
  variations: [],
  repeats: null,
  startOver: false,
  anyway: false,
  concurrency: null,
  maxCost: null,
  method: "",
  offer: "",
  steps: null,
  queries: null,
  userModel: "",
};

export const MAX_REPEATS = 1_000;
export const MAX_CONCURRENCY = 1_000;
export const MAX_STEPS = 1_000_000;

const unique = <T>(list: readonly T[]): T[] => [...new Set(list)];

/** Parses a whole number from 1 to `most`, else null. */
export function parseCount(word: string | null, most: number): number | null {
  if (word === null || !/^\s*\d{1,7}\s*$/.test(word)) return null;
  const value = Number(word);
  return value >= 1 && value <= most ? value : null;
}
/** Parses a positive amount of dollars, else null. */
export function parseDollars(word: string | null): number | null {
  if (word === null || !/^\s*(\d{1,7}(\.\d{0,6})?|\.\d{1,6})\s*$/.test(word)) return null;
  const value = Number(word);
  return value > 0 ? value : null;
}

// Fields are separated by bars; the task comes last and may contain bars.
const escapeCell = (word: string) =>
  word.replace(/[%|]/g, (sign) => (sign === "|" ? "%7C" : "%25"));
const unescapeCell = (word: string) =>
  word.replace(/%7C|%25/g, (code) => (code === "%7C" ? "|" : "%"));
const writeCell = ({ task, variation, system, model }: DraftCell) =>
  [escapeCell(system), escapeCell(model), variation ?? "", task].join("|");
function readCell(word: string): DraftCell[] {
  const [system = "", model = "", variation = "", ...task] = word.split("|");
  const name = task.join("|");
  if (system === "" || model === "" || name === "" || !/^\d{0,6}$/.test(variation)) return [];
  return [
    {
      task: name,
      variation: variation === "" ? null : Number(variation),
      system: unescapeCell(system),
      model: unescapeCell(model),
    },
  ];
}

/** Parses an address and ignores invalid values. */
export function readDraft(asked: URLSearchParams): LaunchDraft {
  const commas = (key: string) => (asked.get(key) ?? "").split(",").filter((word) => word !== "");
  return {
    runs: unique(commas("runs")),
    cells: unique(asked.getAll("cell")).flatMap(readCell),
    find: asked.get("find") ?? "",
    tasks: unique(asked.getAll("task")),
    systems: unique(asked.getAll("system")),
    models: unique(asked.getAll("model")),
    variations: unique(
      commas("variation")
        .filter((word) => /^\d{1,6}$/.test(word))
        .map(Number),
    ),
    repeats: parseCount(asked.get("repeat"), MAX_REPEATS),
    startOver: asked.get("over") === "1",
    anyway: asked.get("anyway") === "1",
    concurrency: parseCount(asked.get("at"), MAX_CONCURRENCY),
    maxCost: parseDollars(asked.get("max")),
    method: asked.get("method") ?? "",
    offer: asked.get("offer") ?? "",
    steps: parseCount(asked.get("steps"), MAX_STEPS),
    queries: parseCount(asked.get("queries"), MAX_STEPS),
    userModel: asked.get("user") ?? "",
  };
}

/** Writes a draft to an address and leaves out defaults. */
export function writeDraft(draft: LaunchDraft, asked: URLSearchParams): void {
  const put = (key: string, value: string | number | null) => {
    if (value !== null && value !== "") asked.set(key, String(value));
  };
  put("runs", draft.runs.join(","));
  for (const cell of draft.cells) asked.append("cell", writeCell(cell));
  put("find", draft.find);
  for (const task of draft.tasks) asked.append("task", task);
  for (const system of draft.systems) asked.append("system", system);
  for (const model of draft.models) asked.append("model", model);
  put("variation", draft.variations.join(","));
  put("repeat", draft.repeats);
  put("over", draft.startOver ? 1 : null);
  put("anyway", draft.anyway ? 1 : null);
  put("at", draft.concurrency);
  put("max", draft.maxCost);
  put("method", draft.method);
  put("offer", draft.offer);
  put("steps", draft.steps);
  put("queries", draft.queries);
  put("user", draft.userModel);
}

/** Draft of exactly these runs, with defaults for the rest. */
export const draftForRuns = (
  runs: readonly string[],
  change: Partial<LaunchDraft> = {},
): LaunchDraft => ({
  ...BLANK_DRAFT,
  ...change,
  runs,
});

/**
 * Draft to run these runs again. Where all have ended, it starts over: there would be nothing to do
 * otherwise. Unfinished ones are continued.
 */
export const draftToRerun = (runs: readonly Pick<RunRow, "id" | "state">[]): LaunchDraft =>
  draftForRuns(
    runs.map((run) => run.id),
    { startOver: runs.every(({ state }) => state === "answered" || state === "no_answer") },
  );

/** True if the draft lists its runs or cells. */
export const namesRuns = (draft: LaunchDraft): boolean =>
  draft.runs.length > 0 || draft.cells.length > 0;

/** The next missing choice as a sentence; null if the draft is complete. */
export function nextMissingChoice(draft: LaunchDraft): string | null {
  if (namesRuns(draft)) return null;
  if (draft.systems.length === 0 && draft.models.length === 0)
    return "Choose a system and a model.";
  if (draft.systems.length === 0) return "Choose a system.";
  return draft.models.length === 0 ? "Choose a model." : null;
}

/**
 * The request of a draft. Includes the spend limit of the workspace file if none was entered, so
 * that the form shows the limit in effect.
 */
export function launchRequest(
  draft: LaunchDraft,
  options: Pick<LaunchOptions, "max_cost">,
): LaunchRequest {
  const matrix = !namesRuns(draft);
  return {
    runs: [...draft.runs],
    // Listed runs take precedence over cells.
    cells: draft.runs.length > 0 ? [] : [...draft.cells],
    tasks: matrix ? [...draft.tasks] : [],
    systems: matrix ? [...draft.systems] : [],
    models: matrix ? [...draft.models] : [],
    variations: matrix ? [...draft.variations].sort((a, b) => a - b) : [],
    repeats: matrix ? draft.repeats : null,
    start_over: draft.startOver,
    anyway: draft.anyway,
    concurrency: draft.concurrency,
    max_cost: draft.maxCost ?? options.max_cost,
    shard: null,
    user_model: draft.userModel || null,
    method: draft.method || null,
    offer: draft.offer || null,
    steps: draft.steps,
    queries: draft.queries,
  };
}

/** Preselects systems and models that are the only choice. */
export function withSoleChoices(draft: LaunchDraft, options: LaunchOptions): LaunchDraft {
  if (namesRuns(draft)) return draft;
  const sole = (list: LaunchOptions["models"]) => {
    const usable = list.filter((choice) => choice.why_not === null);
    return usable.length === 1 ? usable.map((choice) => choice.name) : [];
  };
  return {
    ...draft,
    systems: draft.systems.length > 0 ? draft.systems : sole(options.systems),
    models: draft.models.length > 0 ? draft.models : sole(options.models),
  };
}

/** The list with the item toggled, in order of selection. */
export const toggled = <T>(list: readonly T[], one: T): T[] =>
  list.includes(one) ? list.filter((other) => other !== one) : [...list, one];

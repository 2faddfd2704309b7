// What the launch sheet is filled with, as words in the address and as a request. Pure.
import type { LaunchOptions } from "../generated/LaunchOptions";
import type { LaunchRequest } from "../generated/LaunchRequest";

/** A cell of the overview: the runs of a task or of one of its variations. */
export interface DraftCell {
  task: string;
  /** From 0; null means all. */
  variation: number | null;
  system: string;
  model: string;
}

export interface Draft {
  /** Just these runs; then the matrix is not used. */
  runs: readonly string[];
  /** Just the runs of these cells; then the matrix is not used either. */
  cells: readonly DraftCell[];
  /** Narrows the list of tasks on screen; says nothing about what is run. */
  find: string;
  /** None means all. */
  tasks: readonly string[];
  systems: readonly string[];
  models: readonly string[];
  /** From 0; none means all. */
  variations: readonly number[];
  repeats: number | null;
  startOver: boolean;
  anyway: boolean;
  concurrency: number | null;
  maxCost: number | null;
  /** How runs look for an answer, and which functions they are offered; empty means as they are set up. */
  method: string;
  offer: string;
  steps: number | null;
  queries: number | null;
}

export const BLANK: Draft = {
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
};

export const MOST_REPEATS = 1_000;
export const MOST_AT_ONCE = 1_000;
export const MOST_STEPS = 1_000_000;

const once = <T>(list: readonly T[]): T[] => [...new Set(list)];

/** A whole number from 1, or nothing. */
export function wholeFrom1(word: string | null, most: number): number | null {
  if (word === null || !/^\s*\d{1,7}\s*$/.test(word)) return null;
  const value = Number(word);
  return value >= 1 && value <= most ? value : null;
}
/** Dollars: more than nothing. */
export function dollars(word: string | null): number | null {
  if (word === null || !/^\s*(\d{1,7}(\.\d{0,6})?|\.\d{1,6})\s*$/.test(word)) return null;
  const value = Number(word);
  return value > 0 ? value : null;
}

// A bar between the parts; the task comes last, and may hold bars itself.
const inCell = (word: string) => word.replace(/[%|]/g, (sign) => (sign === "|" ? "%7C" : "%25"));
const outOfCell = (word: string) =>
  word.replace(/%7C|%25/g, (code) => (code === "%7C" ? "|" : "%"));
const writeCell = ({ task, variation, system, model }: DraftCell) =>
  [inCell(system), inCell(model), variation ?? "", task].join("|");
function readCell(word: string): DraftCell[] {
  const [system = "", model = "", variation = "", ...task] = word.split("|");
  const name = task.join("|");
  if (system === "" || model === "" || name === "" || !/^\d{0,6}$/.test(variation)) return [];
  return [
    {
      task: name,
      variation: variation === "" ? null : Number(variation),
      system: outOfCell(system),
      model: outOfCell(model),
    },
  ];
}

/** Reads what an address says; what makes no sense is left out. */
export function readDraft(asked: URLSearchParams): Draft {
  const commas = (key: string) => (asked.get(key) ?? "").split(",").filter((word) => word !== "");
  return {
    runs: once(commas("runs")),
    cells: once(asked.getAll("cell")).flatMap(readCell),
    find: asked.get("find") ?? "",
    tasks: once(asked.getAll("task")),
    systems: once(asked.getAll("system")),
    models: once(asked.getAll("model")),
    variations: once(
      commas("variation")
        .filter((word) => /^\d{1,6}$/.test(word))
        .map(Number),
    ),
    repeats: wholeFrom1(asked.get("repeat"), MOST_REPEATS),
    startOver: asked.get("over") === "1",
    anyway: asked.get("anyway") === "1",
    concurrency: wholeFrom1(asked.get("at"), MOST_AT_ONCE),
    maxCost: dollars(asked.get("max")),
    method: asked.get("method") ?? "",
    offer: asked.get("offer") ?? "",
    steps: wholeFrom1(asked.get("steps"), MOST_STEPS),
    queries: wholeFrom1(asked.get("queries"), MOST_STEPS),
  };
}

/** The other way; what is as usual is left out. */
export function writeDraft(draft: Draft, asked: URLSearchParams): void {
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
}

/** Just these runs, with everything else as usual. */
export const draftOf = (runs: readonly string[], change: Partial<Draft> = {}): Draft => ({
  ...BLANK,
  ...change,
  runs,
});

/** Whether it names what is to be run, one by one. */
export const isNamed = (draft: Draft): boolean => draft.runs.length > 0 || draft.cells.length > 0;

/** Why a draft is no request yet, as the next thing to choose; null when it is one. */
export function lacking(draft: Draft): string | null {
  if (isNamed(draft)) return null;
  if (draft.systems.length === 0 && draft.models.length === 0)
    return "Choose a system and a model.";
  if (draft.systems.length === 0) return "Choose a system.";
  return draft.models.length === 0 ? "Choose a model." : null;
}

/**
 * What is sent. The limit of the workspace file is sent along when none was written here, so that what the sheet shows is what
 * holds.
 */
export function requestOf(draft: Draft, options: Pick<LaunchOptions, "max_cost">): LaunchRequest {
  const matrix = !isNamed(draft);
  return {
    runs: [...draft.runs],
    // Runs that are named go before cells.
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
    method: draft.method || null,
    offer: draft.offer || null,
    steps: draft.steps,
    queries: draft.queries,
  };
}

/** A sheet nobody touched is filled with what there is no choice about. */
export function withSoleChoices(draft: Draft, options: LaunchOptions): Draft {
  if (isNamed(draft)) return draft;
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

/** In or out of a list, which keeps the order it was chosen in. */
export const flipped = <T>(list: readonly T[], one: T): T[] =>
  list.includes(one) ? list.filter((other) => other !== one) : [...list, one];

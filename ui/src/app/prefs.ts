// Display preferences, stored by the browser. When storage is missing or full, they last until the
// window closes.
import { createSubscriber } from "svelte/reactivity";
import { isOwnName } from "../domain/names";
import { readViews, type SavedViews } from "./views";

export type Theme = "system" | "light" | "dark";
export interface Choices {
  theme: Theme;
  /** Pixels. */
  textSize: number;
  /** Changed column widths, by column. */
  widths: Record<string, number>;
  /** Columns whose visibility differs from the default, in every folder. */
  shown: Record<string, boolean>;
  /** Visibility of columns that are named after what the files of a folder hold, by folder. */
  own: Record<string, Record<string, boolean>>;
  /** Layout of two answers side by side, where a table is possible. */
  answers: "table" | "lines";
  /** True if equal parts are hidden; null decides by the amount. */
  folded: boolean | null;
  /** What the heights in the outline of a run stand for, where it is known; null decides. */
  outline: OutlineMeasure | null;
  /** Parts of the overview that are open. */
  leaderboard: boolean;
  plots: boolean;
  /** True if a verdict in a review queue leads to the next run. */
  advance: boolean;
  /** True if a review queue hides scores and the reviews by others. */
  blind: boolean;
  /** Name under which reviews are written; empty takes that of the engine. */
  author: string;
  /** Saved views of the list of runs, by folder. */
  views: SavedViews;
}
export type OutlineMeasure = "tokens" | "time" | "steps";

export const TEXT_SIZES = [11, 12, 13, 14, 16, 18, 20, 22, 24, 26] as const;
const MEASURES: readonly OutlineMeasure[] = ["tokens", "time", "steps"];
const LONGEST_NAME = 100;
const MOST_FOLDERS = 50;
const EVERY_FOLDER = "";
const KEY = "touchstone.look";
const USUAL: Choices = {
  theme: "system",
  textSize: 13,
  widths: {},
  shown: {},
  own: {},
  answers: "table",
  folded: null,
  outline: null,
  leaderboard: true,
  plots: false,
  advance: true,
  blind: true,
  author: "",
  views: {},
};

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const only = <T>(value: unknown, fits: (one: unknown) => one is T): Record<string, T> =>
  isRecord(value)
    ? Object.fromEntries(Object.entries(value).filter((pair): pair is [string, T] => fits(pair[1])))
    : {};

const isFlag = (value: unknown): value is boolean => typeof value === "boolean";
/** Picks the choices of columns for one folder (`own`), or those for all folders. */
const columnsOf = (shown: Record<string, boolean>, own: boolean) =>
  Object.fromEntries(Object.entries(shown).filter(([id]) => isOwnName(id) === own));
/** Sets the columns of a folder. It comes last, because the first ones are forgotten first. */
function withOwn(all: Choices["own"], folder: string, columns: Record<string, boolean>) {
  const others = Object.entries(all).filter(([id]) => id !== folder);
  const isUsual = Object.keys(columns).length === 0 && all[EVERY_FOLDER] === undefined;
  const own = isUsual ? [] : [[folder, columns] as const];
  return Object.fromEntries([...others, ...own]);
}
/** Reads columns that earlier versions kept for all folders. They apply where a folder has none. */
function readOlder(shown: unknown): Choices["own"] {
  const columns = columnsOf(only(shown, isFlag), true);
  return Object.keys(columns).length === 0 ? {} : { [EVERY_FOLDER]: columns };
}
function readOwn(kept: unknown): Choices["own"] {
  const folders = Object.entries(only(kept, isRecord)).slice(-MOST_FOLDERS);
  return Object.fromEntries(
    folders.map(([folder, shown]) => [folder, columnsOf(only(shown, isFlag), true)]),
  );
}

/** Parses stored preferences and ignores invalid values. */
export function read(text: string | null): Choices {
  let kept: unknown;
  try {
    kept = JSON.parse(text ?? "null");
  } catch {
    return USUAL;
  }
  if (!isRecord(kept)) return USUAL;
  return {
    theme: kept["theme"] === "light" || kept["theme"] === "dark" ? kept["theme"] : "system",
    textSize: TEXT_SIZES.find((size) => size === kept["textSize"]) ?? USUAL.textSize,
    widths: only(
      kept["widths"],
      (one): one is number => typeof one === "number" && one >= 24 && one <= 2_000,
    ),
    shown: columnsOf(only(kept["shown"], isFlag), false),
    own: { ...readOlder(kept["shown"]), ...readOwn(kept["own"]) },
    answers: kept["answers"] === "lines" ? "lines" : "table",
    folded: typeof kept["folded"] === "boolean" ? kept["folded"] : null,
    outline: MEASURES.find((measure) => measure === kept["outline"]) ?? null,
    leaderboard: kept["leaderboard"] !== false,
    plots: kept["plots"] === true,
    advance: kept["advance"] !== false,
    blind: kept["blind"] !== false,
    author: typeof kept["author"] === "string" ? kept["author"].slice(0, LONGEST_NAME) : "",
    views: readViews(kept["views"]),
  };
}

export class Prefs {
  #choices: Choices;
  /** False if the latest change is only in memory. */
  #isStored = true;
  #update: () => void = () => undefined;
  readonly #subscribe = createSubscriber((update) => {
    this.#update = update;
  });

  constructor() {
    let kept: string | null = null;
    try {
      kept = localStorage.getItem(KEY);
    } catch {
      // Storage is disabled.
    }
    this.#choices = read(kept);
    this.#apply();
  }

  get current(): Choices {
    this.#subscribe();
    return this.#choices;
  }

  /** Changes what is stored now, which another window may have written meanwhile. */
  set(change: Partial<Choices> | ((now: Choices) => Partial<Choices>)): void {
    const now = this.#stored() ?? this.#choices;
    this.#choices = { ...now, ...(typeof change === "function" ? change(now) : change) };
    try {
      localStorage.setItem(KEY, JSON.stringify(this.#choices));
      this.#isStored = true;
    } catch {
      // Storage is full or disabled.
      this.#isStored = false;
    }
    this.#apply();
    this.#update();
  }

  /** The stored choices; null if there are none, or if the latest change could not be stored. */
  #stored(): Choices | null {
    try {
      const kept = this.#isStored ? localStorage.getItem(KEY) : null;
      return kept === null ? null : read(kept);
    } catch {
      return null;
    }
  }

  /** Name under which reviews are written; null for that of the engine. */
  get author(): string | null {
    const name = this.current.author.trim();
    return name === "" ? null : name;
  }

  /** Columns of the list of runs whose visibility in a folder differs from the default. */
  columns(folder: string): Record<string, boolean> {
    const { shown, own } = this.current;
    return { ...shown, ...(own[folder] ?? own[EVERY_FOLDER]) };
  }

  setColumns(folder: string, shown: Record<string, boolean>): void {
    this.set(({ own }) => ({
      shown: columnsOf(shown, false),
      own: withOwn(own, folder, columnsOf(shown, true)),
    }));
  }

  /** One size larger (1), smaller (-1), or the default (0). */
  resize(step: -1 | 0 | 1): void {
    const at = TEXT_SIZES.findIndex((size) => size === this.#choices.textSize);
    this.set({
      textSize: step === 0 ? USUAL.textSize : (TEXT_SIZES[at + step] ?? this.#choices.textSize),
    });
  }

  #apply(): void {
    const root = document.documentElement;
    root.style.setProperty("--text-size", `${this.#choices.textSize}px`);
    if (this.#choices.theme === "system") delete root.dataset["theme"];
    else root.dataset["theme"] = this.#choices.theme;
  }
}

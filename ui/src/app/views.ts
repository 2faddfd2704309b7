// Pure. Saved views of the list of runs: filter, order and columns under a name. Those of the
// workspace file are for everybody, those of a person lie in the preferences, by folder.
import type { ListView } from "../generated";
import { formatSort, parseSort, RUNS, type RunsRoute } from "./route";

export interface SavedView {
  name: string;
  q: string;
  sort: string;
  /** Columns whose visibility differs from the default; null if the view has no columns. */
  shown: Record<string, boolean> | null;
}
export type SavedViews = Record<string, SavedView[]>;

export const LONGEST_VIEW_NAME = 60;
const MOST_VIEWS = 100;
const MOST_FOLDERS = 50;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function readView(value: unknown): SavedView | null {
  if (!isRecord(value)) return null;
  const { name, q, sort, shown } = value;
  if (typeof name !== "string" || name === "" || typeof q !== "string") return null;
  const flags = isRecord(shown)
    ? Object.entries(shown).filter(
        (pair): pair is [string, boolean] => typeof pair[1] === "boolean",
      )
    : null;
  return {
    name: name.slice(0, LONGEST_VIEW_NAME),
    q,
    sort: typeof sort === "string" ? sort : formatSort(RUNS.sort),
    shown: flags && Object.fromEntries(flags),
  };
}

/** Parses stored views and ignores invalid ones. */
export function readViews(kept: unknown): SavedViews {
  if (!isRecord(kept)) return {};
  const folders = Object.entries(kept).slice(-MOST_FOLDERS);
  return Object.fromEntries(
    folders.map(([folder, views]) => [
      folder,
      (Array.isArray(views) ? (views as unknown[]) : [])
        .map(readView)
        .filter((view) => view !== null)
        .slice(0, MOST_VIEWS),
    ]),
  );
}

/** The views with this one, in place of one with its name. */
export function withView(views: SavedViews, folder: string, view: SavedView): SavedViews {
  // The folder comes last, because the first ones are forgotten first.
  const { [folder]: own = [], ...folders } = views;
  const others = own.filter((one) => one.name !== view.name);
  return { ...folders, [folder]: [...others, view].slice(-MOST_VIEWS) };
}

export const withoutView = (views: SavedViews, folder: string, name: string): SavedViews => ({
  ...views,
  [folder]: (views[folder] ?? []).filter((one) => one.name !== name),
});

/** A view of the workspace file. Its columns are exactly those that it names, if it names any. */
export function teamView(view: ListView, columns: readonly string[]): SavedView {
  const named = view.columns;
  return {
    name: view.name,
    q: view.filter,
    sort: formatSort(parseSort(view.sort)),
    shown:
      named === null
        ? null
        : Object.fromEntries([
            ...columns.map((column) => [column, named.includes(column)] as const),
            // Columns of one's own, such as a part of the answer.
            ...named.filter((column) => !columns.includes(column)).map((id) => [id, true] as const),
          ]),
  };
}

/** The list that a view shows. */
export const viewRoute = (view: SavedView): RunsRoute => ({
  ...RUNS,
  q: view.q,
  sort: parseSort(view.sort),
});

/** True if the list shows this view. */
export const isShownView = (view: SavedView, { q, sort }: RunsRoute): boolean =>
  view.q === q && formatSort(parseSort(view.sort)) === formatSort(sort);

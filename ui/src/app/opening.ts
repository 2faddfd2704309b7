// Where the page goes after paths were opened (pure).
import {
  HOME,
  OVERVIEW,
  RUNS,
  runRoute,
  type HomeRoute,
  type OverviewRoute,
  type Route,
  type RunsRoute,
} from "./route";
import type { Opened, Overview, RunPage, Status } from "../generated";

/** The list of the files that were opened, or the first place of a folder. */
export const openedRoute = (opened: Opened): RunsRoute | HomeRoute =>
  opened.filter === "" ? HOME : { ...RUNS, q: opened.filter, single: true };

/**
 * What a folder without an address shows, and whether that is final: the overview if a run fits
 * there, else the list. Runs that do not fit are listed while further files are read.
 */
export function homeRoute(
  status: Status,
  head: Overview | null,
): { shows: RunsRoute | OverviewRoute; final: boolean } {
  if (head !== null && head.columns.length > 0) return { shows: OVERVIEW, final: true };
  const { kind } = status.phase;
  const isRead = kind === "ready" || kind === "failed";
  const isNew = kind === "failed" || (head !== null && head.generation >= status.generation);
  if (isRead && (status.counts.runs === 0 || isNew)) return { shows: RUNS, final: true };
  return { shows: head !== null && head.runs > 0 ? RUNS : OVERVIEW, final: false };
}

/** Shows files that are no runs, each with the reason. */
const NO_RUNS = " state:other";

/**
 * Where a list with `single` leads once all files are read: to its only run, to the files that are
 * no runs if there is no run, or to the list itself. Null while the answer is not known.
 */
export function singleRoute(
  route: RunsRoute,
  status: Status | undefined,
  page: RunPage | undefined,
): Route | null {
  if (!route.single || status === undefined || page === undefined) return null;
  if (status.phase.kind === "closed" || status.phase.kind === "indexing") return null;
  if (page.generation < status.generation) return null;
  const [only] = page.rows;
  if (page.total === 1 && only !== undefined)
    return { ...runRoute(only.id), q: route.q, sort: route.sort };
  const isSecondTry = route.q.endsWith(NO_RUNS);
  if (page.total === 0 && !isSecondTry) return { ...route, q: route.q + NO_RUNS };
  const q = page.total === 0 ? route.q.slice(0, -NO_RUNS.length) : route.q;
  return { ...route, q, single: false };
}

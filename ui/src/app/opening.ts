// Where the page goes after paths were opened (pure).
import { RUNS, runRoute, type Route, type RunsRoute } from "./route";
import type { Opened, RunPage, Status } from "../generated";

/** The list of what was opened. */
export const openedRoute = (opened: Opened): RunsRoute => ({
  ...RUNS,
  q: opened.filter,
  single: opened.filter !== "",
});

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

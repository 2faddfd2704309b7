// Pure. The title of the page: what is shown, where, and in which folder.
import type { ListPosition, RunRow } from "../generated";
import { count } from "../domain/format";
import type { Route } from "./route";
import { runName, variationText } from "../domain/names";
import { visibleLine } from "../components/visible/visible";

const PLACES: Record<Route["place"], string> = {
  home: "",
  start: "Start",
  overview: "Overview",
  runs: "Runs",
  run: "Run",
  compare: "Compare",
  launch: "New launch",
  progress: "Launch",
  report: "Report",
  tasks: "Tasks",
  evaluate: "Evaluate",
  evaluation: "Evaluation",
  trust: "Trust",
  failures: "Failures",
  history: "History",
  problems: "Problems",
  settings: "Settings",
  guide: "Guide",
};

/**
 * Task, variation, repeat, system and model of a run; a run without a task by what it was asked, or
 * else by its path.
 */
function runTitle(row: RunRow): string {
  if (row.task === null) return runName(row);
  const names = [row.task, variationText(row), row.repeat > 1 ? `run ${row.repeat}` : ""];
  const by = [row.system, row.model].filter((name) => name !== null);
  return [names.filter((name) => name !== "").join(" "), ...by].join(" · ");
}

/** In a blind review a run has its place in the queue for a name. */
export const blindTitle = (place: ListPosition | undefined): string =>
  place?.position == null
    ? "Blind review"
    : `Blind review · ${count(place.position + 1)} of ${count(place.total)}`;

/** Browsers cut titles at the end, so what differs most between tabs comes first. */
export function pageTitle(
  route: Route,
  folder: string | null,
  run: RunRow | string | undefined,
): string {
  const filter = "q" in route && route.place !== "run" ? route.q.trim() : "";
  const place = PLACES[route.place] + (filter === "" ? "" : `: ${filter}`);
  const name = typeof run === "object" ? runTitle(run) : run;
  const what = route.place === "run" && name !== undefined ? name : place;
  return [what, folder ?? "", "Touchstone"]
    .filter((part) => part !== "")
    .map((part) => visibleLine(part))
    .join(" – ");
}

// The runs of a launch: which begun, which results to ask for, and what these add up to.
import { quote } from "../../domain/filter";
import { count, fixed } from "../../domain/format";
import type { Backend } from "../../backend/backend";
import type { ShownRun } from "../../app/worklist.svelte";
import type { LaunchRun, LaunchRunState, RunRow } from "../../generated";

/** A filter takes at most this many files. */
export const MAX_FILES = 60;

const ENDED: readonly LaunchRunState[] = ["answered", "no_answer", "error"];

/** Filter of the runs of these files; empty for none or too many. */
export const filesFilter = (paths: readonly string[]): string =>
  paths.length === 0 || paths.length > MAX_FILES ? "" : `file:${paths.map(quote).join(",")}`;

/** Filter of the ended runs among these; empty for none. */
export const endedFilter = (runs: readonly (LaunchRun | undefined)[]): string =>
  filesFilter(
    runs
      .filter((run) => run !== undefined && ENDED.includes(run.state))
      .slice(0, MAX_FILES)
      .map((run) => run?.path ?? ""),
  );

/** Those that have begun, in their order; the others have no file. */
export const begunOf = (runs: readonly LaunchRun[]): ShownRun[] =>
  runs.flatMap(({ run, path, state }) => (state === "waiting" ? [] : [{ id: run, path }]));

/** A launch is read in parts of this size. */
const PART = 500;

/** Reads all runs of a launch, and returns those that have begun. */
export async function allBegun(
  backend: Pick<Backend, "call">,
  id: string,
  total: number,
): Promise<ShownRun[]> {
  const starts = Array.from({ length: Math.ceil(total / PART) }, (_, at) => at * PART);
  const parts = await Promise.all(
    starts.map((offset) => backend.call("launch", { id, span: { offset, limit: PART } })),
  );
  return parts.flatMap(({ runs }) => begunOf(runs));
}

/** Passed runs and mean score of those that are scored; empty if none is. */
export function scoreSummary(rows: readonly RunRow[]): string {
  const scores = rows.flatMap((row) => (row.score === null ? [] : [row.score]));
  if (scores.length === 0) return "";
  const decided = rows.filter((row) => row.passed !== null);
  const passed = decided.filter((row) => row.passed === true).length;
  const mean = scores.reduce((sum, score) => sum + score, 0) / scores.length;
  return [
    decided.length === 0 ? "" : `${count(passed)} of ${count(decided.length)} passed`,
    `mean score ${fixed(mean, 2)}`,
  ]
    .filter((part) => part !== "")
    .join(" · ");
}

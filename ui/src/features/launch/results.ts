// Pure. The results of the runs of a launch: which to ask for, and what they add up to.
import { quote } from "../../domain/filter";
import { count, fixed } from "../../domain/format";
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

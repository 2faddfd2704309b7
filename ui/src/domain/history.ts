// Pure. Trends over sets of runs and what changed between two sets: requests, numbers and words.
import type {
  ChangedMeasure,
  ChangedTask,
  ChangesGroup,
  ChangesRequest,
  ChangesSide,
  Figure,
  GateChange,
  SetsBy,
  TaskOutcome,
  TrendChange,
  TrendMeasure,
  TrendPoint,
  TrendRequest,
  Trends,
} from "../generated";
import { count, counted, fixed, money, seconds } from "./format";
import { scoreText } from "./scores";

interface View {
  q: string;
  by: SetsBy;
  before: string;
  after: string;
}
/** Arguments of the command for the trends. The same for all parts of the page. */
export const historyArgs = ({ q, by }: View): { request: TrendRequest } => ({
  request: { filter: q, scorer: null, by },
});
/** Arguments of the command for the changes between two sets. */
export const changesArgs = (view: View): { request: ChangesRequest } => ({
  request: {
    trend: historyArgs(view).request,
    before: view.before === "" ? null : view.before,
    after: view.after === "" ? null : view.after,
  },
});

/** Ways to group runs. */
export const SETS: readonly { by: SetsBy; title: string }[] = [
  { by: "day", title: "Day" },
  { by: "week", title: "Week" },
  { by: "month", title: "Month" },
  { by: "folder", title: "Folder" },
  { by: "file", title: "File" },
  { by: "commit", title: "Commit" },
  { by: "tag", title: "Tag" },
];

const TIMES = SETS.slice(0, 3);

/** Why runs are in no set. */
const WITHOUT: Record<SetsBy, string> = {
  day: "whose time is not known",
  week: "whose time is not known",
  month: "whose time is not known",
  folder: "in no folder",
  file: "in no file",
  commit: "whose files name no commit",
  tag: "that have no tag, and whose suites have none",
};
export const withoutSet = (by: SetsBy, runs: number): string =>
  `${counted(runs, "run")} ${WITHOUT[by]}`;

/** Measures of the plot. */
export const MEASURES: readonly { measure: TrendMeasure; title: string }[] = [
  { measure: "score", title: "Score" },
  { measure: "passes", title: "Pass rate" },
  { measure: "cost", title: "Cost" },
  { measure: "seconds", title: "Time" },
];

/** The value of a measure at a point; null if it is unknown. */
export function pointFigure(point: TrendPoint, measure: TrendMeasure): Figure | null {
  if (measure === "cost" || measure === "seconds") return point[measure];
  if (measure === "score")
    return (
      point.score && {
        value: point.score.value,
        low: point.score.low,
        high: point.score.high,
        known: point.scored,
        unknown: point.runs - point.scored,
      }
    );
  return (
    point.passes && {
      value: point.passes.rate,
      low: point.passes.low,
      high: point.passes.high,
      known: point.passes.of,
      unknown: point.runs - point.passes.of,
    }
  );
}

const withSign = (text: (value: number) => string, value: number): string =>
  value < 0 ? `−${text(-value)}` : value > 0 ? `+${text(value)}` : text(0);

/** A difference with its interval: `−0.21 (−0.40 to −0.02)`. */
export function differenceText(
  of: { difference: number | null; low: number | null; high: number | null },
  text: (value: number) => string,
): string {
  if (of.difference === null) return "–";
  const interval =
    of.low === null || of.high === null
      ? ""
      : ` (${withSign(text, of.low)} to ${withSign(text, of.high)})`;
  return withSign(text, of.difference) + interval;
}

const otherTasks = (tasks: number): string =>
  `${counted(tasks, "task")} with another text, expected output or scorer`;
/** Says that a new series begins at a set; empty elsewhere. */
export const seriesText = (point: TrendPoint): string =>
  point.new_series === null ? "" : `Not compared before: ${otherTasks(point.new_series)}`;

/**
 * True unless the comparison of scores with the set before rests on nothing. Cost and time of runs
 * without scores are joined all the same.
 */
export const isComparable = ({ change, scored }: TrendPoint, measure: TrendMeasure): boolean =>
  change === null ||
  change.pairs > 0 ||
  (scored === 0 && (measure === "cost" || measure === "seconds"));

/** Systems with several sets of which no two in a row have a task in common. */
export const withoutLines = (groups: Trends["groups"], measure: TrendMeasure): Trends["groups"] =>
  groups.filter(
    ({ points }) => points.length > 1 && !points.slice(1).some((one) => isComparable(one, measure)),
  );
/** Sets by longer times than these, which are more likely to share tasks. */
export const longerSets = (by: SetsBy): readonly { by: SetsBy; title: string }[] =>
  TIMES.slice(TIMES.findIndex((one) => one.by === by) + 1);

/** What the change of a score shows: `worse: −0.21 (−0.40 to −0.02)`. */
export function changeText(change: TrendChange): string {
  if (change.pairs === 0)
    return change.not_comparable === 0
      ? "no task in common"
      : `none comparable: ${otherTasks(change.not_comparable)}`;
  const shown = change.shown === "unclear" ? "no change shown" : change.shown;
  return `${shown}: ${differenceText(change, scoreText)}`;
}

type Amount = "cost" | "seconds";
const AMOUNTS = { cost: money, seconds };
const WORSE = { cost: "dearer", seconds: "slower" };
const BETTER = { cost: "cheaper", seconds: "faster" };

/** What a measure of a system shows: `slower: +3.1 s (+0.4 s to +5.8 s), in 5 of 8`. */
export function measureText(of: ChangedMeasure | null, measure: "score" | Amount): string {
  if (of === null) return "–";
  const [worse, better] =
    measure === "score" ? ["worse", "better"] : [WORSE[measure], BETTER[measure]];
  const shown = of.shown === "worse" ? worse : of.shown === "better" ? better : "no change shown";
  const text = measure === "score" ? scoreText : AMOUNTS[measure];
  const many = of.shown === "better" ? of.better : of.worse;
  const which = of.shown === "unclear" ? `${worse} in ` : "in ";
  return `${shown}: ${differenceText(of, text)}, ${which}${count(many)} of ${count(of.pairs)}`;
}

/** Kinds of changes, in the order of a list: the worst first. */
export const KINDS: readonly { kind: GateChange; title: string; about: string }[] = [
  { kind: "failed", title: "New failure", about: "all repeats passed, and none does now" },
  { kind: "errors", title: "Error now", about: "had a score, and ended in an error" },
  { kind: "not_ended", title: "Not ended", about: "had a score, and has not ended" },
  { kind: "unscored", title: "Not scored", about: "had a score, and has none" },
  { kind: "missing", title: "Fewer runs", about: "there are fewer runs, or none" },
  { kind: "flaky", title: "Flaky", about: "another result, but repeats disagree" },
  { kind: "fixed", title: "Fixed", about: "no repeat passed, and all do now" },
  { kind: "added", title: "New", about: "has a score, and had none" },
  {
    kind: "not_comparable",
    title: "Not compared",
    about: "its text, expected output or scorer changed",
  },
];
const rank = (kind: GateChange): number => KINDS.findIndex((one) => one.kind === kind);

/** Number of tasks with one of these changes. */
export const changed = (group: ChangesGroup, ...kinds: GateChange[]): number =>
  new Set(group.tasks.filter((task) => kinds.includes(task.change)).map((task) => task.name)).size;

export interface ChangeRow {
  group: ChangesGroup;
  task: ChangedTask;
}
/** The changed tasks of all systems, the worst changes first. */
export const changeRows = (groups: readonly ChangesGroup[]): ChangeRow[] =>
  groups
    .flatMap((group) => group.tasks.map((task) => ({ group, task })))
    .sort((one, other) => rank(one.task.change) - rank(other.task.change));

/** Runs of a task: `1 of 3 passed`, or their mean score. */
export function outcomeText(outcome: TaskOutcome | null): string {
  if (outcome === null) return "no run";
  if (outcome.decided > 0)
    return outcome.decided === 1
      ? outcome.passed === 1
        ? "passed"
        : "failed"
      : `${count(outcome.passed)} of ${count(outcome.decided)} passed`;
  if (outcome.score !== null) return scoreText(outcome.score);
  return `${counted(outcome.runs, "run")}, no score`;
}

/** Name of a side with its number of runs. */
export const sideText = (side: ChangesSide): string =>
  `${side.name} (${counted(side.runs, "run")}${side.in_both > 0 ? `, without ${counted(side.in_both, "run")} in both sets` : ""})`;

/** The filter with another task; an empty one means all. */
export function withTask(filter: string, task: string): string {
  const rest = filter.replace(/(^|\s)task:(?:"(?:[^"\\]|\\.)*"|[^\s"])+/g, "$1").trim();
  return [rest, task === "" ? "" : `task:${task}`].filter((part) => part !== "").join(" ");
}
/** The task of a filter, as it is written there; empty if there is none. */
export const taskOf = (filter: string): string =>
  /(?:^|\s)task:((?:"(?:[^"\\]|\\.)*"|[^\s"])+)/.exec(filter)?.[1] ?? "";

/** How claims are made, in words. */
export const aboutClaims = (lookedAt: number, by: SetsBy): string =>
  by === "tag"
    ? "Sets of tags may share runs and have no order in time, so no change is told between them."
    : lookedAt < 2
      ? "A change is told only if both the test and the 95 % interval of the paired difference show it."
      : "A change is told only if both the test and the interval of the paired difference show it at " +
        `5 % divided by the ${count(lookedAt)} comparisons here (${fixed(5 / lookedAt, 2)} %). ` +
        "The intervals shown are 95 %.";

// Pure. Tone, marks and description of a cell.
import { both } from "../../domain/filter";
import { count, counted, fixed } from "../../domain/format";
import type { Overview, OverviewCell, OverviewColumn, OverviewRow } from "../../generated";
import type { IconName } from "../../components/Icon.svelte";
import { isReadable } from "../../domain/shortNames";
import { visibleLine } from "../../components/visible/visible";
import { runRoute, type RunRoute } from "../../app/route";
import { RIGHT_FROM, scoreText, VERDICTS, WRONG_BELOW } from "../../domain/scores";

export type Tone = "right" | "part" | "wrong";
export const TONES: Record<Tone, { word: string; sign: string }> = {
  right: { word: VERDICTS.right.word, sign: "✓" },
  part: { word: VERDICTS.partly.word, sign: "◐" },
  wrong: { word: VERDICTS.wrong.word, sign: "✕" },
};

/** Grade of a cell; null without a score. Right if every run passed. */
export function toneOf(cell: OverviewCell): Tone | null {
  if (cell.score === null) return null;
  if (cell.passed === null)
    return cell.score >= RIGHT_FROM ? "right" : cell.score < WRONG_BELOW ? "wrong" : "part";
  if (cell.passed === cell.scored) return "right";
  return cell.passed === 0 && cell.score < WRONG_BELOW ? "wrong" : "part";
}

export interface Mark {
  icon: IconName;
  tone: "err" | "wrong" | "busy" | "part" | "muted";
  count: number;
  /** Label with the number. */
  text: string;
}

/** Marks besides the score, most important first. */
export function marksOf(cell: OverviewCell): Mark[] {
  const all: Mark[] = [
    { icon: "diamond", tone: "err", count: cell.errors, text: counted(cell.errors, "error") },
    { icon: "torn", tone: "wrong", count: cell.damaged, text: `${count(cell.damaged)} damaged` },
    { icon: "pen", tone: "busy", count: cell.running, text: `${count(cell.running)} running` },
    { icon: "pause", tone: "busy", count: cell.waiting, text: `${count(cell.waiting)} paused` },
    {
      icon: "dash",
      tone: "part",
      count: cell.unscored,
      text: `${count(cell.unscored)} not scored`,
    },
    { icon: "gap", tone: "muted", count: cell.missing, text: `${count(cell.missing)} missing` },
    {
      icon: "branch",
      tone: "muted",
      count: cell.forks,
      text: counted(cell.forks, "fork or follow-up", "forks or follow-ups"),
    },
    {
      icon: "layers",
      tone: "muted",
      count: cell.superseded,
      text: `${count(cell.superseded)} superseded`,
    },
  ];
  return all.filter((mark) => mark.count > 0);
}

/** `2/3`: passed of scored runs. */
export const passedOf = (cell: OverviewCell): string =>
  cell.passed === null
    ? cell.scored > 1
      ? `n ${count(cell.scored)}`
      : ""
    : `${count(cell.passed)}/${count(cell.scored)}`;

/**
 * Full description: `3 runs: 2 of 3 right, mean 0.87 (95 % interval 0.71–0.96), flaky; 1 error`.
 */
export function sentence(cell: OverviewCell | null, whole: boolean): string {
  if (cell === null) return "No run, none expected";
  const scores: string[] = [];
  if (cell.passed !== null) scores.push(`${count(cell.passed)} of ${count(cell.scored)} right`);
  if (cell.score !== null) {
    const interval =
      cell.low === null || cell.high === null
        ? ""
        : ` (95 % interval ${fixed(cell.low, 2)}–${fixed(cell.high, 2)})`;
    scores.push(`${cell.scored === 1 ? "score" : "mean"} ${scoreText(cell.score)}${interval}`);
  }
  if (cell.flaky > 0) scores.push(whole ? `flaky in ${counted(cell.flaky, "variation")}` : "flaky");
  const others = marksOf(cell).map((mark) => mark.text);
  if (cell.reviewed > 0) others.push(`${count(cell.reviewed)} reviewed`);
  const head = cell.runs === 0 ? "No run" : counted(cell.runs, "run");
  if (scores.length === 0) return others.length === 0 ? head : `${head}: ${others.join(", ")}`;
  return [
    `${head}: ${scores.join(", ")}`,
    ...(others.length === 0 ? [] : [others.join(", ")]),
  ].join("; ");
}

/** Text for runs that a scorer does not apply to: alone, and among others. */
const nothing = (scorer: string): [string, string] =>
  scorer === ""
    ? ["there is no expected output, or no suite for their task", "without expected output"]
    : [`${visibleLine(scorer)} does not apply to them`, `not scored by ${visibleLine(scorer)}`];

/**
 * Reason why no run has a score, as the end of a sentence: a common reason, else the count of each.
 * Runs of which evaluators said something did not fail altogether.
 */
export function whyUnscored(
  head: Overview,
  tasks: number,
  scorer: string,
  hasVerdicts = false,
): string {
  const haveOthersEnded = head.errors + head.damaged + head.unscored < head.runs;
  if (tasks === 0 && haveOthersEnded) return "there are no tasks with expected output.";
  const kinds: [number, string, string][] = [
    [head.waiting + head.running, "none has finished yet", "not finished yet"],
    [
      head.errors,
      hasVerdicts ? "an error was recorded in each" : "all failed with errors",
      "with errors",
    ],
    [head.damaged, "none is readable", "unreadable"],
    [head.no_expected, ...nothing(scorer)],
    [head.unasked, "their scorer runs only on request", "whose scorer runs only on request"],
    [head.unscored, "their scorer failed", "whose scorer failed"],
  ];
  const some = kinds.filter(([number]) => number > 0);
  const [first] = some;
  return `${some.length === 1 && first ? first[1] : some.map(([number, , words]) => `${count(number)} ${words}`).join(", ")}.`;
}

interface Named {
  system: string | null;
  model: string | null;
}
/** Name of a system with a model, of the one that is known. */
export const joinedName = ({ system, model }: Named, by: string): string =>
  visibleLine([system, model].filter((name) => name !== null).join(by)) || "no system";
export const columnName = (named: Named): string => joinedName(named, " · ");

export const systemOf = ({ system, model }: Named): string =>
  system === null && model === null ? "no system" : visibleLine(system ?? "");
export const modelOf = ({ model }: Named): string => visibleLine(model ?? "");
/** Models are bold, so fewer of their characters fit. */
export const BOLD = 0.86;

/** The least number of characters at which the heads of all columns are readable. */
export function leastChars(
  columns: readonly Named[],
  { least, most }: { least: number; most: number },
): number {
  const [systems, models] = [columns.map(systemOf), columns.map(modelOf)];
  let chars = least;
  while (
    chars < most &&
    !(isReadable(systems, chars) && isReadable(models, Math.floor(chars * BOLD)))
  )
    chars++;
  return chars;
}

/** Name of a task or variation. */
export function rowName(row: OverviewRow): string {
  if (row.kind === "loose") return "Runs without a task";
  if (row.kind === "tag") return row.label === null ? "No tag" : visibleLine(row.label);
  if (row.kind === "missing") return row.label ?? "";
  const task = visibleLine((row.kind === "task" ? row.label : null) ?? row.task ?? "");
  return row.kind === "variation" ? `${task} · ${variationName(row)}` : task;
}
export const variationName = (row: OverviewRow): string =>
  row.label === null
    ? row.variation === null
      ? "no variation"
      : `variation ${row.variation}`
    : visibleLine(row.label);

/** Keys that stay the same while rows and columns change. */
export const keyOf = {
  row: (row: OverviewRow): string =>
    JSON.stringify([row.kind, row.task, row.variation ?? row.label]),
  column: ({ system, model }: Named): string => JSON.stringify([system, model]),
  cell: (row: string, column: string): string => `${row} ${column}`,
};

/** A selected cell with its possible actions. */
export interface Pick {
  key: string;
  task: string | null;
  variation: number | null;
  system: string | null;
  model: string | null;
  /** The worst run. */
  run: string | null;
  runs: number;
  /** Filter of its runs. */
  filter: string;
  name: string;
  /** True if its runs can be addressed by position; loose runs and unnumbered variations cannot. */
  launchable: boolean;
}

export function pickOf(
  row: OverviewRow,
  column: OverviewColumn,
  cell: OverviewCell | null,
  q: string,
): Pick {
  const stands = row.kind === "task" || (row.kind === "variation" && row.variation !== null);
  return {
    key: keyOf.cell(keyOf.row(row), keyOf.column(column)),
    task: row.task,
    variation: row.kind === "variation" ? row.variation : null,
    system: column.system,
    model: column.model,
    run: cell?.run ?? null,
    runs: cell?.runs ?? 0,
    filter: both(q, both(row.filter, column.filter)),
    name: `${rowName(row)} · ${columnName(column)}`,
    launchable: stands && column.system !== null && column.model !== null,
  };
}

/** The worst run of a cell; its neighbours are the other runs of the cell, worst first. */
export const runOf = (pick: Pick): RunRoute | null =>
  pick.run === null
    ? null
    : { ...runRoute(pick.run), q: pick.filter, sort: { column: "score", descending: false } };

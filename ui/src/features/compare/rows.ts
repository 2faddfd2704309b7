// Pure. Rows of the comparison list: folded equal rows, where runs differ for good, and the next difference.
import type { ComparedRun, CompareRow, Comparison, Relation, RunRow } from "../../generated";
import { count, counted } from "../../domain/format";

/** A row; with `edited` if a person edited the step of one of these runs. */
export type Row = CompareRow & { edited?: readonly boolean[] };
/** A comparison with its edited steps. */
export type Compared = Omit<Comparison, "rows"> & { rows: readonly Row[] };

/** True for steps of a run that the baseline has, too. */
const agrees = (row: CompareRow, run: number, base: number): boolean =>
  row.steps[run] != null &&
  row.steps[base] != null &&
  (row.relation === "same" || row.relation === "reworded");

/** True for a step that only one of the run and the baseline has. */
const isAlone = (row: CompareRow | undefined, run: number, base: number): boolean =>
  row !== undefined && (row.steps[run] == null) !== (row.steps[base] == null);

/**
 * The comparison in which runs part at the first of consecutive steps that only one of them has, and
 * differ for good only if no later step is equal.
 */
export function withParting(comparison: Comparison): Comparison {
  const { rows } = comparison;
  const base = baseline(comparison);
  const first = (from: number, run: number): number => {
    let at = from;
    while (isAlone(rows[at - 1], run, base)) at--;
    return at;
  };
  const runs = comparison.runs.map((run, at) => {
    if (run.parts_at === null) return run;
    const parts_at = first(run.parts_at, at);
    const returns = rows.slice(parts_at).some((row) => agrees(row, at, base));
    return { ...run, parts_at, leaves_at: returns ? null : run.leaves_at };
  });
  const parted = runs.flatMap(({ parts_at }) => parts_at ?? []);
  const first_divergence =
    comparison.first_divergence === null ? null : Math.min(comparison.first_divergence, ...parted);
  return { ...comparison, runs, first_divergence };
}

/** The comparison with the edited step of each run, where it sets it apart from another one. */
export function withEdits(comparison: Comparison): Compared {
  const isEdited = (step: number | null, run: number) =>
    step !== null && step === comparison.runs[run]?.edited;
  const rows = comparison.rows.map((row) =>
    row.relation !== "same" && row.steps.some(isEdited)
      ? { ...row, edited: row.steps.map(isEdited) }
      : row,
  );
  return { ...comparison, rows };
}

/** An entry of the list: a row, or a fold of equal rows. `to` is the row after its last. */
export type Item = { kind: "row"; row: number } | { kind: "fold"; from: number; to: number };

interface RelationBadge {
  sign: string;
  word: string;
  tone: "same" | "alike" | "other" | "gone" | "new";
}

/** Sign and word, so that nothing depends on colour alone. */
const RELATIONS: Record<Exclude<Relation, "alone">, RelationBadge> = {
  same: { sign: "=", word: "the same", tone: "same" },
  reworded: { sign: "≈", word: "same, reworded", tone: "same" },
  other_words: { sign: "≈", word: "other words, which do not count", tone: "same" },
  same_result: { sign: "≈", word: "different call, same result", tone: "alike" },
  other_result: { sign: "≠", word: "same call, different result", tone: "other" },
  similar: { sign: "≠", word: "same kind of step, different content", tone: "other" },
  different: { sign: "≠", word: "different step", tone: "other" },
};

const EDITED: RelationBadge = { sign: "≠", word: "edited", tone: "other" };

/** Relation of the steps in a row, seen from the baseline: missing or additional. */
export function relationBadge(row: Row, base: number): RelationBadge {
  if (row.edited && row.relation !== "alone") return EDITED;
  if (row.relation !== "alone") return RELATIONS[row.relation];
  if (row.steps[base] == null) return { sign: "+", word: "missing in the baseline", tone: "new" };
  const only = row.steps.every((step, at) => step === null || at === base);
  return {
    sign: "−",
    word: only ? "only in the baseline" : "missing in some runs",
    tone: "gone",
  };
}

const ALIKE: readonly Relation[] = ["same", "reworded", "other_words"];
/** True for rows without a difference that counts. An edited step is one, however little was changed. */
export const isEqual = (row: Row): boolean =>
  !row.edited && !row.diverges && ALIKE.includes(row.relation);

/** A single equal step is as short as its fold. */
const MIN_FOLDED = 2;

/** The run of equal rows around a row; null if there is none or it is too short to fold. */
export function stretchAt(rows: readonly Row[], at: number): { from: number; to: number } | null {
  const fits = (index: number) => {
    const row = rows[index];
    return row !== undefined && isEqual(row);
  };
  if (!fits(at)) return null;
  let [from, to] = [at, at + 1];
  while (fits(from - 1)) from--;
  while (fits(to)) to++;
  return to - from < MIN_FOLDED ? null : { from, to };
}

/** Entries of the list. `open` tells if the fold that starts at a row is open. */
export function foldedItems(rows: readonly Row[], open: (from: number) => boolean): Item[] {
  const list: Item[] = [];
  for (let at = 0; at < rows.length;) {
    const stretch = stretchAt(rows, at);
    if (stretch && !open(stretch.from)) list.push({ kind: "fold", ...stretch });
    const end = stretch?.to ?? at + 1;
    if (!stretch || open(stretch.from))
      for (let row = at; row < end; row++) list.push({ kind: "row", row });
    at = end;
  }
  return list;
}

/** Index of a row or of the fold that contains it; -1 if absent. */
export const itemIndex = (list: readonly Item[], row: number): number =>
  list.findIndex((item) =>
    item.kind === "row" ? item.row === row : item.from <= row && row < item.to,
  );
export const firstRow = (item: Item): number => (item.kind === "row" ? item.row : item.from);
/** A key that does not depend on other folds. */
export const itemKey = (item: Item): string =>
  item.kind === "row" ? `r${item.row}` : `f${item.from}`;

/** Lines of text of a closed row, unless there is room for more. */
export const FEW_LINES = 6;
const MOST_LINES = 40;
/** Height of a line, as a multiple of the text size. */
const LINE = 1.5;

/** Lines of text of a closed row, with this many pixels left below the list. */
export const moreLines = (lines: number, left: number, textSize: number): number =>
  Math.min(MOST_LINES, lines + Math.max(0, Math.floor(left / textSize / LINE)));

/** Text of a fold: `12 steps without a difference, 3 reworded, 1 in other words`. */
export function foldText(rows: readonly Row[], from: number, to: number): string {
  const relations = rows.slice(from, to).map((row) => row.relation);
  const number = (of: Relation) => relations.filter((relation) => relation === of).length;
  const [reworded, other] = [number("reworded"), number("other_words")];
  return [
    counted(to - from, reworded + other === 0 ? "equal step" : "step"),
    ...(reworded === 0 ? [] : [`${count(reworded)} reworded`]),
    ...(other === 0 ? [] : [`${count(other)} in other words that do not count`]),
  ].join(", ");
}

const presence = (row: CompareRow): string =>
  row.steps.map((step) => (step === null ? "-" : "+")).join("");

/**
 * True if a difference starts at a row. Consecutive steps of the same runs alone form one
 * difference.
 */
export function startsDifference(rows: readonly Row[], at: number): boolean {
  const [row, before] = [rows[at], rows[at - 1]];
  if (row === undefined || isEqual(row)) return false;
  return !(
    row.relation === "alone" &&
    before?.relation === "alone" &&
    presence(row) === presence(before)
  );
}

/** The row from which on a run differs for good from the baseline; null if it comes back to it. */
export const leavingRow = (run: Pick<ComparedRun, "leaves_at" | "parts_at">): number | null =>
  run.leaves_at === null ? null : run.parts_at;

/** The row at which a comparison opens: where the runs part, be it by an edited step. */
export const partingRow = ({
  first_divergence,
  first_other_result,
}: Pick<Compared, "first_divergence" | "first_other_result">): number | null =>
  first_divergence ?? first_other_result;

/** The next or previous difference, wrapping at the end. From -1, where they differ for good. */
export function nextDifference(
  comparison: Pick<Compared, "rows" | "first_divergence" | "first_other_result">,
  at: number,
  by: 1 | -1,
): number | null {
  const { rows } = comparison;
  const first = partingRow(comparison);
  if (at < 0 && by === 1 && first !== null) return first;
  const stops = rows.map((_, index) => index).filter((index) => startsDifference(rows, index));
  if (stops.length === 0) return null;
  const found =
    by === 1
      ? stops.find((stop) => stop > at)
      : at < 0
        ? undefined
        : stops.findLast((stop) => stop < at);
  return found ?? (by === 1 ? stops[0] : stops.at(-1)) ?? null;
}

/** Text above a row: where runs differ, for good or not, or the first equal call with another result. */
export function dividers(
  comparison: Compared,
  names: readonly string[],
): Map<number, { text: string; parts: boolean }> {
  const marks = new Map<number, { text: string; parts: boolean }>();
  const others = comparison.runs.filter((run) => run.trouble === null).length - 1;
  const base = names[baseline(comparison)] ?? "";
  const rows = new Set(comparison.runs.flatMap((run) => run.parts_at ?? []));
  for (const row of rows) {
    const who = (isForGood: boolean) =>
      names.filter((_, at) => {
        const run = comparison.runs[at];
        return run?.parts_at === row && (leavingRow(run) !== null) === isForGood;
      });
    const [good, back] = [who(true), who(false)];
    const s = (runs: readonly string[]) => (runs.length === 1 ? "s" : "");
    const said = [
      ...(good.length === 0
        ? []
        : good.length === others
          ? ["Differs for good from here"]
          : [`${good.join(" and ")} differ${s(good)} for good from ${base} from here`]),
      ...(back.length === 0
        ? []
        : back.length === others
          ? ["First differs here"]
          : [`${back.join(" and ")} first differ${s(back)} from ${base} here`]),
    ];
    marks.set(row, { parts: good.length > 0, text: said.join("; ") });
  }
  const { first_other_result: other, first_divergence: first } = comparison;
  if (other !== null && (first === null || other < first) && !marks.has(other))
    marks.set(other, {
      parts: false,
      text: "Same call, different result",
    });
  return marks;
}

/** Index of a run's step in a row, else of its next one; null after its last step. */
export const ownStep = (rows: readonly Row[], run: number, from: number): number | null =>
  rows.slice(from).find((row) => row.steps[run] != null)?.steps[run] ?? null;

/** Index of the baseline: the first readable run. */
export const baseline = ({ runs }: Pick<Comparison, "runs">): number =>
  Math.max(
    0,
    runs.findIndex((run) => run.trouble === null),
  );

/** Index of the run that the others in this row are compared with, or -1. */
export function comparedWith(row: CompareRow, base: number): number {
  return row.steps[base] != null ? base : row.steps.findIndex((step) => step !== null);
}

/** Ids of runs, with the first passing run at the front unless the front one passed. */
export function passingFirst(runs: readonly Pick<RunRow, "id" | "passed">[]): string[] {
  const at = runs.findIndex((run) => run.passed === true);
  const baseline = runs[at];
  const rest = runs.filter((_, index) => index !== at);
  return (baseline ? [baseline, ...rest] : runs).map((run) => run.id);
}

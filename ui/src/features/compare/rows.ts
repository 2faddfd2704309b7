// Pure. The rows of a comparison as they are listed: equal stretches folded, where the runs part, which row is the next difference.
import type { Comparison } from "../../generated/Comparison";
import type { CompareRow } from "../../generated/CompareRow";
import type { Relation } from "../../generated/Relation";
import { counted } from "../../domain/format";

/** A line of the list: a row, or a stretch of equal ones that is folded. `to` is the row after its last. */
export type Item = { kind: "row"; row: number } | { kind: "fold"; from: number; to: number };

interface RelationBadge {
  sign: string;
  word: string;
  tone: "same" | "alike" | "other" | "gone" | "new";
}

/** Shape and word, so that colour says nothing alone. */
const RELATIONS: Record<Exclude<Relation, "alone">, RelationBadge> = {
  same: { sign: "=", word: "the same", tone: "same" },
  reworded: { sign: "≈", word: "the same in other words", tone: "same" },
  same_result: { sign: "≈", word: "asked in another way, the same came back", tone: "alike" },
  other_result: { sign: "≠", word: "the same was asked, something else came back", tone: "other" },
  similar: { sign: "≠", word: "the same kind of step, done otherwise", tone: "other" },
  different: { sign: "≠", word: "something else was done", tone: "other" },
};

/** How the steps of a row relate, seen from the baseline: what is missing beside it, or comes in addition. */
export function relationBadge(row: CompareRow, base: number): RelationBadge {
  if (row.relation !== "alone") return RELATIONS[row.relation];
  if (row.steps[base] == null)
    return { sign: "+", word: "the baseline does not have this step", tone: "new" };
  const only = row.steps.every((step, at) => step === null || at === base);
  return {
    sign: "−",
    word: only ? "only the baseline has this step" : "not every run has this step",
    tone: "gone",
  };
}

/** Nothing that a reader looking for differences has to see. */
export const isEqual = (row: CompareRow): boolean =>
  !row.diverges && (row.relation === "same" || row.relation === "reworded");

/** One equal step alone is as short as the line that would stand for it. */
const MIN_FOLDED = 2;

/** The stretch of equal rows around one, or null where it is none or too short to be folded. */
export function stretchAt(
  rows: readonly CompareRow[],
  at: number,
): { from: number; to: number } | null {
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

/** What is listed. `open` tells whether the stretch that begins at a row is unfolded. */
export function foldedItems(rows: readonly CompareRow[], open: (from: number) => boolean): Item[] {
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

/** Where a row is listed: itself, or the fold it is in; -1 when it is not there. */
export const itemIndex = (list: readonly Item[], row: number): number =>
  list.findIndex((item) =>
    item.kind === "row" ? item.row === row : item.from <= row && row < item.to,
  );
export const firstRow = (item: Item): number => (item.kind === "row" ? item.row : item.from);
/** Stays the same when other stretches are folded. */
export const itemKey = (item: Item): string =>
  item.kind === "row" ? `r${item.row}` : `f${item.from}`;

/** What stands for a folded stretch: `12 equal steps, 3 of them in other words`. */
export function foldText(rows: readonly CompareRow[], from: number, to: number): string {
  const reworded = rows.slice(from, to).filter((row) => row.relation === "reworded").length;
  const all = counted(to - from, "equal step");
  if (reworded === 0) return all;
  return reworded === to - from
    ? `${all}, in other words`
    : `${all}, ${reworded} of them in other words`;
}

const presence = (row: CompareRow): string =>
  row.steps.map((step) => (step === null ? "-" : "+")).join("");

/** Whether a difference begins at a row. Steps that the same runs have alone, one after the other, are one difference. */
export function startsDifference(rows: readonly CompareRow[], at: number): boolean {
  const [row, before] = [rows[at], rows[at - 1]];
  if (row === undefined || isEqual(row)) return false;
  return !(
    row.relation === "alone" &&
    before?.relation === "alone" &&
    presence(row) === presence(before)
  );
}

/** The next difference from a row on, or the one before it; at the end it begins again. From nowhere (-1) it is where the runs part. */
export function nextDifference(
  {
    rows,
    first_divergence,
    first_other_result,
  }: Pick<Comparison, "rows" | "first_divergence" | "first_other_result">,
  at: number,
  by: 1 | -1,
): number | null {
  if (at < 0 && by === 1 && (first_divergence ?? first_other_result) !== null)
    return first_divergence ?? first_other_result;
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

/** What is said above a row: where the runs part, or where the same first led to something else. */
export function dividers(
  comparison: Comparison,
  names: readonly string[],
): Map<number, { text: string; parts: boolean }> {
  const marks = new Map<number, { text: string; parts: boolean }>();
  const parting = new Map<number, string[]>();
  comparison.runs.forEach((run, at) => {
    if (run.parts_at !== null)
      parting.set(run.parts_at, [...(parting.get(run.parts_at) ?? []), names[at] ?? ""]);
  });
  const others = comparison.runs.filter((run) => run.trouble === null).length - 1;
  const base = names[baseline(comparison)] ?? "";
  for (const [row, who] of parting)
    marks.set(row, {
      parts: true,
      text:
        who.length === others
          ? "Here they part"
          : `Here ${who.join(" and ")} ${who.length === 1 ? "parts" : "part"} from ${base}`,
    });
  const { first_other_result: other, first_divergence: first } = comparison;
  if (other !== null && (first === null || other < first) && !marks.has(other))
    marks.set(other, {
      parts: false,
      text: "Here the same was asked, and something else came back",
    });
  return marks;
}

/** The run that the others are compared with: the first that can be read. */
export const baseline = ({ runs }: Pick<Comparison, "runs">): number =>
  Math.max(
    0,
    runs.findIndex((run) => run.trouble === null),
  );

/** The run whose step the others in this row are compared with, or -1. */
export function comparedWith(row: CompareRow, base: number): number {
  return row.steps[base] != null ? base : row.steps.findIndex((step) => step !== null);
}

// Pure. Explanation of a missing comparison, and the first differences of an existing one.
import { count } from "../../domain/format";
import type { DiffLine, DiffRequest, DiffRow, DiffView, RunView } from "../../generated";
import {
  differs,
  lineDiffers,
  MOVED,
  placeOf,
  rightOf,
  SIGNS,
  type DiffKind,
} from "../../components/diff/diff";
import { expectedOf } from "./expected";

export interface NoDiff {
  title: string;
  text: string;
  /** The next step. */
  next: string;
}

/** The first request of a comparison; the page and the sidebar share it, so it is sent once. */
export function firstRequest(id: string, changed_only: boolean, literal = false): DiffRequest {
  const first = { offset: 0, limit: 200 };
  return { id, against: null, literal, changed_only, rows: first, lines: first };
}

/** Reasons in files may lack a full stop. */
const noDiff = (title: string, text: string, next = ""): NoDiff => ({
  title,
  text: /[.!?…]$/.test(text) ? text : `${text}.`,
  next,
});

/** Reason why the answer is not compared; null if it is. */
export function whyNoDiff({ row, answer, task, facts }: RunView): NoDiff | null {
  // A run of another tool, and a row that evaluators were applied to, is not continued here.
  const isRecorded = row.format !== null || row.stored !== null;
  if (row.state === "other") return noDiff("No answer", "This file is not a run.");
  if (row.state === "damaged")
    return noDiff(
      "The answer cannot be read",
      "The file of this run is damaged.",
      "Fix the file in an editor; it is reloaded when saved.",
    );
  if (answer === null) {
    if (row.state === "writing")
      return noDiff(
        "No answer yet",
        "The run is still being written.",
        "The answer is compared as soon as it is available.",
      );
    if (row.state === "waiting")
      return noDiff(
        "No answer yet",
        "The run ends without a reply.",
        isRecorded ? "" : "Continue it below.",
      );
    if (row.state === "error")
      return noDiff(
        "No answer: the run ended in a system error",
        row.reason ?? "The file does not say why.",
        `It does not count as a wrong answer.${isRecorded ? "" : " Continue it below, or rerun it."}`,
      );
    const scores = isRecorded && row.score !== 0 ? "" : "It scores 0.";
    return noDiff("No answer", row.reason ?? "The run ended without an answer.", scores);
  }
  if (task === null && expectedOf({ task, facts }) !== null)
    return noDiff(
      "Not compared",
      "The evaluators in the file judged the answer. Touchstone did not compare it.",
    );
  if (task === null && isRecorded)
    return noDiff(
      "Nothing to compare with",
      "The file has no expected output.",
      "Review the run, or have a judge look at it.",
    );
  if (task === null)
    return noDiff(
      "Nothing to compare with",
      "Unknown task: no suite in this folder has its name.",
      "Open a folder that includes the suites, or name the file after its task.",
    );
  if (task.expected === null)
    return noDiff(
      "No expected output",
      "The suite has no expected output for this variation, so the answer is not scored.",
      `Add expected_output to ${task.file}.`,
    );
  return null;
}

/** One difference in a line: kind, item and change. */
export interface Difference {
  kind: DiffKind;
  sign: string;
  word: string;
  label: string;
  changes: { name: string; left: string | null; right: string | null; note: string | null }[];
  /** New position of an item that only moved. */
  place: string;
}

const SHORT = 3;

/** Difference of a table row. */
function rowDifference(columns: DiffView["columns"], row: DiffRow): Difference {
  const changed = row.cells.flatMap((cell, i) =>
    cell.kind === "changed" || cell.kind === "missing" || cell.kind === "extra"
      ? [
          {
            name: columns[i]?.name ?? "",
            left: cell.kind === "extra" ? null : cell.left,
            right: cell.kind === "extra" ? (cell.right ?? cell.left) : rightOf(cell),
            note: cell.note,
          },
        ]
      : [],
  );
  const both = row.kind === "changed";
  const only = row.kind === "same" || row.kind === "alike";
  const { sign, word } = only && row.moved ? MOVED : SIGNS[row.kind];
  return {
    kind: row.kind,
    sign,
    word,
    label: row.label,
    changes: both ? changed.slice(0, SHORT) : [],
    place: row.moved ? placeOf(row) : "",
  };
}

/** Difference of a line; a line on one side only is missing or extra. */
function lineDifferences(line: DiffLine): Difference[] {
  if (line.kind === "folded") return [];
  const text = (side: { pieces: { text: string }[] } | null) =>
    side?.pieces
      .map((piece) => piece.text)
      .join("")
      .trim() ?? null;
  const { sign, word } = SIGNS[line.change];
  return [
    {
      kind: line.change,
      sign,
      word,
      label: "",
      changes: [{ name: "", left: text(line.left), right: text(line.right), note: null }],
      place: "",
    },
  ];
}

/** The first differences of a comparison. */
export function firstDifferences(diff: DiffView, most: number): Difference[] {
  if (diff.columns.length > 0)
    return diff.rows
      .filter(differs)
      .slice(0, most)
      .map((row) => rowDifference(diff.columns, row));
  return diff.lines.filter(lineDiffers).slice(0, most).flatMap(lineDifferences);
}

/** How many differences follow the first ones; empty if none does. */
export function moreDifferences(diff: DiffView, most: number): string {
  const rows = diff.columns.length > 0;
  const loaded = rows ? diff.rows.filter(differs) : diff.lines.filter(lineDiffers);
  // Rows that are not loaded are differences, too; lines may be equal ones between them.
  const more = loaded.length - most + (rows ? diff.total_rows - diff.rows.length : 0);
  if (more <= 0) return "";
  return `+${count(more)} ${!rows && diff.total_lines > diff.lines.length ? "or more" : "more"}`;
}

// Pure. Types of comparisons, sign and word of each kind of difference, and the layout of tables.
import { template, type GridCell } from "../grid/grid";

/**
 * `alike` is an equal value written differently; `missing` is only on the left, `extra` only on the
 * right, `absent` on neither side.
 */
export type DiffKind = "same" | "alike" | "changed" | "missing" | "extra" | "absent";

export interface DiffPiece {
  text: string;
  change: DiffKind;
}
export interface DiffSide {
  number: number;
  pieces: DiffPiece[];
}
export type DiffLine =
  | { kind: "pair"; change: DiffKind; left: DiffSide | null; right: DiffSide | null }
  | { kind: "folded"; count: number };

export interface DiffColumn {
  name: string;
  numeric: boolean;
}
export interface DiffCell {
  kind: DiffKind;
  left: string | null;
  /** Null if it is written like the left one. */
  right: string | null;
  note: string | null;
}
export interface DiffRow {
  kind: DiffKind;
  label: string;
  /** Positions on either side, from 1. */
  from: number | null;
  to: number | null;
  moved: boolean;
  cells: DiffCell[];
}

/** Sign and word, so that nothing depends on colour alone. */
export const SIGNS: Record<DiffKind, { sign: string; word: string }> = {
  same: { sign: "", word: "the same" },
  alike: { sign: "≈", word: "equal, written differently" },
  changed: { sign: "≠", word: "differs" },
  missing: { sign: "−", word: "missing" },
  extra: { sign: "+", word: "extra" },
  absent: { sign: "", word: "on neither side" },
};
export const MOVED = { sign: "↕", word: "moved" };

/** True for a row that counts as a difference. */
export const differs = (row: DiffRow): boolean =>
  row.moved || row.kind === "changed" || row.kind === "missing" || row.kind === "extra";
export const lineDiffers = (line: DiffLine): boolean =>
  line.kind === "pair" && line.change !== "same" && line.change !== "alike";

/** A row without words on whether a difference counts: what is written differently, differs. */
export function withoutRuling(row: DiffRow): DiffRow {
  const kindOf = (kind: DiffKind): DiffKind => (kind === "alike" ? "changed" : kind);
  const cells = row.cells.map((cell) => ({ ...cell, kind: kindOf(cell.kind), note: null }));
  return { ...row, kind: kindOf(row.kind), cells };
}
export const lineWithoutRuling = (line: DiffLine): DiffLine =>
  line.kind === "pair" && line.change === "alike" ? { ...line, change: "changed" } : line;

/** Sign and words of a row, which may both differ and have moved; empty for an equal one. */
export function signOf(row: DiffRow): { sign: string; word: string } {
  const own = row.kind === "same" ? { sign: "", word: "" } : SIGNS[row.kind];
  if (!row.moved) return own;
  return row.kind === "same" || row.kind === "alike"
    ? MOVED
    : { sign: own.sign + MOVED.sign, word: `${own.word}, ${MOVED.word}` };
}

/** `3`, or `3 → 5` if the positions differ. */
export function placeOf({ from, to }: DiffRow): string {
  if (from === null) return to === null ? "" : `→ ${to}`;
  if (to === null) return `${from} →`;
  return from === to ? String(from) : `${from} → ${to}`;
}

/** Text on the right; identical text is sent only once. */
export const rightOf = (cell: DiffCell): string | null =>
  cell.kind === "missing" || cell.kind === "absent" ? null : (cell.right ?? cell.left);

const plain = (label: string): string => label.replace(/^#/, "");

/**
 * The column that repeats the labels of all these rows (`#7` and `7`), or -1. It is then shown
 * first and only once.
 */
export function labelColumn(columns: readonly DiffColumn[], rows: readonly DiffRow[]): number {
  if (rows.length === 0) return -1;
  return columns.findIndex((_, at) =>
    rows.every((row) => [row.cells[at]?.left, row.cells[at]?.right].includes(plain(row.label))),
  );
}

/** Name of a row: its label, or the value in the label column. */
export const nameOf = (row: DiffRow, keyed: number): string =>
  keyed < 0 ? row.label : plain(row.label);

/** CSS column widths, from the first rows. */
export function widths(columns: readonly DiffColumn[], rows: readonly DiffRow[]): string {
  const cell = (one: DiffCell | undefined): GridCell => ({
    kind: "text",
    text:
      one === undefined
        ? ""
        : one.kind === "changed" || one.kind === "alike"
          ? `${one.left ?? ""} → ${rightOf(one) ?? ""}`
          : (one.left ?? one.right ?? ""),
  });
  return template(
    columns,
    rows.map((row) => columns.map((_, at) => cell(row.cells[at]))),
  );
}

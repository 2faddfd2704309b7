// Keyboard actions of the matrix. Knows positions, rows and cells, not the page.
import type { OverviewRow } from "../../generated";
import type { Action } from "../../app/keys";
import { asAppError } from "../../backend/live";
import type { Announcer } from "../../app/announcer";
import { nextShown } from "./inSight";
import { keyOf, pickOf, type Pick } from "./cells";
import type { Matrix } from "./matrix";
import type { CellPosition, CellSelection } from "./selection";

/** Number of runs that a comparison takes. */
export const COMPARED = { least: 2, most: 4 };

export interface Table {
  matrix: Matrix;
  selection: CellSelection;
  announcer: Announcer;
  sight: () => { first: number; last: number };
  /** Columns that are shown; null for all. */
  shown: () => readonly boolean[] | null;
  reveal: (at: CellPosition) => void;
  /** Opens the run or list of runs under the cursor. */
  open: () => void;
  list: () => void;
  fold: () => void;
  foldAll: () => void;
  compare: () => void;
  /** Judges the runs of the selection, or all. */
  judge: () => void;
  /** Evaluates the rows of the one selected cell, or of all runs. */
  evaluate: () => void;
  launch: () => void;
  menu: () => void;
}

/** The cell at a position; null in headers and while it loads. */
export function cellAt(matrix: Matrix, { row: index, column: at }: CellPosition): Pick | null {
  const [row, column] = [matrix.row(index), matrix.columns[at]];
  return row && column ? pickOf(row, column, row.cells[at] ?? null, matrix.q) : null;
}

const within = (value: number, least: number, most: number) =>
  Math.max(least, Math.min(value, most));

/** Moves the cursor. `extend` selects the cells from the anchor to here. */
export async function moveTo(table: Table, wanted: CellPosition, extend = false): Promise<void> {
  const { matrix, selection, reveal, announcer } = table;
  const least = extend ? 0 : -1;
  const to = {
    row: within(wanted.row, least, matrix.total - 1),
    column: within(wanted.column, least, matrix.columns.length - 1),
  };
  if (matrix.total === 0) return;
  const row = matrix.row(to.row);
  selection.move(to, row ? keyOf.row(row) : null, extend);
  reveal(to);
  if (!extend) return;
  const acts = selection.acts;
  try {
    const cells = await between(table, selection.anchor, to);
    // Cells that load slowly must not undo a newer selection.
    if (acts === selection.acts) selection.only(cells);
  } catch (thrown) {
    announcer.say(`Not selected: ${asAppError(thrown).message}`);
  }
}

async function between(table: Table, one: CellPosition, other: CellPosition): Promise<Pick[]> {
  const rows = await table.matrix.range(
    Math.max(0, Math.min(one.row, other.row)),
    Math.max(one.row, other.row),
  );
  const from = Math.max(0, Math.min(one.column, other.column));
  return rows.flatMap((row) => ofRow(table, row, from, Math.max(one.column, other.column)));
}

/** The shown cells of a row. */
const ofRow = ({ matrix, shown }: Table, row: OverviewRow, from = 0, to = Infinity): Pick[] =>
  matrix.columns.flatMap((column, at) =>
    at < from || at > to || shown()?.[at] === false
      ? []
      : [pickOf(row, column, row.cells[at] ?? null, matrix.q)],
  );

export function moves(table: Table): Action[] {
  const { matrix, selection } = table;
  const group = "Overview";
  const page = () => Math.max(1, table.sight().last - table.sight().first - 1);
  const some = () => matrix.total > 0;
  const go = (
    id: string,
    title: string,
    keys: string[],
    to: (at: CellPosition) => CellPosition,
    extend = false,
  ): Action => ({
    id: `cell-${id}`,
    title,
    group,
    keys,
    quiet: true,
    when: some,
    run: () => void moveTo(table, to(selection.cursor), extend),
  });
  /** One step from the cursor; a cursor scrolled out of sight first returns into sight. */
  const step = (by: number) => (at: CellPosition) => {
    const { first, last } = table.sight();
    return {
      ...at,
      row: at.row >= 0 && at.row < first ? first : at.row > last ? last : at.row + by,
    };
  };
  const aside = (by: 1 | -1) => (at: CellPosition) => ({
    ...at,
    column: nextShown(table.shown(), at.column, by),
  });
  const act = (
    id: string,
    title: string,
    keys: string[],
    run: () => void,
    when: () => boolean = some,
  ): Action => ({ id: `cell-${id}`, title, group, keys, when, run });
  const picked = () => {
    const cell = cellAt(matrix, selection.cursor);
    const row = matrix.row(selection.cursor.row);
    if (cell) selection.toggle(cell);
    else if (row) {
      // The name of a row stands for all its cells.
      const all = ofRow(table, row);
      if (all.every((one) => selection.has(one.key))) for (const one of all) selection.toggle(one);
      else selection.only(all, true);
    }
  };
  return [
    go("down", "Down", ["j", "ArrowDown"], step(1)),
    go("up", "Up", ["k", "ArrowUp"], step(-1)),
    go("left", "Left", ["h", "ArrowLeft"], aside(-1)),
    go("right", "Right", ["l", "ArrowRight"], aside(1)),
    go("page-down", "A page down", ["PageDown", "Mod+d"], (at) => ({
      ...at,
      row: at.row + page(),
    })),
    go("page-up", "A page up", ["PageUp", "Mod+u"], (at) => ({
      ...at,
      row: Math.max(0, at.row - page()),
    })),
    go("first", "First row", ["g g", "Mod+Home"], (at) => ({ ...at, row: 0 })),
    go("last", "Last row", ["G", "Mod+End"], (at) => ({ ...at, row: matrix.total - 1 })),
    go("row-start", "First column", ["Home", "0"], (at) => ({
      ...at,
      column: nextShown(table.shown(), -1, 1),
    })),
    go("row-end", "Last column", ["End", "$"], (at) => ({
      ...at,
      column: nextShown(table.shown(), matrix.columns.length, -1),
    })),
    act("open", "Open the worst run of the cell", ["Enter", "o"], table.open),
    act("list", "List the runs of the cell, row or column", ["O"], table.list),
    act("pick", "Select or unselect the cell", ["Space", "x"], picked),
    go(
      "extend-down",
      "Select down",
      ["Shift+ArrowDown"],
      (at) => ({ ...at, row: at.row + 1 }),
      true,
    ),
    go("extend-up", "Select up", ["Shift+ArrowUp"], (at) => ({ ...at, row: at.row - 1 }), true),
    go("extend-right", "Select to the right", ["Shift+ArrowRight"], aside(1), true),
    go("extend-left", "Select to the left", ["Shift+ArrowLeft"], aside(-1), true),
    act(
      "unpick",
      "Unselect everything",
      ["Escape"],
      () => selection.clear(),
      () => selection.size > 0,
    ),
    act("compare", "Compare the runs of the selection", ["c"], table.compare),
    act("judge", "Judge the selected runs, or all…", [], table.judge),
    act("evaluate", "Evaluate the runs of the selected cell, or all…", [], table.evaluate),
    act("launch", "Launch the selection…", ["r"], table.launch),
    act("fold", "Fold or unfold the task", ["f"], table.fold),
    act("fold-all", "Fold or unfold every task", ["F"], table.foldAll),
    act("menu", "Actions for this cell", ["m", "ContextMenu", "Shift+F10"], table.menu),
  ];
}

// Keyboard actions of the table. Knows positions and rows, not the page.
import type { RunRow } from "../../generated";
import type { Action } from "../../app/keys";
import { asAppError } from "../../backend/live";
import type { Announcer } from "../../app/announcer";
import type { RunList } from "./list";
import type { RunSelection } from "./selection";

export interface Table {
  list: RunList;
  selection: RunSelection;
  announcer: Announcer;
  sight: () => { first: number; last: number };
  reveal: (index: number) => void;
  open: (row: RunRow) => void;
  menu: () => void;
  copy: () => void;
  /** Opens the launch form with the selection or the run under the cursor. */
  again: () => void;
  /** Compares the selected runs. */
  compare: () => void;
  /** Judges the selection, or all listed runs. */
  judge: () => void;
  /** Evaluates rows of all listed runs. */
  evaluate: () => void;
  /** Reviews the selection, or all listed runs, one after the other. */
  review: () => void;
}

/** Moves the cursor. `extend` grows the selection from its anchor. */
export async function moveTo(
  { list, selection, reveal, announcer }: Table,
  index: number,
  extend = false,
): Promise<void> {
  const to = Math.max(0, Math.min(index, list.total - 1));
  if (list.total === 0) return;
  selection.move(to, list.row(to)?.id ?? null, extend);
  reveal(to);
  if (!extend) return;
  const acts = selection.acts;
  try {
    const rows = await list.range(Math.min(selection.anchor, to), Math.max(selection.anchor, to));
    // Rows that load slowly must not undo a newer selection.
    if (acts === selection.acts) selection.only(rows);
  } catch (thrown) {
    announcer.say(`Not selected: ${asAppError(thrown).message}`);
  }
}

export function moves(table: Table): Action[] {
  const { list, selection } = table;
  const group = "Runs";
  const row = () => list.row(selection.cursor);
  const page = () => Math.max(1, table.sight().last - table.sight().first - 1);
  /** One step from the cursor; a cursor scrolled out of sight first returns into sight. */
  const step = (by: number) => {
    const { first, last } = table.sight();
    return selection.cursor < first
      ? first
      : selection.cursor > last
        ? last
        : selection.cursor + by;
  };
  const some = () => list.total > 0;
  const go = (
    id: string,
    title: string,
    keys: string[],
    to: () => number,
    extend = false,
  ): Action => ({
    id,
    title,
    group,
    keys,
    quiet: true,
    when: some,
    run: () => void moveTo(table, to(), extend),
  });
  const at = (id: string, title: string, keys: string[], run: (row: RunRow) => void): Action => ({
    id,
    title,
    group,
    keys,
    when: () => row() !== undefined,
    run: () => {
      const now = row();
      if (now) run(now);
    },
  });
  return [
    go("next", "Next run", ["j", "ArrowDown"], () => step(1)),
    go("previous", "Previous run", ["k", "ArrowUp"], () => step(-1)),
    go("page-down", "A page down", ["PageDown", "Mod+d"], () => selection.cursor + page()),
    go("page-up", "A page up", ["PageUp", "Mod+u"], () => selection.cursor - page()),
    go("first", "First run", ["g g", "Home"], () => 0),
    go("last", "Last run", ["G", "End"], () => list.total - 1),
    at("open", "Open the run", ["Enter", "o"], (now) => table.open(now)),
    at("pick", "Select or unselect the run", ["Space", "x"], (now) => selection.toggle(now)),
    go("extend-down", "Select down", ["Shift+ArrowDown"], () => selection.cursor + 1, true),
    go("extend-up", "Select up", ["Shift+ArrowUp"], () => selection.cursor - 1, true),
    {
      id: "unpick",
      title: "Unselect everything",
      group,
      keys: ["Escape"],
      when: () => selection.all > 0,
      run: () => selection.clear(),
    },
    {
      id: "copy-paths",
      title: "Copy the paths of the selection",
      group,
      keys: ["y"],
      when: () => selection.size > 0 || row() !== undefined,
      run: () => table.copy(),
    },
    {
      id: "compare-runs",
      title: "Compare the selection",
      group,
      keys: ["c"],
      when: some,
      run: () => table.compare(),
    },
    {
      id: "review-runs",
      title: "Review the selection, or all listed",
      group,
      keys: ["v"],
      when: some,
      run: () => table.review(),
    },
    {
      id: "judge-runs",
      title: "Judge the selection, or all listed…",
      group,
      when: some,
      run: () => table.judge(),
    },
    {
      id: "evaluate-runs",
      title: "Evaluate all listed…",
      group,
      when: some,
      run: () => table.evaluate(),
    },
    {
      id: "run-again",
      title: "Rerun the selection…",
      group,
      keys: ["r"],
      when: () => selection.size > 0 || row() !== undefined,
      run: () => table.again(),
    },
    at("menu", "Actions for this run", ["m", "ContextMenu", "Shift+F10"], () => table.menu()),
  ];
}

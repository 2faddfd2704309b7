// Keyboard actions that move in a list, the same in each place.
import type { Action } from "../../app/keys";

interface List {
  group: string;
  /** Start of the ids. */
  id?: string;
  when?: () => boolean;
}

const quietly =
  ({ group, id = "", when }: List) =>
  (name: string, title: string, keys: string[], run: () => void): Action => ({
    id: id + name,
    title,
    group,
    keys,
    quiet: true,
    when,
    run,
  });

/** Makes the actions for the next, previous, first and last of a list of these. */
export function moving(
  list: List & { of: string; move: (by: 1 | -1) => void; end: (last: boolean) => void },
): Action[] {
  const action = quietly(list);
  return [
    action("next", `Next ${list.of}`, ["j", "ArrowDown"], () => list.move(1)),
    action("previous", `Previous ${list.of}`, ["k", "ArrowUp"], () => list.move(-1)),
    action("first", `First ${list.of}`, ["g g", "Home"], () => list.end(false)),
    action("last", `Last ${list.of}`, ["G", "End"], () => list.end(true)),
  ];
}

/** Makes the actions that scroll by this part of a page. */
export function paging(list: List, part: number, scroll: (pages: number) => void): Action[] {
  const action = quietly(list);
  return [
    action("page-down", "A page down", ["Space", "PageDown"], () => scroll(part)),
    action("page-up", "A page up", ["Shift+Space", "PageUp"], () => scroll(-part)),
  ];
}

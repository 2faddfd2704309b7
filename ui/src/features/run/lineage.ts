// Pure. Names of forks.
import { visibleLine } from "../../components/visible/visible";

const withoutEnding = (path: string) => path.replace(/\.(ya?ml|json)$/i, "");

/** Length of what all texts begin with, up to the last break of a name. */
function sharedStart(texts: readonly string[]): number {
  const [first = ""] = texts;
  let end = 0;
  while (end < first.length && texts.every((text) => text[end] === first[end])) end++;
  return Math.max(0, ...["/", "-", "_"].map((mark) => first.lastIndexOf(mark, end - 1) + 1));
}

/**
 * Names that leave out what all paths begin with: runs of a tree are named like their task. The
 * run that all others are named after keeps its whole name.
 */
export function forkNames(paths: readonly string[]): string[] {
  const names = paths.map(withoutEnding);
  const [origin = ""] = names;
  const shared = names.length > 1 ? sharedStart(names.map((name) => `${name}-`)) : 0;
  return names.map((name) =>
    visibleLine(name === origin || name.length <= shared ? name : `…${name.slice(shared)}`),
  );
}

// Pure. Shortens names so that what tells them apart stays visible. The engine does the same for the
// labels of plots.

/** Characters that stay of a common beginning or end. */
const KEPT = 3;

/**
 * Shortens names in the middle to a number of characters. Names that would look the same are cut
 * where they are equal instead.
 */
export function shortNames(names: readonly string[], most: number): Map<string, string> {
  const short = new Map<string, string>();
  const same = new Map<string, string[]>();
  for (const name of new Set(names)) {
    const text = cut(name, most);
    short.set(name, text);
    same.set(text, [...(same.get(text) ?? []), name]);
  }
  for (const group of same.values()) {
    if (group.length < 2) continue;
    const chars = group.map((name) => [...name]);
    const before = common(chars, (name, at) => name[at]);
    const after = common(chars, (name, at) => name[Math.max(name.length - 1 - at, before - 1)]);
    const shortest = Math.min(...chars.map((name) => name.length));
    const end = Math.min(after, shortest - before);
    group.forEach((name, at) => short.set(name, cutEqual(chars[at] ?? [], before, end, most)));
  }
  return short;
}

/** True if each part that stays of a shortened name has some characters. */
export const isReadable = (names: readonly string[], most: number): boolean =>
  [...shortNames(names, most)].every(
    ([name, short]) => name === short || short.split("…").every((part) => part.length >= KEPT),
  );

/** Number of characters that all names share, counted by `at`. */
function common(
  names: readonly string[][],
  at: (name: string[], index: number) => string | undefined,
): number {
  const [first = [], ...others] = names;
  let index = 0;
  while (
    index < first.length &&
    others.every((name) => index < name.length && at(name, index) === at(first, index))
  )
    index++;
  return index;
}

/** Cuts a text in the middle. */
function cut(text: string, most: number): string {
  const chars = [...text];
  if (chars.length <= most) return text;
  const head = Math.floor(most / 2);
  const tail = Math.max(0, most - head - 1);
  return `${chars.slice(0, head).join("")}…${chars.slice(chars.length - tail).join("")}`;
}

/** Cuts the equal beginning and end of a name, and then its middle. */
function cutEqual(name: readonly string[], before: number, after: number, most: number): string {
  const text = (from: number, to: number) => name.slice(from, to).join("");
  const end = name.length - after;
  const head = before > KEPT + 1 ? `${text(0, KEPT)}…` : text(0, before);
  const tail =
    after > KEPT + 1 ? `…${text(name.length - KEPT, name.length)}` : text(end, name.length);
  const room = most - [...head].length - [...tail].length;
  return (head + cut(text(before, end), Math.max(room, KEPT)) + tail).replaceAll(/…{2,}/g, "…");
}

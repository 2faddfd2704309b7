// Highlights matches in the rendered text without changing it: CSS highlights, or the selection
// where they are missing.
import { byteLength } from "../../components/text/lines";

/** Position of the current match: part, byte, and index within the part. */
export interface MatchPosition {
  part: string;
  offset: number;
  /** Row of a table; `nth` then counts within the row. */
  row: number | null;
  nth: number;
}

interface Piece {
  node: Text;
  start: number;
}

const BLOCKS =
  "p, li, td, th, pre, code, [role='cell'], [role='columnheader'], [role='treeitem'], [role='heading'], [data-byte]";
const CHROME = ".tools, .more, .foot, .n, .mark";
const MOST = 2000;

/** Highlights all matches below `root` and the current one. Returns the current range. */
export function highlightMatches(
  root: Element,
  sought: string,
  spot: MatchPosition | undefined,
): Range | undefined {
  clearHighlights();
  if (sought === "") return undefined;
  const all: Range[] = [];
  let now: Range | undefined;
  for (const part of root.querySelectorAll("[data-part]")) {
    const found = occurrences(part, sought, MOST - all.length);
    if (spot && part.getAttribute("data-part") === spot.part) now = nearest(found, spot) ?? now;
    all.push(...found);
  }
  paint("found", all);
  paint("found-now", now ? [now] : []);
  return now;
}

/** Scrolls each container just far enough to show a match. */
export function scrollToRange(range: Range): void {
  const ROOM = 48;
  for (let box = range.startContainer.parentElement; box; box = box.parentElement) {
    if (
      box.scrollHeight <= box.clientHeight ||
      !/auto|scroll/.test(getComputedStyle(box).overflowY)
    )
      continue;
    const [hit, sight] = [range.getBoundingClientRect(), box.getBoundingClientRect()];
    if (hit.top < sight.top + ROOM || hit.bottom > sight.bottom - ROOM / 2)
      box.scrollTop += hit.top - sight.top - sight.height / 3;
  }
}

export function clearHighlights(): void {
  if (!canHighlight()) return;
  for (const name of ["found", "found-now"]) {
    // WebKitGTK redraws the texts of a highlight only when its ranges go.
    CSS.highlights.get(name)?.clear();
    CSS.highlights.delete(name);
  }
}

const canHighlight = (): boolean => typeof CSS !== "undefined" && "highlights" in CSS;

function paint(name: string, ranges: Range[]): void {
  if (canHighlight()) CSS.highlights.set(name, new Highlight(...ranges));
  else if (name === "found-now" && ranges[0]) {
    const selection = getSelection();
    selection?.removeAllRanges();
    selection?.addRange(ranges[0]);
  }
}

/** Ranges of matches in an element, across inline spans but not across blocks. */
export function occurrences(root: Element, sought: string, most: number): Range[] {
  const { text, pieces } = textNodes(root);
  const [hay, needle] = [lowerCase(text), lowerCase(sought)];
  const ranges: Range[] = [];
  let i = 0;
  for (
    let at = hay.indexOf(needle);
    at >= 0 && ranges.length < most;
    at = hay.indexOf(needle, at + needle.length)
  ) {
    while ((pieces[i + 1]?.start ?? Infinity) <= at) i++;
    let j = i;
    while ((pieces[j + 1]?.start ?? Infinity) < at + needle.length) j++;
    const [from, to] = [pieces[i], pieces[j]];
    if (!from || !to) break;
    const range = document.createRange();
    range.setStart(from.node, at - from.start);
    range.setEnd(to.node, at + needle.length - to.start);
    ranges.push(range);
  }
  return ranges;
}

function textNodes(root: Element): { text: string; pieces: Piece[] } {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const pieces: Piece[] = [];
  let text = "";
  let block: Element | null | undefined;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!(node instanceof Text) || !parent || parent.closest(CHROME)) continue;
    const own = parent.closest(BLOCKS);
    // A separator that occurs in no text, because hidden characters are drawn as labels.
    if (block !== undefined && own !== block) text += "\u0000";
    block = own;
    pieces.push({ node, start: text.length });
    text += node.data;
  }
  return { text, pieces };
}

function rowOf(range: Range): number | null {
  const row = range.startContainer.parentElement?.closest("[data-row]")?.getAttribute("data-row");
  return row == null ? null : Number(row);
}

/** Lower-cases a text unless that changes positions. */
function lowerCase(text: string): string {
  const low = text.toLowerCase();
  return low.length === text.length ? low : text;
}

/** The match nearest by table row, by byte where lines have offsets, else by index. */
function nearest(all: Range[], spot: MatchPosition): Range | undefined {
  const table = spot.row !== null && all.some((range) => rowOf(range) !== null);
  const ranges = table ? all.filter((range) => rowOf(range) === spot.row) : all;
  let best: Range | undefined;
  let least = Infinity;
  for (const range of ranges) {
    const row = range.startContainer.parentElement?.closest("[data-byte]");
    if (!row) return ranges[Math.min(spot.nth, ranges.length - 1)];
    const before = document.createRange();
    before.setStart(row, 0);
    before.setEnd(range.startContainer, range.startOffset);
    const distance = Math.abs(
      Number(row.getAttribute("data-byte")) + byteLength(before.toString()) - spot.offset,
    );
    if (distance < least) [best, least] = [range, distance];
  }
  return best;
}

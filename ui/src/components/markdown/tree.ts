// Pure. Parses Markdown into a typed tree of allowed nodes. Raw HTML becomes text, link targets are
// checked, images are named and never fetched.
import type { Nodes, PhrasingContent, Root, RootContent, TableRow } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmTableFromMarkdown } from "mdast-util-gfm-table";
import { gfmTable } from "micromark-extension-gfm-table";
import { hideFormulas } from "./formulas";

export type Inline =
  | { kind: "text"; text: string }
  | { kind: "literal"; text: string }
  | { kind: "code"; text: string }
  | { kind: "emphasis" | "strong"; children: Inline[] }
  | { kind: "link"; href: string; children: Inline[] }
  | { kind: "image"; src: string; host: string; alt: string }
  | { kind: "break" };

export type Block =
  | { kind: "paragraph"; children: Inline[] }
  | {
      kind: "heading";
      depth: number;
      /** Level in the outline of this text, from 1, without gaps. */ level: number;
      children: Inline[];
    }
  | { kind: "quote"; children: Block[] }
  | { kind: "list"; start: number | undefined; items: Block[][] }
  | { kind: "code"; language: string; text: string }
  | { kind: "literal"; text: string }
  | { kind: "rule" }
  | { kind: "table"; align: ("left" | "right" | "center" | "")[]; rows: Inline[][][] };

/** Longer text is shown as plain text, because parsing it takes longer than a frame. */
export const LONGEST = 24_000;
const MOST_LINES = 1500;
const DEEPEST = 30;

/** Width of a line of prose; lines with links render shorter. */
const WIDEST = 220;
/** A link definition, which may apply to any earlier text. */
const DEFINES = /^ {0,3}\[[^\]\n]+\]:/m;

/**
 * Cuts a text to slightly more than fills this many lines on screen, because parsing is the most
 * expensive part.
 */
export function beginning(source: string, lines: number): string {
  // Some lines render nothing, such as fences and table rules.
  let left = lines * 1.4;
  for (
    let at = 0, end = source.indexOf("\n");
    end >= 0;
    at = end + 1, end = source.indexOf("\n", at)
  ) {
    if (end > at) left -= Math.max(1, (end - at) / WIDEST);
    if (left <= 0) return DEFINES.test(source.slice(end + 1)) ? source : source.slice(0, end + 1);
  }
  return source;
}

interface Reading {
  source: string;
  /** Restores the original text of a parsed piece. */
  shown: (text: string) => string;
  definitions: Map<string, string>;
  /** Depths of the headings that the next one may be nested in. */
  outline: number[];
}

/** The tree, or undefined if the text is too long or complex to parse quickly. */
export function markdown(text: string): Block[] | undefined {
  const source = text.replaceAll("\r\n", "\n");
  if (source.length > LONGEST || tangled(source)) return undefined;
  const { hidden, shown } = hideFormulas(source);
  const root: Root = fromMarkdown(hidden, {
    extensions: [gfmTable()],
    mdastExtensions: [gfmTableFromMarkdown()],
  });
  const reading: Reading = { source, shown, definitions: new Map(), outline: [] };
  collect(root, reading);
  return blocks(root.children, reading, 0);
}

/** Detects input that takes the parser more than linear time and is never written for reading. */
function tangled(source: string): boolean {
  if (/^(?:[ \t]{0,8}(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))){24}/m.test(source)) return true;
  if ((source.match(/\n/g)?.length ?? 0) > MOST_LINES) return true;
  return (
    (source.match(/[[\]]/g)?.length ?? 0) > 2000 ||
    (source.match(/[*_]/g)?.length ?? 0) > 4000 ||
    /[[\]*_<&`]{400}/.test(source)
  );
}

function collect(root: Root, reading: Reading): void {
  const todo: Nodes[] = [root];
  for (let node = todo.pop(); node; node = todo.pop()) {
    if (node.type === "definition")
      reading.definitions.set(node.identifier, reading.shown(node.url));
    if ("children" in node) for (const child of node.children) todo.push(child);
  }
}

function blocks(nodes: RootContent[], reading: Reading, depth: number): Block[] {
  return nodes.map((node) => block(node, reading, depth));
}

function block(node: RootContent, reading: Reading, depth: number): Block {
  if (depth > DEEPEST) return { kind: "literal", text: sourceOf(node, reading) };
  switch (node.type) {
    case "paragraph":
      return { kind: "paragraph", children: inlines(node.children, reading, depth + 1) };
    case "heading":
      return {
        kind: "heading",
        depth: node.depth,
        level: levelOf(node.depth, reading),
        children: inlines(node.children, reading, depth + 1),
      };
    case "blockquote":
      return { kind: "quote", children: blocks(node.children, reading, depth + 1) };
    case "list":
      return {
        kind: "list",
        start: node.ordered ? (node.start ?? 1) : undefined,
        items: node.children.map((item) => blocks(item.children, reading, depth + 1)),
      };
    case "code":
      return {
        kind: "code",
        language: reading.shown(node.lang ?? ""),
        text: reading.shown(node.value),
      };
    case "thematicBreak":
      return { kind: "rule" };
    case "table":
      return {
        kind: "table",
        align: (node.align ?? []).map((a) => a ?? ""),
        rows: node.children.map((row) => cells(row, reading, depth + 1)),
      };
    default:
      // HTML, definitions and unknown nodes are shown as their source.
      return { kind: "literal", text: sourceOf(node, reading) };
  }
}

function levelOf(depth: number, { outline }: Reading): number {
  while ((outline.at(-1) ?? 0) >= depth) outline.pop();
  return outline.push(depth);
}

function cells(row: TableRow, reading: Reading, depth: number): Inline[][] {
  return row.children.map((cell) => inlines(cell.children, reading, depth));
}

function inlines(nodes: PhrasingContent[], reading: Reading, depth: number): Inline[] {
  return nodes.map((node) => inline(node, reading, depth));
}

function inline(node: PhrasingContent, reading: Reading, depth: number): Inline {
  if (depth > DEEPEST) return { kind: "literal", text: sourceOf(node, reading) };
  switch (node.type) {
    case "text":
      return { kind: "text", text: reading.shown(node.value) };
    case "inlineCode":
      return { kind: "code", text: reading.shown(node.value) };
    case "emphasis":
    case "strong":
      return { kind: node.type, children: inlines(node.children, reading, depth + 1) };
    case "break":
      return { kind: "break" };
    case "link":
      return link(reading.shown(node.url), node, node.children, reading, depth);
    case "linkReference":
      return link(
        reading.definitions.get(node.identifier) ?? "",
        node,
        node.children,
        reading,
        depth,
      );
    case "image":
      return image(reading.shown(node.url), reading.shown(node.alt ?? ""), node, reading);
    case "imageReference":
      return image(
        reading.definitions.get(node.identifier) ?? "",
        reading.shown(node.alt ?? ""),
        node,
        reading,
      );
    default:
      return { kind: "literal", text: sourceOf(node, reading) };
  }
}

function link(
  url: string,
  node: PhrasingContent,
  children: PhrasingContent[],
  reading: Reading,
  depth: number,
): Inline {
  const href = safeTarget(url);
  return href
    ? { kind: "link", href, children: inlines(children, reading, depth + 1) }
    : { kind: "literal", text: sourceOf(node, reading) };
}

function image(url: string, alt: string, node: PhrasingContent, reading: Reading): Inline {
  const src = safeTarget(url);
  return src && !src.startsWith("mailto:")
    ? { kind: "image", src, host: new URL(src).host, alt }
    : { kind: "literal", text: sourceOf(node, reading) };
}

/** The address if it is absolute and http, https or mailto. */
export function safeTarget(url: string): string | undefined {
  if (/[\u0000-\u0020\u007f-\u009f]/.test(url) || !/^(?:https?:\/\/|mailto:)/i.test(url))
    return undefined;
  try {
    const parsed = new URL(url);
    return ["http:", "https:", "mailto:"].includes(parsed.protocol) ? parsed.href : undefined;
  } catch {
    return undefined;
  }
}

function sourceOf(node: RootContent, reading: Reading): string {
  return reading.source.slice(node.position?.start.offset ?? 0, node.position?.end.offset ?? 0);
}

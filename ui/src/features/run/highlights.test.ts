import { afterEach, describe, expect, it } from "vitest";
import { highlightMatches, occurrences } from "./highlights";

/** Elements from a list: a text, or a tag with its children. */
type Piece = string | [tag: string, ...Piece[]];
function build(pieces: Piece[], root: HTMLElement = document.createElement("div")): HTMLElement {
  for (const piece of pieces) {
    if (typeof piece === "string") root.append(piece);
    else root.append(build(piece.slice(1), document.createElement(piece[0])));
  }
  return root;
}
afterEach(() => document.body.replaceChildren());
const found = (pieces: Piece[], sought: string) =>
  occurrences(build(pieces), sought, 100).map((range) => range.toString());

describe("what was found", () => {
  it("is marked whatever its case", () =>
    expect(found([["p", "Plan and plan"]], "PLAN")).toEqual(["Plan", "plan"]));
  it("is marked across the spans that colour it", () =>
    expect(found([["pre", ["span", "SEL"], ["span", "ECT"], " 1"]], "select 1")).toEqual([
      "SELECT 1",
    ]));
  it("is not made up across two blocks", () =>
    expect(
      found(
        [
          ["p", "pl"],
          ["p", "an"],
        ],
        "plan",
      ),
    ).toEqual([]));
  it("is marked once where it overlaps itself", () =>
    expect(found(["aaaa"], "aa")).toEqual(["aa", "aa"]));
  it("is bounded", () => expect(occurrences(build(["a".repeat(500)]), "a", 7)).toHaveLength(7));
  it("in a table is marked in the row that it names, and nowhere while that row is not drawn", () => {
    const part = build([
      ["div", ["span", "plan plan"]],
      ["div", ["span", "no"]],
      ["div", ["span", "plan"]],
    ]);
    part.setAttribute("data-part", "p");
    [...part.children].forEach((row, at) => row.setAttribute("data-row", String(at + 140)));
    const root = document.createElement("div");
    root.append(part);
    document.body.append(root);
    const at = (row: number, nth: number) =>
      highlightMatches(root, "plan", { part: "p", offset: 0, row, nth })
        ?.startContainer.parentElement?.closest("[data-row]")
        ?.getAttribute("data-row");
    expect([at(140, 1), at(142, 0), at(141, 0), at(900, 0)]).toEqual([
      "140",
      "142",
      undefined,
      undefined,
    ]);
  });
});

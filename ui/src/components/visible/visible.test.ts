import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { visible, visibleLine } from "./visible";

const shown = (text: string) =>
  visible(text)
    .map((piece) => (piece.hidden ? `‹${piece.text}›` : piece.text))
    .join("");

describe("what cannot be seen gets a label", () => {
  it.each([
    [
      "control characters",
      "\u001b]0;t\u0007\u001b[2K\rALL PASSED",
      "‹ESC›]0;t‹\\x07›‹ESC›[2K‹\\r›ALL PASSED",
    ],
    ["second set of control characters", "a\u009bb\u0085c", "a‹\\x9B›b‹\\x85›c"],
    ["a direction override in a file name", "gpj.\u202Etxt.exe", "gpj.‹U+202E›txt.exe"],
    ["isolates", "\u2066x\u2069", "‹U+2066›x‹U+2069›"],
    ["zero-width characters", "pay\u200Bpal\uFEFF\u2060", "pay‹U+200B›pal‹U+FEFF›‹U+2060›"],
    ["letters of the tag block, which models read and people do not", "hi\u{E0041}", "hi‹U+E0041›"],
    ["half of a surrogate pair", "a\uD800b", "a‹U+D800›b"],
  ])("%s", (_, text, want) => expect(shown(text)).toBe(want));

  it.each(["plain text\twith a tab\nand a line", "Ünïcödé 漢字 עברית", "👨‍👩‍👧 ❤️‍🔥 👩🏽‍💻 🇩🇪", ""])(
    "leaves %j alone",
    (text) => expect(visible(text)).toEqual([{ text, hidden: "" }]),
  );

  it("labels a joiner that joins no emoji", () => expect(shown("a\u200Db")).toBe("a‹U+200D›b"));

  it("loses no ordinary character and keeps no hidden one", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const kept = visible(text)
          .filter((piece) => !piece.hidden)
          .map((piece) => piece.text)
          .join("");
        const labels = visible(text).filter((piece) => piece.hidden).length;
        expect([...kept].length + labels).toBe([...text].length);
        expect(kept).not.toMatch(/[\u0000-\u0008\u202A-\u202E\u2066-\u2069\u200B]/);
      }),
    );
  });

  it("makes one line of a title", () =>
    expect(visibleLine("a\r\n  b\u202Ec")).toBe("a b‹U+202E›c"));
});

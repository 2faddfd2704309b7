import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ansi, hasAnsi } from "./ansi";

describe("terminal colours", () => {
  it.each([
    [
      "a colour and its end",
      "\u001b[31merror\u001b[0m: no",
      [
        ["error", "fg1"],
        [": no", ""],
      ],
    ],
    ["several at once", "\u001b[1;4;92mok", [["ok", "bold underline fg10"]]],
    [
      "an empty sequence is a reset",
      "\u001b[7mx\u001b[my",
      [
        ["x", "inverse"],
        ["y", ""],
      ],
    ],
    [
      "256 colours come down to sixteen",
      "\u001b[38;5;196mred\u001b[48;5;21mblue",
      [
        ["red", "fg9"],
        ["blue", "fg9 bg12"],
      ],
    ],
    ["true colour comes down to sixteen", "\u001b[38;2;0;200;0mgreen", [["green", "fg2"]]],
    [
      "what is no colour stays to be seen",
      "\u001b[2Kgone\u001b]0;title\u0007",
      [["\u001b[2Kgone\u001b]0;title\u0007", ""]],
    ],
    ["numbers out of range are passed over", "\u001b[999;38;5mx", [["x", "fg0"]]],
  ])("%s", (_, text, want) =>
    expect(ansi(text).map((cut) => [cut.text, cut.classes])).toEqual(want),
  );

  it("keeps everything but the sequences themselves", () => {
    const bit = fc.oneof(
      fc.string(),
      fc.constantFrom("\u001b[1m", "\u001b[38;5;300m", "\u001b[;;;m", "\u001b[38;2m"),
    );
    fc.assert(
      fc.property(fc.array(bit), (bits) => {
        const text = bits.join("");

        expect(
          ansi(text)
            .map((cut) => cut.text)
            .join(""),
        ).toBe(text.replace(/\u001b\[[\d;:]{0,64}m/g, ""));
        for (const cut of ansi(text))
          expect(cut.classes).toMatch(
            /^(?:(?:bold|dim|italic|underline|inverse|strike|[fb]g(?:\d|1[0-5]))(?: |$))*$/,
          );
      }),
    );
  });

  it("is only asked when there is an escape", () =>
    expect([hasAnsi("a[31m"), hasAnsi("\u001b[31m")]).toEqual([false, true]));
});

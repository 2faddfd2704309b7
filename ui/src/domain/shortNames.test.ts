import { describe, expect, it } from "vitest";
import fc from "fast-check";
import { isReadable, shortNames } from "./shortNames";

const short = (names: string[], most: number) => [...shortNames(names, most).values()];

describe("names", () => {
  it("are cut in the middle, and only if they are too long", () => {
    expect(short(["promptql"], 12)).toEqual(["promptql"]);
    expect(short(["tool_calling_python_with_retries"], 12)).toEqual(["tool_c…tries"]);
  });
  it("that are cut keep what tells them apart", () => {
    expect(
      short(
        ["agent-with-a-long-name-A-and-a-long-end", "agent-with-a-long-name-B-and-a-long-end"],
        16,
      ),
    ).toEqual(["age…A…end", "age…B…end"]);
    expect(short(["claude-3-5-sonnet-20240620", "claude-3-5-sonnet-20241022"], 12)).toEqual([
      "claude…40620",
      "claude…41022",
    ]);
  });
  it("are readable where some characters of each part stay", () => {
    const names = ["gpt-4o-with-good-tools-and-docs", "gpt-4o-with-weak-tools-and-docs"];
    expect([isReadable(names, 9), isReadable(names, 20)]).toEqual([false, true]);
    expect(isReadable(["gpt", "o1"], 9)).toBe(true);
  });
  it("are as many as before and never longer than allowed", () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ maxLength: 40 })),
        fc.integer({ min: 12, max: 30 }),
        (names, most) => {
          const found = shortNames(names, most);
          for (const name of names) {
            const text = found.get(name) ?? "";
            expect([...text].length).toBeLessThanOrEqual(Math.max(most, [...name].length));
            if ([...name].length <= most) expect(text).toBe(name);
          }
        },
      ),
    );
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzy, sift } from "./fuzzy";

const found = (sought: string, ...all: string[]) => sift(all, sought, (one) => one);

describe("letters in order", () => {
  it("find begins of words before letters scattered about", () => {
    expect(found("th", "Smaller text, much", "Colours: light", "Theme", "a-th")[0]).toBe("Theme");
    expect(found("ot", "Settings doctor", "Open tables")[0]).toBe("Open tables");
  });
  it("have to be there, in that order", () => {
    expect(found("zz", "Runs")).toEqual([]);
    expect(fuzzy("snr", "Runs")).toBeNull();
  });
  it("find an item by the beginning of another word for it, before letters scattered about", () => {
    const others = (one: string) => (one === "Report" ? ["csv", "export"] : []);
    const by = (sought: string) => sift(["Choose a view", "Report"], sought, (one) => one, others);
    expect(by("CSV")[0]).toBe("Report");
    expect(by("expo")).toEqual(["Report"]);
    expect(by("sv")).toEqual(["Choose a view"]);
  });
  it("find every text by its own letters", () => {
    fc.assert(
      fc.property(
        fc.string(),
        (text) => void expect(fuzzy(text.toLowerCase(), text)).not.toBeNull(),
      ),
    );
  });
  it("leave the order as it is when nothing is sought", () =>
    expect(found(" ", "b", "a")).toEqual(["b", "a"]));
});

it("ranks a title that holds the word above one that has its letters here and there", () => {
  const titles = ["Review the selection, or all listed", "Save filter as label…", "New label…"];
  expect(
    sift(titles, "label", (title) => title)
      .slice(0, 2)
      .sort(),
  ).toEqual(["New label…", "Save filter as label…"]);
});

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

describe("a title that holds the word", () => {
  const titles = ["Tasks", "Review the selection, or all listed", "Make a suite…", "New label…"];
  const others = (title: string) =>
    ({ Tasks: ["suites"], "Review the selection, or all listed": ["label"] })[title] ?? [];
  const by = (sought: string) => sift(titles, sought, (title) => title, others);
  it("is before one that another word finds, or that has its letters here and there", () => {
    expect(by("label")).toEqual(["New label…", "Review the selection, or all listed"]);
    expect(by("Suite")).toEqual(["Make a suite…", "Tasks"]);
    expect(by("make suite")[0]).toBe("Make a suite…");
  });
  it("begins with it, or has a word that does, before one that has it in a word; else the order stays", () =>
    expect(found("la", "Relabel", "New label", "A label", "Labels")).toEqual([
      "Labels",
      "New label",
      "A label",
      "Relabel",
    ]));
});

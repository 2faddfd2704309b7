import { describe, expect, it } from "vitest";
import { pageRequest, visibleChips } from "./taskQuery";

describe("what is asked of the list of tasks", () => {
  it("names a set and a category only when one is chosen", () => {
    expect(pageRequest({ words: "a b", set: "", category: "" }, 2).request).toEqual({
      words: "a b",
      set: null,
      category: null,
      span: { offset: 200, limit: 100 },
    });
    expect(pageRequest({ words: "", set: "G1", category: "Data" }, 0).request).toMatchObject({
      set: "G1",
      category: "Data",
    });
  });
  it("keeps the chosen chip in sight, however many there are and when nothing passes any more", () => {
    const many = Array.from({ length: 90 }, (_, at) => ({ value: `c${at}`, count: 90 - at }));
    expect(visibleChips(many, "")).toHaveLength(60);
    expect(visibleChips(many, "c5")).toHaveLength(60);
    expect(visibleChips(many, "c80")[0]).toEqual({ value: "c80", count: 10 });
    expect(visibleChips([], "gone")).toEqual([{ value: "gone", count: 0 }]);
  });
});

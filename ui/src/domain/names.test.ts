import { expect, it } from "vitest";
import { mergedRuns, typedNames } from "./names";

it("names are trimmed, and an empty field is no name", () => {
  expect(typedNames({ task: " a ", system: "", model: "  " })).toEqual({
    task: "a",
    system: null,
    model: null,
  });
});

it("a name merges with the other runs that have it", () => {
  const facets = [{ key: "system", about: "", values: [{ value: "mine", count: 3 }] }];
  expect(mergedRuns(facets, "system", "react", " mine ")).toBe(3);
  expect(mergedRuns(facets, "system", "mine", "mine")).toBe(0);
  expect(mergedRuns(facets, "system", "react", "new")).toBe(0);
  expect(mergedRuns(facets, "model", "react", "mine")).toBe(0);
  expect(mergedRuns(facets, "system", null, " ")).toBe(0);
});

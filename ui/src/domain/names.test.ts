import { expect, it } from "vitest";
import { correctedNames, knownNames, mergedRuns, typedNames } from "./names";
import { runRow } from "../testing/fakeBackend";

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

it("names of other runs are offered, the most frequent first", () => {
  const values = [
    { value: "mine", count: 3 },
    { value: "react", count: 1 },
  ];
  const facets = [{ key: "system", about: "", values }];
  expect(knownNames(facets, "system")).toEqual(["mine", "react"]);
  expect(knownNames(facets, "model")).toEqual([]);
});

it("only names that differ from those of the file are corrected", () => {
  const row = runRow(0, { task: "t", system: "mine", model: "m" });
  const own_names = { task: "t", system: "react", model: null };
  expect(correctedNames({ row, own_names })).toEqual([
    { key: "system", own: "react" },
    { key: "model", own: null },
  ]);
  expect(correctedNames({ row, own_names: null })).toEqual([]);
});

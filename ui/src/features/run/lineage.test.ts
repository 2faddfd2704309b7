import { expect, it } from "vitest";
import { forkNames } from "./lineage";

it.each([
  [["a-o1-variation0.yaml"], ["a-o1-variation0"]],
  [
    ["t/a-o1-variation0.yaml", "t/a-o1-variation0-fork1.yaml", "t/a-o1-variation0-fork2.yaml"],
    ["t/a-o1-variation0", "…fork1", "…fork2"],
  ],
  [
    ["x/one.yaml", "y/two.yaml"],
    ["x/one", "…y/two"],
  ],
])("names of %j leave out what all begin with", (paths, names) =>
  expect(forkNames(paths)).toEqual(names),
);

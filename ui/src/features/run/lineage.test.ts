import { expect, it } from "vitest";
import { forkNames, laterMessage } from "./lineage";

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

it("a later message is a nudge only where no person sent one", () => {
  expect([laterMessage({ follow_ups: 0 }), laterMessage({ follow_ups: 2 })]).toEqual([
    "nudge",
    "follow-up",
  ]);
});

import { expect, it } from "vitest";
import { runRow } from "../../testing/fakeBackend";
import { launchRun } from "../../testing/launch";
import { endedFilter, filesFilter, MAX_FILES, scoreSummary } from "./results";

it("only ended runs are asked for, by their files", () => {
  const runs = [
    launchRun(1, { state: "answered", path: "a b.yaml" }),
    launchRun(2, { state: "running", path: "c.yaml" }),
    undefined,
    launchRun(3, { state: "error", path: "d,e.yaml" }),
  ];
  expect(endedFilter(runs)).toBe('file:"a b.yaml","d,e.yaml"');
  expect(endedFilter([undefined])).toBe("");
});

it("more files than a filter takes have no filter", () =>
  expect(filesFilter(Array.from({ length: MAX_FILES + 1 }, (_, at) => `${at}.yaml`))).toBe(""));

it("scores are summed up without those that are missing, which never count as 0", () => {
  const row = (score: number | null, passed: boolean | null) => runRow(0, { score, passed });
  expect(scoreSummary([row(1, true), row(0.5, false), row(null, null)])).toBe(
    "1 of 2 passed · mean score 0.75",
  );
  expect(scoreSummary([row(0.5, null)])).toBe("mean score 0.50");
  expect(scoreSummary([row(null, null)])).toBe("");
});

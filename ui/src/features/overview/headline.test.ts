import { describe, expect, it } from "vitest";
import type { FailureMap } from "../../generated";
import { errorsBeside, topCauses } from "./headline";

describe("the headline of the overview", () => {
  it("has the two most frequent kinds of causes", () => {
    const kind = (name: string, runs: number, is_error = false) => ({
      kind: name,
      title: name,
      is_error,
      causes: 1,
      runs,
      also: 0,
      shares: [],
    });
    const kinds = [kind("few", 1), kind("most", 5), kind("none", 0), kind("some", 3)];
    expect(topCauses({ kinds, clusters: [] }).map(({ title, runs }) => [title, runs])).toEqual([
      ["most", 5],
      ["some", 3],
    ]);
    // A kind with one cause has the name of that cause, as in Failures.
    const only = {
      kind: "some",
      title: "Rows are missing",
      runs: 3,
      mode: "m",
      subject: "",
      detail: "",
    };
    expect(
      topCauses({ kinds, clusters: [only as FailureMap["clusters"][number]] }).map(
        ({ title }) => title,
      ),
    ).toEqual(["most", "Rows are missing"]);
    const error = kind("rate limit", 9, true);
    const named = (some: typeof kinds) =>
      topCauses({ kinds: some, clusters: [] }).map(({ title }) => title);
    expect(named([error, ...kinds])).toEqual(["most", "some"]);
    expect(named([error])).toEqual(["rate limit (error)"]);
    expect(errorsBeside({ kinds: [error, ...kinds] })).toBe(9);
    expect(errorsBeside({ kinds: [error] })).toBe(0);
  });
});

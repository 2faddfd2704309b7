import { describe, expect, it } from "vitest";
import type { RunRow } from "../../generated/RunRow";
import { OPTIONS } from "../../launch.test-env";
import { continuable, forkPart, forkWords, whyNotContinued, whyNothing, whyNotLaunched } from "./again";
import { SMALL, view } from "../../step/canned.test-env";

const run = (row: Partial<RunRow> = {}, layout = "Tool-calling transcript") => view(SMALL, { system: "tool_calling", ...row }, { layout });
const no = { ...OPTIONS, why_not: { message: "Not allowed.", fix: "Start it with --allow-run." } };

describe("a run", () => {
  it.each<[string, Partial<RunRow>, string, string | null]>([
    ["of tool calling can be continued", {}, "Tool-calling transcript", null],
    ["of PromptQL cannot", { system: "promptql" }, "PromptQL transcript", "PromptQL"],
    ["of another program cannot", {}, "Benchmark folder", "another program"],
    ["that is one of many in a file cannot", { member: "588" }, "Tool-calling transcript", "never written to"],
    ["that is damaged cannot", { state: "damaged" }, "Tool-calling transcript", "cannot be read"],
    ["that is being written cannot", { state: "writing" }, "Tool-calling transcript", "being written"],
    ["without a task in its name cannot", { task: null }, "Tool-calling transcript", "does not say which task"],
  ])("%s", (_, row, layout, why) => {
    const found = whyNotContinued(run(row, layout), OPTIONS);
    if (why === null) expect(found).toBeNull();
    else expect(found?.message).toContain(why);
  });
  it("cannot where nothing can be launched, with the reason; and not yet while that is unknown", () => {
    expect(whyNotContinued(run(), no)).toBe(no.why_not);
    expect(whyNotContinued(run(), undefined)).toBeUndefined();
  });
  it("that is damaged or of PromptQL can still be run from the start", () => {
    expect([whyNotLaunched(run({ state: "damaged" }), OPTIONS), whyNotLaunched(run({ system: "promptql" }), OPTIONS)]).toEqual([null, null]);
    expect(whyNotLaunched(run(), no)).toBe(no.why_not);
    expect(whyNotLaunched(run({ member: "588" }), OPTIONS)?.message).toContain("never written to");
  });
  it("is not advised to be run again where nobody may", () => {
    const promptql = run({ system: "promptql" });
    const said = (options: typeof OPTIONS) => whyNothing(whyNotContinued(promptql, options), whyNotLaunched(promptql, options));
    expect(said(OPTIONS)).toEqual({ message: "A PromptQL run cannot be continued: each question is asked anew.", fix: "Run it again from the start." });
    expect(said(no)).toEqual({ message: "A PromptQL run cannot be continued: each question is asked anew. Not allowed.", fix: "Start it with --allow-run." });
    expect(whyNothing(whyNotContinued(run(), no), whyNotLaunched(run(), no))).toBe(no.why_not);
  });
  it("owes something by itself when it waits or ended in an error", () => {
    expect((["answered", "no_answer", "waiting", "error"] as const).map((state) => continuable(run({ state })))).toEqual([false, false, true, true]);
  });
});

describe("another branch", () => {
  it("begins with what the user said there, and with nothing at any other step", () => {
    expect([forkPart(SMALL[0])?.id, forkPart(SMALL[1]), forkPart(undefined)]).toEqual(["p0", undefined, undefined]);
  });
  it("says what it does", () => {
    expect(forkWords(SMALL[0], 0)).toContain("before step 1");
    expect(forkWords(SMALL[1], 1)).toContain("with step 2");
  });
});

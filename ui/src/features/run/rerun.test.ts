import { describe, expect, it } from "vitest";
import type { EditableField, RunRow, Step, StepPart } from "../../generated";
import { OPTIONS } from "../../testing/launch";
import {
  canContinue,
  describeFork,
  forkModels,
  forkModes,
  modeName,
  newRerunReason,
  stepEdit,
  whyNotEdit,
  whyNotContinued,
  whyNotLaunched,
} from "./rerun";
import { SMALL, view } from "../../testing/runs";

const run = (row: Partial<RunRow> = {}, layout = "Tool-calling transcript") =>
  view(SMALL, { system: "tool_calling", ...row }, { layout });
const no = { ...OPTIONS, why_not: { message: "Not allowed.", fix: "Start it with --allow-run." } };

describe("a run", () => {
  it.each<[string, Partial<RunRow>, string, string | null]>([
    ["of tool calling can be continued", {}, "Tool-calling transcript", null],
    ["of PromptQL cannot", { system: "promptql" }, "PromptQL transcript", "PromptQL"],
    ["of another program cannot", {}, "Benchmark folder", "another program"],
    [
      "that is one of many in a file cannot",
      { member: "588" },
      "Tool-calling transcript",
      "read-only",
    ],
    ["that is damaged cannot", { state: "damaged" }, "Tool-calling transcript", "cannot be read"],
    [
      "that is being written cannot",
      { state: "writing" },
      "Tool-calling transcript",
      "being written",
    ],
    [
      "without a task in its name cannot",
      { task: null },
      "Tool-calling transcript",
      "does not contain task",
    ],
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
    expect([
      whyNotLaunched(run({ state: "damaged" }), OPTIONS),
      whyNotLaunched(run({ system: "promptql" }), OPTIONS),
    ]).toEqual([null, null]);
    expect(whyNotLaunched(run(), no)).toBe(no.why_not);
    expect(whyNotLaunched(run({ member: "588" }), OPTIONS)?.message).toContain("read-only");
  });
  const ANEW = "PromptQL runs cannot be continued.";
  const UNREAD = "The file cannot be read, so it cannot be continued.";
  const SHOWN = "A benchmark folder of another program is read-only.";
  const START = "Start it with --allow-run.";
  it.each<
    [string, Partial<RunRow>, string, typeof OPTIONS, [string, string | null], string | null]
  >([
    [
      "of PromptQL, where it may be",
      { system: "promptql" },
      "PromptQL transcript",
      OPTIONS,
      [ANEW, "Rerun it from the start."],
      null,
    ],
    [
      "of PromptQL, where nobody may",
      { system: "promptql" },
      "PromptQL transcript",
      no,
      [`${ANEW} Not allowed.`, START],
      null,
    ],
    [
      "of PromptQL, whose name does not say what it is",
      { system: "promptql", task: null },
      "PromptQL transcript",
      OPTIONS,
      [
        `${ANEW} The file name does not contain task, system and model.`,
        "Use a name like task-system-model-variation0-run1.yaml.",
      ],
      null,
    ],
    [
      "that is damaged, where it may be",
      { state: "damaged" },
      "Tool-calling transcript",
      OPTIONS,
      [UNREAD, "Fix it in an editor, or rerun it from the start."],
      null,
    ],
    [
      "that is damaged, where nobody may",
      { state: "damaged" },
      "Tool-calling transcript",
      no,
      [UNREAD, "Fix it in an editor."],
      "Not allowed.",
    ],
    [
      "that is being written, where nobody may",
      { state: "writing" },
      "Tool-calling transcript",
      no,
      ["The file is being written.", null],
      "Not allowed.",
    ],
    ["of another program, where it may be", {}, "Benchmark folder", OPTIONS, [SHOWN, null], null],
    [
      "of another program, where nobody may",
      {},
      "Benchmark folder",
      no,
      [SHOWN, null],
      "Not allowed.",
    ],
    [
      "of tool calling, where nobody may",
      {},
      "Tool-calling transcript",
      no,
      ["Not allowed.", START],
      null,
    ],
  ])(
    "%s is advised to be run again only where it can be, and why it cannot is said once",
    (_, row, layout, options, [message, fix], besides) => {
      const [continued, again] = [
        whyNotContinued(run(row, layout), options),
        whyNotLaunched(run(row, layout), options),
      ];
      expect(continued).toEqual({ message, fix });
      expect(newRerunReason(continued, again)?.message ?? null).toBe(besides);
    },
  );
  it("owes something by itself when it waits or ended in an error", () => {
    expect(
      (["answered", "no_answer", "waiting", "error"] as const).map((state) =>
        canContinue(run({ state })),
      ),
    ).toEqual([false, false, true, true]);
  });
});

describe("another branch", () => {
  const field = (part: StepPart, argument: string | null = null): EditableField => ({
    part,
    text: "",
    argument,
  });
  const editable = (fields: EditableField[]) => ({ fields, needs_message: false, why_not: null });
  const [user, assistant, , call] = SMALL as [Step, Step, Step, Step];
  it("replaces a message of the user, and edits any other step or follows it", () => {
    const call_fields = [field("arguments"), field("result"), field("error")];
    expect([
      forkModes(user, editable([field("message")])),
      forkModes(assistant, editable([field("message")])),
      forkModes(call, editable(call_fields)),
      forkModes(user, editable([])),
    ]).toEqual([
      ["message"],
      ["message", "next"],
      ["arguments", "result", "error", "next"],
      ["next"],
    ]);
    expect([
      modeName("message", user, undefined),
      modeName("message", assistant, undefined),
      modeName("arguments", call, field("arguments", "sql")),
    ]).toEqual(["Replacement message", "Reply", "Argument sql"]);
  });
  it("says what it does", () => {
    expect(describeFork(user, 0, "message")).toContain("before step 1");
    expect(describeFork(assistant, 1, "next")).toContain("up to step 2");
    expect(describeFork(call, 2, "arguments")).toContain("makes the call again");
  });
  it.each<[string, string | null, string | null]>([
    ['{"a": 1}', null, null],
    ["{}", null, null],
    ["[]", null, "object"],
    ["null", null, "object"],
    ["{", null, "not JSON"],
    [" ", null, "Write {} for none"],
    ["SELECT 1", "sql", null],
  ])("takes arguments that are an object: %s", (text, argument, why) => {
    const found = whyNotEdit("arguments", field("arguments", argument), text);
    if (why === null) expect(found).toBeNull();
    else expect(found).toContain(why);
  });
  it("takes any result, no empty message, and sends a single argument as an object", () => {
    expect(whyNotEdit("result", field("result"), "{")).toBeNull();
    expect(whyNotEdit("message", field("message"), " ")).toBe("The message is empty.");
    expect(stepEdit("arguments", field("arguments", "sql"), 'a"\n')).toEqual({
      part: "arguments",
      text: '{"sql":"a\\"\\n"}',
    });
  });
  it("offers the model of the run first, then those that can run, and last those that cannot", () => {
    const names = (own: string) =>
      forkModels(own, OPTIONS).map(
        ({ name, why_not }) => `${name} ${why_not === null ? "" : "no"}`,
      );
    expect(names("claude")).toEqual(["claude ", "replay ", "o1 no"]);
    expect(names("o1")).toEqual(["o1 no", "claude ", "replay "]);
    expect(names("gone")).toEqual(["gone no", "claude ", "replay ", "o1 no"]);
  });
});

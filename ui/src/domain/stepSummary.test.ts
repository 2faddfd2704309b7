import { describe, expect, it } from "vitest";
import {
  argumentsLine,
  isOpenByDefault,
  isPatch,
  messagePreview,
  describeOutcome,
  laterMessage,
  speakerName,
} from "./stepSummary";
import { step, table, text, value } from "../testing/runs";

const call = (parts: Parameters<typeof step>[3], change: Parameters<typeof step>[4] = {}) =>
  step(0, 1, "tool_call", parts, { title: "t", failed: false, ...change });

describe("a call in one line", () => {
  it("shows its only argument as it is", () =>
    expect(
      argumentsLine(call([text("a", "sql", "SELECT 1\n  FROM t"), table("b", "result", 3)])),
    ).toBe("SELECT 1 FROM t"));
  it("shows several arguments by name", () =>
    expect(argumentsLine(call([text("a", "from", "x"), value("b", "limit", 5)]))).toBe(
      "from: x, limit: 5",
    ));
  it("makes hidden characters visible", () =>
    expect(argumentsLine(call([text("a", "q", "a\u202Eb")]))).toBe("a‹U+202E›b"));
  it.each([
    ["rows of a table", call([table("b", "result", 30)]), "30 rows"],
    ["a short result itself", call([text("b", "result", "ok")]), "ok"],
    ["a long result by its size", call([text("b", "result", "x".repeat(2048))]), "2.0 KB"],
    [
      "a failure by its first words",
      call([text("b", "error", "no such\ntable")], { failed: true }),
      "no such table",
    ],
    [
      "a program that ended well by its size",
      call([
        value("b", "result", {
          stdout: "1\n".repeat(30),
          stderr: "",
          exit_code: 0,
          timed_out: false,
        }),
      ]),
      /^\d+ B$/,
    ],
    [
      "a program that failed by its exit status",
      call([
        value("b", "result", {
          stdout: "",
          stderr: "Traceback (most recent call last):",
          exit_code: 1,
          timed_out: false,
        }),
      ]),
      /^exit 1 · \d+ B$/,
    ],
    [
      "a program that ran out of time",
      call([
        value("b", "result", {
          stdout: "so far ".repeat(9),
          stderr: "",
          exit_code: null,
          timed_out: true,
        }),
      ]),
      /^timed out · \d+ B$/,
    ],
    [
      "a program that was killed",
      call([
        value("b", "result", {
          stdout: "so far ".repeat(9),
          stderr: "",
          exit_code: null,
          timed_out: false,
          outcome: "killed",
        }),
      ]),
      /^killed · \d+ B$/,
    ],
    [
      "a program that took too much processor time",
      call([
        value("b", "result", {
          stdout: "so far ".repeat(9),
          stderr: "",
          exit_code: null,
          timed_out: false,
          outcome: "cpu",
        }),
      ]),
      /^out of CPU time · \d+ B$/,
    ],
    [
      "a program that made too many files",
      call([
        value("b", "result", {
          stdout: "so far ".repeat(9),
          stderr: "",
          exit_code: null,
          timed_out: false,
          outcome: "files",
        }),
      ]),
      /^too many files · \d+ B$/,
    ],
    [
      "a program whose processes held too much memory together",
      call([
        value("b", "result", {
          stdout: "so far ".repeat(9),
          stderr: "",
          exit_code: null,
          timed_out: false,
          outcome: "memory",
        }),
      ]),
      /^out of memory · \d+ B$/,
    ],
    [
      "what another tool says by its size",
      call([value("b", "result", { text: "so far ".repeat(9), exit_code: "0" })]),
      /^\d+ B$/,
    ],
    ["nothing, in words", call([text("a", "sql", "SELECT 1")], { failed: null }), "no result"],
  ])("says what came back: %s", (_, given, want) =>
    typeof want === "string"
      ? expect(describeOutcome(given)).toBe(want)
      : expect(describeOutcome(given)).toMatch(want),
  );
});

describe("a step", () => {
  it.each([
    ["tool_call", { failed: false }, false],
    ["tool_call", { failed: true }, true],
    ["tool_call", { failed: null }, false],
    ["system", {}, false],
    ["user", {}, true],
    ["error", {}, true],
    ["program", { failed: false }, true],
  ] as const)("%s %j is open at first: %s", (kind, change, open) =>
    expect(isOpenByDefault(step(0, 1, kind, [], change))).toBe(open),
  );
  it("is said by the model by its name", () =>
    expect([
      speakerName(step(0, 1, "assistant", []), "o1"),
      speakerName(step(0, 1, "assistant", []), null),
      speakerName(step(0, 1, "assistant", [], { model: "small" }), "o1"),
      speakerName(step(0, 1, "assistant", [], { depth: 1 }), "o1"),
      speakerName(step(0, 1, "unknown", [], { title: "x\u200B" }), null),
    ]).toEqual(["o1", "Assistant", "small", "Assistant", "x‹U+200B›"]));
  it("when folded says how it begins", () =>
    expect([
      messagePreview(step(0, 1, "user", [text("a", "message", " one\n two ")])),
      messagePreview(step(0, 1, "user", [])),
    ]).toEqual(["one two", ""]));
});

it.each([
  ["\r\ndiff --git a/x b/x\n", true],
  ["--- a/x\n+++ b/x\n@@ -1,7 +1,7 @@\n", true],
  ["The change:\n@@ -1 +1 @@\n-a\n+b", true],
  ["The change:\n```diff\n@@ -1 +1 @@\n-a\n+b\n```", false],
  ["--- \nA rule", false],
])("a patch is told from other text: %j", (text, is) => expect(isPatch(text)).toBe(is));

it("a later message is a nudge only where no person sent one", () => {
  expect([laterMessage({ follow_ups: 0 }), laterMessage({ follow_ups: 2 })]).toEqual([
    "nudge",
    "follow-up",
  ]);
});

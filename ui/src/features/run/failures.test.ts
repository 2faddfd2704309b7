import { describe, expect, it } from "vitest";
import { runRow } from "../../testing/fakeBackend";
import { view } from "../../testing/runs";
import { isAnswerWrong, nextFailure, noFailure } from "./failures";

const FAILED = [3, 7, 20];

describe("the next failure", () => {
  it.each([
    ["after the first step is the first one", 0, 1, { step: 3, number: 1 }],
    ["after a failure is the next one", 3, 1, { step: 7, number: 2 }],
    ["after the last one is the answer", 20, 1, "answer"],
    ["before a step is the one before it", 19, -1, { step: 7, number: 2 }],
    ["before the first one is none", 3, -1, null],
    ["after the answer is none", "answer", 1, null],
    ["before the answer is the last step that failed", "answer", -1, { step: 20, number: 3 }],
  ] as const)("%s", (_, from, by, failure) =>
    expect(nextFailure(FAILED, true, from, by)).toEqual(failure),
  );
  it("is none after the last step where the answer is right", () =>
    expect(nextFailure(FAILED, false, 20, 1)).toBeNull());
});

it.each([
  [0, 0, false, 1, "No step of this run failed."],
  [0, 0, true, 1, "No further failure."],
  [2, 2, false, -1, "No earlier failure."],
  [2, 2, false, 1, "No further failure."],
  [2, 12, false, 1, "10 more failures are not listed."],
] as const)("of %i listed of %i failures the end is said", (listed, all, answer, by, words) => {
  const outline = {
    version: "v1",
    total_steps: 99,
    marks: [],
    failures: Array.from({ length: listed }, (_, at) => at),
    failure_count: all,
  };
  expect(noFailure(outline, answer, by)).toBe(words);
});

it("an answer is a failure if it is compared and does not pass", () => {
  const part = { id: "e", label: "x", bytes: 1, body: { kind: "value", text: "1", whole: true } };
  const expected = part as never;
  const task = {
    file: "a.yaml",
    prompt: null,
    parameters: [],
    user: null,
    expected_tool_calls: [],
    expected,
  } as never;
  const answer = { part: expected, source: "answer", lenient: false };
  const row = (passed: boolean | null) => runRow(0, { state: "answered", passed });
  expect(isAnswerWrong(view([], row(false), { task, answer }))).toBe(true);
  expect(isAnswerWrong(view([], row(true), { task, answer }))).toBe(false);
  expect(isAnswerWrong(view([], row(false), { task, answer: null }))).toBe(false);
});

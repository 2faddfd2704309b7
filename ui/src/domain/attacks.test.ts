import { expect, test } from "vitest";
import type { AttackRate, ScanPlan } from "../generated";
import { isUnconfirmed, jointTable, percent, scanLines, systemTable, targetKey } from "./attacks";

const rate = (succeeded: number): AttackRate => ({
  succeeded,
  judged: 4,
  errors: 0,
  blocked: 0,
  not_delivered: 0,
  not_led: 0,
  not_judged: 0,
  share: succeeded / 4,
  low: null,
  high: null,
});

test("a share of nothing is a dash and not 0", () => {
  expect(percent(null)).toBe("–");
  expect(percent(0)).toBe("0 %");
});

test("what was not attacked is null in the joint table", () => {
  const table = jointTable([
    { name: "violence/baseline", rate: rate(0) },
    { name: "sexual/easy", rate: rate(1) },
  ]);
  expect(table.heads).toEqual(["baseline", "easy"]);
  expect(table.rows).toEqual([
    { name: "violence", rates: [rate(0), null] },
    { name: "sexual", rates: [null, rate(1)] },
  ]);
});

test("the baseline is the first column of systems", () => {
  const targets = ["base64", "baseline"].map((attack) => ({
    target: "a/o1",
    attack,
    rate: rate(1),
  }));
  expect(systemTable(targets).heads).toEqual(["baseline", "base64"]);
});

test("a plan says what is sent to whom and asks for what nobody confirmed", () => {
  const scan: ScanPlan = {
    attacks: 6,
    categories: ["violence"],
    strategies: ["baseline", "flip"],
    targets: [
      {
        target: "tool_calling/o1",
        model: "o1",
        address: "https://a",
        attacks: 6,
        requests: null,
        confirmed: true,
      },
    ],
    attackers: [
      {
        target: "attacker/mini",
        model: "gpt-mini",
        address: "https://b",
        attacks: 3,
        requests: 48,
        confirmed: false,
      },
    ],
  };
  expect(scanLines(scan)).toEqual([
    "6 attacks: violence; strategies: baseline, flip",
    "6 attacks to tool_calling/o1 (o1 at https://a)",
    "3 conversations led by mini (gpt-mini at https://b): it gets the objectives and the answers, at most 48 requests",
  ]);
  expect(isUnconfirmed(scan)).toBe(true);
  expect(targetKey(scan)).not.toBe(targetKey({ ...scan, attackers: [] }));
  expect(isUnconfirmed(null)).toBe(false);
});

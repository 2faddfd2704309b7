import { describe, expect, it } from "vitest";
import { bytes, count, counted, fixed, moment, money, seconds, short, when } from "./format";

describe("numbers as words", () => {
  it.each([
    [count(null), "–"],
    [count(0), "0"],
    [count(1_234_567), "1,234,567"],
    [counted(1, "run"), "1 run"],
    [counted(2, "run passes", "runs pass"), "2 runs pass"],
    [short(940), "940"],
    [short(999.6), "1.0k"],
    [short(12_400), "12.4k"],
    [short(999_960), "1.0M"],
    [short(undefined), "–"],
    [bytes(0), "0 B"],
    [bytes(1_023), "1023 B"],
    [bytes(1_536), "1.5 KB"],
    [bytes(300 * 1024 * 1024), "300 MB"],
    [money(0), "$0.00"],
    [money(null), "–"],
    [money(0.0042), "$0.0042"],
    [money(0.00001), "<$0.0001"],
    [money(0.124), "$0.124"],
    [money(12.5), "$12.50"],
    [seconds(0.041), "41 ms"],
    [seconds(0), "0 ms"],
    [seconds(3.14), "3.1 s"],
    [seconds(59.96), "1:00"],
    [seconds(125), "2:05"],
    [seconds(3_723), "1:02:03"],
    [seconds(null), "–"],
  ])("%s is %s", (is, wanted) => expect(is).toBe(wanted));
});

describe("a moment", () => {
  const now = new Date(2025, 4, 10, 15, 0).getTime();
  it.each([
    [new Date(2025, 4, 10, 9, 5), "09:05"],
    [new Date(2025, 4, 9, 23, 59), "Yesterday 23:59"],
    [new Date(2025, 0, 3, 8, 0), "3 Jan 08:00"],
    [new Date(2023, 0, 3, 8, 0), "2023-01-03"],
    [new Date(2025, 4, 11, 8, 0), "11 May 08:00"],
  ])("%s reads %s", (then, wanted) => expect(when(then.getTime(), now)).toBe(wanted));
  it("can be told exactly", () =>
    expect(moment(new Date(2025, 0, 3, 8, 1, 2).getTime())).toBe("2025-01-03 08:01:02"));
});

describe("a number with so many places", () => {
  it.each([
    [-0, "0.00"],
    [-0.004, "0.00"],
    [-0.006, "-0.01"],
    [0.5, "0.50"],
    [-10, "-10.00"],
  ])("%s reads %s: what is rounded to nothing has no sign", (value, wanted) =>
    expect(fixed(value, 2)).toBe(wanted),
  );
});

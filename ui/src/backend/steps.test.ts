import { describe, expect, it, vi } from "vitest";
import type { Span, StepPage } from "../generated";
import { step, text, view } from "../testing/runs";
import { MAX_CACHED_STEPS, Steps } from "./steps";

const TOTAL = 100_000;
const page = (span: Span, version = "v1", most = 50): StepPage => ({
  version,
  total_steps: TOTAL,
  steps: Array.from({ length: Math.min(span.limit, most, TOTAL - span.offset) }, (_, i) =>
    step(span.offset + i, 1, "user", [text(`${version}-${span.offset + i}`, "message", "x")]),
  ),
});
const opened = (version = "v1") => view([], {}, { version, total_steps: TOTAL });
const until = (fn: () => void) => vi.waitFor(fn, { timeout: 3000, interval: 5 });

describe("steps in windows", () => {
  it("are read where they are wanted, and once", async () => {
    const read = vi.fn((_: string, span: Span) => Promise.resolve(page(span)));
    const steps = new Steps(read, vi.fn());
    steps.take(opened());
    for (let i = 500; i < 520; i++) steps.want(i);
    await until(() => expect(steps.get(519)).toBeDefined());
    await until(() => expect(steps.get(539)).toBeDefined());
    expect(steps.get(0)).toBeUndefined();
    const asked = read.mock.calls.flatMap(([, span]) =>
      Array.from({ length: span.limit }, (_, i) => span.offset + i),
    );
    expect(new Set(asked).size).toBe(asked.length);
    steps.close();
  });

  it("that are on their way are waited for, and read where another part of their page is", async () => {
    const open: (() => void)[] = [];
    const read = vi.fn(
      (_: string, span: Span) =>
        new Promise<StepPage>((resolve) => open.push(() => resolve(page(span)))),
    );
    const steps = new Steps(read, vi.fn());
    steps.take(opened());
    const first = steps.fetch(510);
    const [same, earlier] = [steps.fetch(515), steps.fetch(505)];
    open.shift()?.();
    expect((await first)?.index).toBe(510);
    expect((await same)?.index).toBe(515);
    await until(() => expect(open).toHaveLength(1));
    open.shift()?.();
    expect((await earlier)?.index).toBe(505);
    expect(read).toHaveBeenCalledTimes(2);
    steps.close();
  });

  it("that several wait for arrive for each of them, whichever page comes first", async () => {
    const open: (() => void)[] = [];
    const read = vi.fn(
      (_: string, span: Span) =>
        new Promise<StepPage>((resolve) => open.push(() => resolve(page(span)))),
    );
    const steps = new Steps(read, vi.fn());
    steps.take(opened());
    const all = [510, 505, 502].map((index) => steps.fetch(index));
    for (let flights = 1; flights <= 3; flights++) {
      await until(() => expect(read).toHaveBeenCalledTimes(flights));
      open.shift()?.();
    }
    expect((await Promise.all(all)).map((one) => one?.index)).toEqual([510, 505, 502]);
    steps.close();
  });

  it("of a new version arrive where it came while those of the old one were read", async () => {
    const open: (() => void)[] = [];
    const read = vi.fn(
      (version: string, span: Span) =>
        new Promise<StepPage>((resolve) => open.push(() => resolve(page(span, version)))),
    );
    const steps = new Steps(read, vi.fn());
    steps.take(opened());
    const asked = steps.fetch(5);
    steps.take(opened("v2"));
    open.shift()?.();
    await until(() => expect(open).toHaveLength(1));
    open.shift()?.();
    expect((await asked)?.parts[0]?.id).toBe("v2-5");
    steps.close();
  });

  it("are not read where one only passed by", async () => {
    const read = vi.fn((_: string, span: Span) => Promise.resolve(page(span)));
    const steps = new Steps(read, vi.fn());
    steps.take(opened());
    for (let i = 0; i < 50_000; i += 10) steps.want(i)();
    steps.want(70_000);
    await until(() => expect(steps.get(70_000)).toBeDefined());
    for (const [, span] of read.mock.calls) expect(span.offset).toBeGreaterThan(69_000);
    steps.close();
  });

  it("keep a bounded number, and always those in sight", async () => {
    const steps = new Steps((_, span) => Promise.resolve(page(span)), vi.fn());
    steps.take(opened());
    steps.want(7);
    for (let i = 0; i < 10_000; i += 50) await steps.fetch(i);
    const known = Array.from({ length: 10_100 }, (_, i) => steps.get(i)).filter(
      (one) => one !== undefined,
    ).length;
    expect(known).toBeLessThanOrEqual(MAX_CACHED_STEPS + 50);
    expect(steps.get(7)).toBeDefined();
    steps.close();
  });

  it("of an older version stay in sight until the new ones are there", async () => {
    let version = "v1";
    const steps = new Steps((_, span) => Promise.resolve(page(span, version)), vi.fn());
    steps.take(opened());
    steps.want(3);
    await until(() => expect(steps.get(3)?.parts[0]?.id).toBe("v1-3"));
    version = "v2";
    steps.take(opened("v2"));
    expect(steps.get(3)?.parts[0]?.id).toBe("v1-3");
    await until(() => expect(steps.get(3)?.parts[0]?.id).toBe("v2-3"));
    steps.close();
  });

  it("ask for the run again when the file changed under them", async () => {
    const changed = vi.fn();
    const steps = new Steps((_, span) => Promise.resolve(page(span, "v9")), changed);
    steps.take(opened());
    await steps.fetch(5);
    expect(changed).toHaveBeenCalledOnce();
    expect(steps.get(5)).toBeUndefined();
    steps.close();
  });

  it("say what went wrong and can be asked for again", async () => {
    let broken = true;
    const steps = new Steps(
      (_, span) =>
        broken
          ? Promise.reject({ code: "failed", message: "The disk is gone.", hint: null })
          : Promise.resolve(page(span)),
      vi.fn(),
    );
    steps.take(opened());
    steps.want(5);
    await until(() => expect(steps.error).toBe("The disk is gone."));
    broken = false;
    steps.refetch();
    await until(() => expect(steps.get(5)).toBeDefined());
    steps.close();
  });
});

import { describe, expect, it, vi } from "vitest";
import { Stream, type ReadText } from "./stream.svelte";

const TEXT = Array.from({ length: 40_000 }, (_, i) => `line ${i}`).join("\n");
const read: ReadText = (offset, limit) => {
  const next = offset + limit < TEXT.length ? offset + limit : null;
  return Promise.resolve({ text: TEXT.slice(offset, next ?? undefined), next, total: TEXT.length });
};
const until = (fn: () => void) => vi.waitFor(fn, { timeout: 3000, interval: 5 });

describe("a long text", () => {
  it("comes in pieces and is whole at the end, whatever lines the pieces cut", async () => {
    const source = vi.fn(read);
    const stream = new Stream(source);
    await until(() => expect(stream.done).toBe(true));
    expect(source.mock.calls.length).toBeGreaterThan(2);
    expect(stream.rows.map((row) => row.text).join("\n")).toBe(TEXT);
    expect([stream.read, stream.total, stream.cut]).toEqual([TEXT.length, TEXT.length, false]);
  });

  it("is not read on when nobody looks any more", async () => {
    vi.useFakeTimers();
    const source = vi.fn(read);
    const stream = new Stream(source);
    await vi.advanceTimersByTimeAsync(0);
    stream.stop();
    await vi.advanceTimersByTimeAsync(10_000);
    vi.useRealTimers();
    expect(source.mock.calls.length).toBeLessThanOrEqual(2);
    expect(stream.read).toBeLessThan(TEXT.length);
    expect(stream.done).toBe(false);
  });

  it("says why it could not be read", async () => {
    const stream = new Stream(() =>
      Promise.reject({ code: "gone", message: "The file is gone.", hint: null }),
    );
    await until(() => expect(stream.error).toBe("The file is gone."));
  });
});

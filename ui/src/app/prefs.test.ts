import fc from "fast-check";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { Prefs, read } from "./prefs";

beforeEach(() => localStorage.clear());

describe("choices", () => {
  it("are read as far as they make sense, whatever is kept", () => {
    const usual = read(null);
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.json()),
        (text) => void expect(Object.keys(read(text))).toEqual(Object.keys(usual)),
      ),
    );
    expect(
      read(
        '{"theme":"pink","textSize":99,"widths":{"task":200,"bad":"x","tiny":1},"shown":{"size":false}}',
      ),
    ).toEqual({ ...usual, widths: { task: 200 }, shown: { size: false } });
  });
  it("come back with the next window", () => {
    new Prefs().set({ theme: "dark" });
    new Prefs().resize(1);
    expect(new Prefs().current).toMatchObject({ theme: "dark", textSize: 14 });
    expect(document.documentElement.dataset["theme"]).toBe("dark");
    expect(document.documentElement.style.getPropertyValue("--text-size")).toBe("14px");
  });
  it("of another window are not lost", () => {
    const older = read('{"shown":{"answer.n":true,"size":false}}');
    expect([older.shown, older.own]).toEqual([{ size: false }, { "": { "answer.n": true } }]);
    const view = { name: "dear", q: "", sort: "cost", shown: {} };
    const [one, other] = [new Prefs(), new Prefs()];
    one.set({ views: { f: [view] } });
    other.set({ theme: "dark" });
    other.set(({ views }) => ({ views: { ...views, g: [view] } }));
    one.set({ textSize: 16 });
    expect(new Prefs().current).toMatchObject({
      theme: "dark",
      textSize: 16,
      views: { f: [view], g: [view] },
    });
  });
  it("of columns named after what the files hold stay in their folder", () => {
    const prefs = new Prefs();
    prefs.setColumns("f", { size: false, "fact:run.version": true });
    const next = new Prefs();
    expect(next.columns("f")).toEqual({ size: false, "fact:run.version": true });
    expect(next.columns("g")).toEqual({ size: false });
    next.setColumns("f", {});
    expect([next.columns("f"), next.current.own]).toEqual([{}, {}]);
  });
  it("hold until the window closes when nothing can be kept", () => {
    vi.spyOn(Storage.prototype, "setItem").mockImplementation(() => {
      throw new Error("full");
    });
    vi.spyOn(Storage.prototype, "getItem").mockImplementation(() => {
      throw new Error("off");
    });
    const prefs = new Prefs();
    prefs.set({ theme: "light" });
    expect(prefs.current.theme).toBe("light");
  });
  it("stop at the largest and smallest text", () => {
    const prefs = new Prefs();
    for (let step = 0; step < 12; step++) prefs.resize(1);
    expect(prefs.current.textSize).toBe(26);
    prefs.resize(0);
    expect(prefs.current.textSize).toBe(13);
  });
});

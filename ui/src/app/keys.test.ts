import { beforeEach, describe, expect, it, vi } from "vitest";
import { chord, isTyping, keyName, Keys, type Action } from "./keys";

const press = (key: string, more: KeyboardEventInit = {}) =>
  new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more });

describe("a chord", () => {
  it.each<[string, KeyboardEventInit, string | null]>([
    ["j", {}, "j"],
    ["J", { shiftKey: true }, "J"],
    ["?", { shiftKey: true }, "?"],
    ["k", { ctrlKey: true }, "Mod+k"],
    ["k", { metaKey: true }, "Mod+k"],
    ["K", { ctrlKey: true, shiftKey: true }, "Mod+Shift+k"],
    ["ArrowDown", { shiftKey: true }, "Shift+ArrowDown"],
    [" ", {}, "Space"],
    ["@", { ctrlKey: true, altKey: true, modifierAltGraph: true }, "@"],
    ["Shift", { shiftKey: true }, null],
  ])("of %s %j is %s", (key, more, wanted) => expect(chord(press(key, more))).toBe(wanted));
});

describe("keys", () => {
  let keys: Keys;
  let done: string[];
  const act = (id: string, on: string[], more: Partial<Action> = {}): Action => ({
    id,
    title: id,
    group: "x",
    keys: on,
    run: () => done.push(id),
    ...more,
  });
  const on = (target: EventTarget, event: KeyboardEvent) => {
    target.addEventListener("keydown", (heard) => keys.handle(heard as KeyboardEvent), {
      once: true,
    });
    target.dispatchEvent(event);
    return event;
  };
  beforeEach(() => {
    keys = new Keys();
    done = [];
    document.body.replaceChildren();
  });

  it("run the newest action that fits and can be done, and fall back when it is gone", () => {
    keys.add([act("old", ["j"])]);
    const away = keys.add([act("new", ["j"])]);
    on(document.body, press("j"));
    away();
    on(document.body, press("j"));
    keys.add([act("never", ["j"], { when: () => false })]);
    on(document.body, press("j"));
    expect(done).toEqual(["new", "old", "old"]);
  });
  it("leave an area that scrolls its keys, as far as it can be scrolled", () => {
    keys.add([act("down", ["ArrowDown"]), act("next", ["j"]), act("right", ["ArrowRight"])]);
    const area = document.createElement("div");
    area.dataset.scrolls = "";
    Object.defineProperties(area, {
      scrollHeight: { value: 500 },
      clientHeight: { value: 100 },
      scrollWidth: { value: 100 },
      clientWidth: { value: 100 },
    });
    document.body.append(area);
    expect(on(area, press("ArrowDown")).defaultPrevented).toBe(false);
    on(area, press("ArrowRight"));
    on(area, press("j"));
    expect(done).toEqual(["right", "next"]);
  });
  it("wait for the second of two, and forget the first after a pause", () => {
    vi.useFakeTimers();
    keys.add([act("top", ["g g"]), act("runs", ["g r"]), act("reload", ["r"])]);
    on(document.body, press("g"));
    on(document.body, press("g"));
    on(document.body, press("g"));
    on(document.body, press("r"));
    on(document.body, press("g"));
    vi.advanceTimersByTime(1_100);
    on(document.body, press("r"));
    vi.useRealTimers();
    expect(done).toEqual(["top", "runs", "reload"]);
  });
  it("stand down while something is typed, but not those with Mod", () => {
    keys.add([act("next", ["j"]), act("palette", ["Mod+k"])]);
    const field = document.body.appendChild(document.createElement("input"));
    expect(on(field, press("j")).defaultPrevented).toBe(false);
    expect(on(field, press("k", { ctrlKey: true })).defaultPrevented).toBe(true);
    expect(done).toEqual(["palette"]);
  });
  it("leave Enter to a button that has the focus, and everything to an open dialog", () => {
    keys.add([act("open", ["Enter"]), act("next", ["j"]), act("palette", ["Mod+k"])]);
    const dialog = document.body.appendChild(document.createElement("dialog"));
    on(document.body.appendChild(document.createElement("button")), press("Enter"));
    on(dialog, press("j"));
    on(dialog, press("k", { ctrlKey: true }));
    expect(done).toEqual([]);
    on(document.body, press("Enter"));
    expect(done).toEqual(["open"]);
  });
  it("leave what was handled already, and composed letters, alone", () => {
    keys.add([act("next", ["j"])]);
    const handled = press("j");
    handled.preventDefault();
    on(document.body, handled);
    on(document.body, press("j", { isComposing: true }));
    expect(done).toEqual([]);
  });
  it("list each action once, as the newest has it", () => {
    keys.add([act("next", ["j"], { title: "Next run" }), act("hidden", [], { when: () => false })]);
    keys.add([act("next", ["j"], { title: "Next step" })]);
    expect(keys.all().map((action) => action.title)).toEqual(["Next step"]);
  });
});

describe("names of keys", () => {
  it.each([
    ["Mod+k", false, "Ctrl K"],
    ["Mod+k", true, "⌘ K"],
    ["g g", false, "g then g"],
    ["Shift+ArrowDown", false, "Shift ↓"],
    ["Mod++", false, "Ctrl +"],
    ["J", false, "J"],
  ])("%s (apple: %s) is %s", (key, apple, wanted) => expect(keyName(key, apple)).toBe(wanted));
  it("know where letters are typed", () => {
    const check = Object.assign(document.createElement("input"), { type: "checkbox" });
    expect(
      [
        check,
        document.createElement("textarea"),
        document.createElement("input"),
        document.body,
      ].map((one) => Boolean(isTyping(one))),
    ).toEqual([false, true, true, false]);
  });
});

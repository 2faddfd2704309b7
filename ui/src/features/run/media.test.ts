import { mount, tick, unmount } from "svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import App from "../../app/App.svelte";
import type { MediaFile } from "../../generated";
import { layOut, OneRun, step, text, view } from "../../testing/runs";

let page: ReturnType<typeof mount> | undefined;
const one = (selector: string) => document.querySelector<HTMLElement>(selector);
const button = (name: string) =>
  [...document.querySelectorAll("button")].find((each) => each.textContent?.trim() === name);
const until = (fn: () => void) => vi.waitFor(fn, { timeout: 4000, interval: 10 });

let away: () => void;
beforeEach(() => {
  away = layOut();
});
afterEach(async () => {
  if (page) await unmount(page);
  page = undefined;
  document.body.replaceChildren();
  away();
});

const opened = (version: string, bytes = 3) => {
  const described = text("p1", "media", `image/png, ${bytes} B`, "media");
  return view(
    [step(0, 1, "user", [text("p0", "message", "What is this?"), described])],
    {},
    { version },
  );
};
const file = (change: Partial<MediaFile> = {}): MediaFile => ({
  image: "image/png",
  not_shown: null,
  file_name: "step-1.png",
  data: "AAAA",
  ...change,
});
async function open(backend: OneRun) {
  location.hash = "#/run/r0";
  page = mount(App, { target: document.body, props: { backend } });
  await until(() => expect(button("Show")).toBeDefined());
}
const source = () => one("img")?.getAttribute("src") ?? "";

describe("an image in a transcript", () => {
  it("is asked for in the version that is shown, and again in the next one", async () => {
    const backend = new OneRun(opened("v1"));
    const asked: string[] = [];
    backend.replies.read_media = ({ version }) => {
      asked.push(version);
      return file({ data: version === "v1" ? "AAAA" : "BBBB" });
    };
    await open(backend);
    button("Show")?.click();
    await until(() => expect(source()).toContain("AAAA"));
    backend.run = opened("v2");
    backend.tell({ kind: "runs", generation: 2, ids: ["r0"], all: false });
    await until(() => expect(source()).toContain("BBBB"));
    expect(asked).toEqual(["v1", "v2"]);
  });

  it("of an old version that arrives when a new one is open is not shown", async () => {
    const backend = new OneRun(opened("v1"));
    const replies = new Map<string, (file: MediaFile) => void>();
    backend.replies.read_media = ({ version }) =>
      new Promise<MediaFile>((resolve) => replies.set(version, resolve));
    await open(backend);
    button("Show")?.click();
    await until(() => expect(replies.has("v1")).toBe(true));
    backend.run = opened("v2", 4);
    backend.tell({ kind: "runs", generation: 2, ids: ["r0"], all: false });
    await until(() => expect(document.body.textContent).toContain("4 B"));
    replies.get("v1")?.(file());
    await until(() => expect(replies.has("v2")).toBe(true));
    expect(one("img")).toBeNull();
    replies.get("v2")?.(file({ data: "BBBB" }));
    await until(() => expect(source()).toContain("BBBB"));
  });

  it("is read again after it was saved, if a new version came meanwhile", async () => {
    const backend = new OneRun(opened("v1"));
    const asked: string[] = [];
    let save: ((file: MediaFile) => void) | undefined;
    backend.replies.read_media = ({ version }) => {
      asked.push(version);
      if (asked.length === 2) return new Promise<MediaFile>((resolve) => (save = resolve));
      return file({ data: version === "v1" ? "AAAA" : "BBBB" });
    };
    vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(() => undefined);
    URL.createObjectURL ??= () => "blob:x";
    URL.revokeObjectURL ??= () => undefined;
    await open(backend);
    button("Show")?.click();
    await until(() => expect(source()).toContain("AAAA"));
    button("Save…")?.click();
    await until(() => expect(save).toBeDefined());
    backend.run = opened("v2", 4);
    backend.tell({ kind: "runs", generation: 2, ids: ["r0"], all: false });
    await until(() => expect(document.body.textContent).toContain("4 B"));
    save?.(file());
    await until(() => expect(source()).toContain("BBBB"));
    expect(asked).toEqual(["v1", "v1", "v2"]);
    vi.restoreAllMocks();
  });

  it("of a file that has changed is not shown, and the run is read again", async () => {
    const backend = new OneRun(opened("v1"));
    backend.replies.read_media = ({ version }) =>
      version === "v2"
        ? file()
        : Promise.reject({ code: "gone", message: "The file has changed.", hint: "Open it." });
    await open(backend);
    backend.run = opened("v2");
    button("Show")?.click();
    await until(() =>
      expect(backend.calls.filter(({ name }) => name === "open_run")).toHaveLength(2),
    );
    await tick();
    expect(one("img")).toBeNull();
    button("Show")?.click();
    await until(() => expect(source()).toContain("AAAA"));
  });

  it("of too many pixels is not shown and says why", async () => {
    const backend = new OneRun(opened("v1"));
    const why = "The image has 70000 × 70000 pixels, and at most 100 megapixels are shown.";
    backend.replies.read_media = () => file({ image: null, not_shown: why });
    await open(backend);
    button("Show")?.click();
    await until(() => expect(document.body.textContent).toContain(why));
    expect(one("img")).toBeNull();
    expect(document.body.textContent).toContain("Save it");
  });
});

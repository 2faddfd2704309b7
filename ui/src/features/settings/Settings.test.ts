import { flushSync, mount, unmount } from "svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import App from "../../app/App.svelte";
import { Fixture } from "../../testing/fakeBackend";
import type { KeyState } from "../../generated";

let app: ReturnType<typeof mount> | undefined;
const all = (selector: string) => [...document.querySelectorAll<HTMLElement>(selector)];
const text = () => document.body.textContent.replace(/\s+/g, " ");
const until = (holds: () => boolean) =>
  vi.waitFor(() => {
    flushSync();
    if (!holds()) throw new Error(`not yet: ${holds.toString()}\n${text()}`);
  }, 4_000);
const key = (name: string, change: Partial<KeyState> = {}): KeyState => ({
  name,
  used_by: ["claude"],
  source: "none",
  can_store: true,
  wrong: null,
  ...change,
});
const SECRET = "canary-4711";
async function open(keys: KeyState[], change: (fixture: Fixture) => void = () => undefined) {
  const fixture = new Fixture();
  fixture.replies.keys = () => keys;
  change(fixture);
  history.replaceState(null, "", "#/settings");
  app = mount(App, { target: document.body, props: { backend: fixture } });
  await until(() => all("[data-testid=keys] li").length === keys.length);
  return fixture;
}
const field = () => all("input[type=password]")[0] as HTMLInputElement | undefined;
const button = (label: string) =>
  all("button").find(
    (one) => one.textContent.trim() === label || one.getAttribute("aria-label") === label,
  ) as HTMLButtonElement | undefined;

beforeEach(() => localStorage.clear());
afterEach(async () => {
  if (app) await unmount(app);
  app = undefined;
  document.body.replaceChildren();
});

it("says once that a read-only page has neither models nor keys", async () => {
  await open([], (fixture) => {
    fixture.replies.keys = () => {
      throw { code: "not_allowed", message: "This page is read-only.", hint: "Start it anew." };
    };
  });
  await until(() => text().includes("This page is read-only. Start it anew."));
  expect(text()).not.toContain("has no model");
  expect(button("Try again")).toBeUndefined();
});

it("has one first heading, and its parts below it", async () => {
  await open([key("A_KEY")]);
  expect(all("h1").map((one) => one.textContent.trim())).toEqual(["Settings"]);
  expect(all("h2").length).toBeGreaterThan(3);
});

describe("keys", () => {
  it("say whether they are set, where they come from, and what they are for", async () => {
    await open([
      key("A_KEY", { used_by: ["claude", "o1"] }),
      key("B_KEY", { source: "environment" }),
      key("C_KEY", { source: "keyring" }),
    ]);
    const told = all("[data-testid=keys] li").map((one) => one.textContent.replace(/\s+/g, " "));
    expect(told[0]).toMatch(/A_KEY.*not set.*for claude, o1/);
    expect(told[1]).toMatch(/B_KEY.*set in the environment.*change it there/);
    expect(told[2]).toMatch(/C_KEY.*set in the keyring/);
    expect(
      all("[data-testid=keys] li").map((one) =>
        [...one.querySelectorAll("button")].map((each) => each.textContent),
      ),
    ).toEqual([["Store"], [], ["Replace", "Forget"]]);
  });
  it("that cannot be read are not called unset, and say why", async () => {
    const wrong = "The keyring of the system does not open: it is locked. Unlock it.";
    const fixture = await open([key("A_KEY", { wrong }), key("B_KEY"), key("C_KEY", { wrong })]);
    const told = () =>
      all("[data-testid=keys] li").map((one) => one.textContent.replace(/\s+/g, " "));
    expect([told()[0]?.includes("not set"), told()[0]?.includes("unavailable")]).toEqual([
      false,
      true,
    ]);
    expect(told()[1]).toMatch(/B_KEY.*not set/);
    // Shown once for all keys, and checked again after unlocking.
    expect(text().split("it is locked. Unlock it.")).toHaveLength(2);
    fixture.replies.keys = () => [key("A_KEY"), key("B_KEY"), key("C_KEY")];
    button("Try again")?.click();
    await until(() => !text().includes("locked"));
    expect(told()[0]).toMatch(/A_KEY.*not set/);
  });
  it("are sent once and kept nowhere: not in the field, not in the page, not in storage", async () => {
    const fixture = await open([key("A_KEY")]);
    expect([field()?.type, field()?.autocomplete]).toEqual(["password", "off"]);
    field()!.value = ` ${SECRET} `;
    button("Store")?.click();
    expect(field()?.value).toBe("");
    await until(() => text().includes("Stored A_KEY in the keyring."));
    expect(
      fixture.calls.filter((call) => call.name === "set_key").map((call) => call.args),
    ).toEqual([{ name: "A_KEY", key: SECRET }]);
    expect(
      [
        new XMLSerializer().serializeToString(document),
        JSON.stringify(localStorage),
        JSON.stringify(sessionStorage),
        location.href,
      ]
        .join()
        .includes(SECRET),
    ).toBe(false);
    expect(fixture.calls.filter((call) => call.name === "keys").length).toBeGreaterThan(1);
  });
  it("that could not be stored say why beside the field, which is empty again", async () => {
    await open(
      [key("A_KEY"), key("B_KEY")],
      (fixture) =>
        (fixture.replies.set_key = () =>
          Promise.reject({
            code: "failed",
            message: "The keyring is locked.",
            hint: "Unlock it.",
          })),
    );
    field()!.value = SECRET;
    button("Store")?.click();
    await until(
      () =>
        all("[data-testid=keys] li")[0]?.textContent.includes(
          "The keyring is locked. Unlock it.".replace(" U", "\u00a0U"),
        ) ?? false,
    );
    expect([field()?.value, all("[data-testid=keys] [role=alert]").length]).toEqual(["", 1]);
  });
  it("are forgotten, and an empty field stores nothing", async () => {
    const fixture = await open([key("A_KEY", { source: "keyring" })]);
    button("Replace")?.click();
    button("Forget")?.click();
    await until(() => text().includes("Forgot A_KEY."));
    expect(
      fixture.calls.filter((call) => call.name === "set_key" || call.name === "forget_key"),
    ).toEqual([{ name: "forget_key", args: { name: "A_KEY" } }]);
  });
  it("without a keyring come from the environment only, and there is no field", async () => {
    await open([key("A_KEY", { can_store: false })]);
    expect(text()).toContain("set the environment variable");
    expect(field()).toBeUndefined();
  });
});

describe("models", () => {
  it("are tested one by one, and say what was found and what mends it", async () => {
    const fixture = await open(
      [],
      (one) =>
        (one.replies.test_model = ({ name }) =>
          name === "o1"
            ? {
                name,
                ok: false,
                detail: "The key was refused (401).",
                fix: "Set OPENAI_API_KEY again.",
              }
            : { name, ok: true, detail: "It answered.", fix: null }),
    );
    await until(() => button("Test o1") !== undefined);
    button("Test o1")?.click();
    await until(() => text().includes("The key was refused (401)."));
    expect(text()).toMatch(/Failed\..*Set OPENAI_API_KEY again\./);
    button("Test claude")?.click();
    await until(() => text().includes("It answered."));
    expect(
      fixture.calls.filter((call) => call.name === "test_model").map((call) => call.args),
    ).toEqual([{ name: "o1" }, { name: "claude" }]);
  });
  it("that cannot be asked say why", async () => {
    await open(
      [],
      (one) =>
        (one.replies.test_model = () =>
          Promise.reject({
            code: "not_allowed",
            message: "This page may not ask models.",
            hint: null,
          })),
    );
    await until(() => button("Test claude") !== undefined);
    button("Test claude")?.click();
    await until(() => text().includes("This page may not ask models."));
  });
});

describe("folders and limits", () => {
  const said = (testid: string) =>
    all(`[data-testid=${testid}]`)[0]?.textContent.replace(/\s+/g, " ") ?? "";
  it("are shown with where each comes from", async () => {
    await open(
      [],
      (one) =>
        (one.options = {
          ...one.options,
          concurrency: 3,
          max_cost: 12.5,
          wrong: ["The model `x` has no provider."],
        }),
    );
    await until(() => said("limits").includes("3 runs"));
    expect(said("limits")).toMatch(
      /3 runs run: concurrency.*\$12\.50 run: max_cost.*touchstone\.yaml.*its form/,
    );
    expect(said("limits")).toContain("The model `x` has no provider.");
    expect(said("folders")).toMatch(
      /Open folder \/home\/me\/benchmark.*Tasks suites.*Results results.*input_dir and output_dir in touchstone\.yaml/,
    );
  });
  it("that are not set are said so, and never are nought", async () => {
    await open([], (one) => {
      one.options = { ...one.options, concurrency: 1, max_cost: null };
      one.status = {
        ...one.status,
        folder: one.status.folder && { ...one.status.folder, input_dir: null },
      };
    });
    await until(() => said("limits").includes("1 run "));
    expect(said("limits")).toMatch(/Budget none/);
    expect(said("folders")).toContain("runs can be read but not launched");
  });
});

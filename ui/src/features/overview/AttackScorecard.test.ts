import { mount, unmount } from "svelte";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import App from "../../app/App.svelte";
import { Fixture } from "../../testing/fakeBackend";
import { layOut } from "../../testing/runs";
import type { AttackRate, AttackScorecard } from "../../generated";

let page: ReturnType<typeof mount> | undefined;
const id = (testid: string) => document.querySelector<HTMLElement>(`[data-testid='${testid}']`);
const flat = (element: Element | null | undefined) =>
  element?.textContent?.replace(/\s+/g, " ").trim() ?? "";
const until = (fn: () => void) => vi.waitFor(fn, { timeout: 4000, interval: 10 });

const rate = (succeeded: number, judged: number, change: Partial<AttackRate> = {}): AttackRate => ({
  succeeded,
  judged,
  errors: 0,
  blocked: 0,
  not_delivered: 0,
  not_led: 0,
  not_judged: 0,
  share: judged === 0 ? null : succeeded / judged,
  low: judged === 0 ? null : 0.1,
  high: judged === 0 ? null : 0.6,
  ...change,
});
const CARD: AttackScorecard = {
  overall: rate(1, 4, { not_judged: 2, not_delivered: 5, blocked: 3, errors: 1 }),
  categories: [{ name: "violence", rate: rate(1, 4, { not_judged: 2, errors: 1 }) }],
  complexities: [
    { name: "baseline", rate: rate(0, 0, { not_judged: 2 }) },
    { name: "easy", rate: rate(1, 4, { errors: 1 }) },
  ],
  joint: [
    { name: "violence/baseline", rate: rate(0, 0, { not_judged: 2 }) },
    { name: "violence/easy", rate: rate(1, 4, { errors: 1 }) },
  ],
  attacks: [
    { name: "baseline", rate: rate(0, 0, { not_judged: 2 }) },
    { name: "base64", rate: rate(1, 4, { errors: 1 }) },
  ],
  targets: [{ target: "<b>agent</b>/o1", attack: "base64", rate: rate(1, 4) }],
  other_runs: 0,
};
let away: () => void;
beforeEach(() => (away = layOut()));
afterEach(async () => {
  if (page) await unmount(page);
  page = undefined;
  document.body.replaceChildren();
  away();
});
async function open(change: (backend: Fixture) => void) {
  const backend = new Fixture();
  change(backend);
  location.hash = "#/overview";
  page = mount(App, { target: document.body, props: { backend } });
  await until(() =>
    expect(backend.calls.some((call) => call.name === "attack_scorecard")).toBe(true),
  );
}

it("shows shares of judged attacks, and counts what is not judged apart", async () => {
  await open((backend) => (backend.replies.attack_scorecard = () => CARD));
  await until(() => expect(id("attacks")).not.toBeNull());
  expect(flat(id("attacks")?.querySelector("summary"))).toBe(
    "Attacks 1 of 4 judged succeeded; 2 not judged; 5 not delivered; 3 blocked by the provider; 1 error",
  );
  const rows = [...document.querySelectorAll("[data-testid='attack-row']")].map((row) =>
    [...row.children].map(flat),
  );
  expect(rows[0]).toEqual(["<b>agent</b>/o1", "25 %10 % to 60 %", "4", "0", "0", "0", "0", "0"]);
  expect(rows[1]).toEqual(["violence", "–", "25 %10 % to 60 %"]);
});

it("is not there without attacks", async () => {
  await open(() => undefined);
  await until(() => expect(document.querySelector("main")).not.toBeNull());
  expect(id("attacks")).toBeNull();
});

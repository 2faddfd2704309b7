import { flushSync, mount, unmount } from "svelte";
import { expect, it } from "vitest";
import Menu from "./Menu.svelte";

it("a menu opens also where two of its items have the same title", async () => {
  const items = ["same", "same", "other"].map((title) => ({ title, run: () => undefined }));
  const props = { items, x: 0, y: 0, label: "Views", onclose: () => undefined };
  const menu = mount(Menu, { target: document.body, props });
  flushSync();
  expect(document.querySelectorAll("[role='menuitem']")).toHaveLength(3);
  await unmount(menu);
});

import { expect, it } from "vitest";
import { placeNear } from "./placement";

const VIEW = { width: 1000, height: 600 };
const MESSAGE = { width: 200, height: 30 };
const box = (left: number, top: number, width: number, height: number) => ({
  left,
  top,
  width,
  height,
});

it.each([
  ["below a button", box(300, 100, 80, 24), [300, 130]],
  ["above a button at the lower edge", box(300, 570, 80, 24), [300, 534]],
  ["within the window beside a button at its right edge", box(950, 100, 40, 24), [792, 130]],
  ["inside of a high element, at its upper right corner", box(50, 80, 600, 400), [434, 88]],
  ["in sight of an element that begins above the window", box(50, -900, 600, 1200), [434, 8]],
  ["above the lower edge without an element", null, [400, 530]],
] as const)("a message stands %s", (_, anchor, place) =>
  expect(placeNear(anchor, MESSAGE, VIEW)).toEqual(place),
);

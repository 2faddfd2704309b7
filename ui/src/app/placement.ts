// Pure. Where a short message is shown: beside what the user works on.

interface Size {
  width: number;
  height: number;
}
type Box = Size & { left: number; top: number };

const GAP = 6;
const EDGE = 8;
/** Higher elements get the message inside, at their upper right corner. */
const HIGH = 120;

/** Left and top of a message near an element; without one, above the lower edge of what is seen. */
export function placeNear(anchor: Box | null, message: Size, view: Size): [number, number] {
  const clamp = (value: number, most: number) => Math.max(EDGE, Math.min(value, most - EDGE));
  if (anchor === null)
    return [
      clamp((view.width - message.width) / 2, view.width - message.width),
      view.height - message.height - 5 * EDGE,
    ];
  const right = anchor.left + anchor.width;
  const bottom = anchor.top + anchor.height;
  const high = anchor.height > HIGH;
  const left = high ? right - message.width - 2 * EDGE : anchor.left;
  const below = bottom + GAP;
  const top = high
    ? anchor.top + EDGE
    : below + message.height <= view.height - EDGE
      ? below
      : anchor.top - message.height - GAP;
  return [clamp(left, view.width - message.width), clamp(top, view.height - message.height)];
}

// The table of actions, source of the shortcuts, the palette and the list of shortcuts. Whoever
// adds an action decides its keys.

import { createSubscriber } from "svelte/reactivity";

export interface Action {
  id: string;
  title: string;
  /** Heading in the list of shortcuts. */
  group: string;
  /**
   * `j`, `J`, `g g`, `Mod+k` (Ctrl or Command), `Enter`, `Shift+ArrowDown`. The first one is shown.
   */
  keys?: readonly string[];
  /** True for those of the frame; others belong to the shown page, and the palette has them first. */
  everywhere?: boolean;
  /** Hidden in the palette: moves that need a visible list. */
  quiet?: boolean;
  when?: () => boolean;
  run: (event?: KeyboardEvent) => void;
}

const PAUSE_MS = 1_000;
const MODIFIERS = new Set([
  "Control",
  "Shift",
  "Alt",
  "Meta",
  "AltGraph",
  "CapsLock",
  "Dead",
  "Process",
]);

/** The pressed key in the notation of the table; null for a modifier alone. */
export function chord(event: KeyboardEvent): string | null {
  if (MODIFIERS.has(event.key)) return null;
  const typed = event.key.length === 1;
  // On many keyboards AltGr, which reports Ctrl and Alt, types a plain character.
  const level3 = typed && event.getModifierState("AltGraph");
  const mod = (event.ctrlKey || event.metaKey) && !level3;
  const alt = event.altKey && !level3;
  // A shifted character already differs; Shift is named only with Mod and for named keys.
  const shift = event.shiftKey && (!typed || mod);
  const key =
    event.key === " " ? "Space" : mod ? (typed ? event.key.toLowerCase() : event.key) : event.key;
  return [mod && "Mod", alt && "Alt", shift && "Shift", key].filter(Boolean).join("+");
}

/** True if letters go into a text field. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement)
    return !["checkbox", "radio", "button", "range", "submit"].includes(target.type);
  return (
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    target.isContentEditable
  );
}

const PRESSED =
  "button, a[href], summary, label, input[type=checkbox], input[type=radio], [role='option'], [role='menuitem']";

/**
 * Enter and Space belong to the focused button, link or box; arrows to a group of radio buttons and
 * to a slider.
 */
function isPress(pressed: string, target: EventTarget | null): boolean {
  if (!(target instanceof Element)) return false;
  if (pressed.startsWith("Arrow")) return target.matches("input[type=radio], input[type=range]");
  return (pressed === "Enter" || pressed === "Space") && target.closest(PRESSED) !== null;
}

/**
 * Keys that scroll belong to a focused area that can be scrolled in their direction and has no rows
 * to move between.
 */
function isScroll(pressed: string, target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement) || !("scrolls" in target.dataset)) return false;
  if (["ArrowLeft", "ArrowRight"].includes(pressed)) return target.scrollWidth > target.clientWidth;
  return (
    ["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", "Space"].includes(pressed) &&
    target.scrollHeight > target.clientHeight
  );
}

/** Label of a key on this machine. */
export function keyName(key: string, apple = /Mac|iPhone|iPad/.test(navigator.userAgent)): string {
  const names: Record<string, string> = {
    ArrowDown: "↓",
    ArrowUp: "↑",
    ArrowLeft: "←",
    ArrowRight: "→",
    Escape: "Esc",
    PageDown: "PgDn",
    PageUp: "PgUp",
    ContextMenu: "Menu key",
    Mod: apple ? "⌘" : "Ctrl",
    Alt: apple ? "⌥" : "Alt",
  };
  return key
    .split(" ")
    .map((one) =>
      one
        .split(/\+(?=.)/)
        .map(
          (part) =>
            names[part] ?? (part.length === 1 && one.includes("Mod+") ? part.toUpperCase() : part),
        )
        .join(" "),
    )
    .join(" then ");
}

export class Keys {
  #sets: (readonly Action[])[] = [];
  #pending = "";
  #timer: ReturnType<typeof setTimeout> | undefined;
  #changed: () => void = () => undefined;
  readonly #follow = createSubscriber((update) => {
    this.#changed = update;
    return () => (this.#changed = () => undefined);
  });

  /** Adds actions; the newest set wins. Returns the function that removes them, for `$effect`. */
  add(actions: readonly Action[]): () => void {
    this.#sets.push(actions);
    this.#changed();
    return () => {
      this.#sets = this.#sets.filter((set) => set !== actions);
      this.#changed();
    };
  }

  /** All available actions, first added first. What is shown of them follows their changes. */
  all(): Action[] {
    this.#follow();
    const known = new Map<string, Action>();
    for (const action of this.#sets.flat())
      if (action.when?.() ?? true) known.set(action.id, action);
    return [...known.values()];
  }

  run(id: string): void {
    this.all()
      .find((action) => action.id === id)
      ?.run();
  }

  /** Runs the action of the key, if any. */
  handle(event: KeyboardEvent): void {
    if (event.defaultPrevented || event.isComposing) return;
    const pressed = chord(event);
    if (pressed === null) return;
    const target = event.target;
    // An open dialog handles its own keys and a field its letters, also when the focused element
    // inside is gone.
    if (
      document.querySelector("dialog[open]") !== null ||
      (target instanceof Element && target.closest("dialog") !== null)
    )
      return;
    // Undo belongs to a field, too.
    if (
      (!pressed.startsWith("Mod+") || pressed === "Mod+z") &&
      (isTyping(target) || isPress(pressed, target) || isScroll(pressed, target))
    )
      return;
    const offered = [...this.#sets].reverse().flat();
    const wanted = this.#pending === "" ? pressed : `${this.#pending} ${pressed}`;
    const fits = (keys: string) =>
      offered.find((action) => action.keys?.includes(keys) && (action.when?.() ?? true));
    const action = fits(wanted) ?? fits(pressed);
    this.#wait(
      action === undefined &&
        offered.some((one) => one.keys?.some((keys) => keys.startsWith(`${wanted} `)))
        ? wanted
        : "",
    );
    if (action === undefined) return;
    event.preventDefault();
    action.run(event);
  }

  #wait(pending: string): void {
    clearTimeout(this.#timer);
    this.#pending = pending;
    if (pending !== "") this.#timer = setTimeout(() => (this.#pending = ""), PAUSE_MS);
  }
}

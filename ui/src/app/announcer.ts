// A short status message beside the focus, read aloud by screen readers. Never the only copy of a
// piece of information.
import { createSubscriber } from "svelte/reactivity";

const VISIBLE_MS = 5_000;

export class Announcer {
  #text = "";
  #timer: ReturnType<typeof setTimeout> | undefined;
  #update: () => void = () => undefined;
  readonly #subscribe = createSubscriber((update) => {
    this.#update = update;
  });

  get text(): string {
    this.#subscribe();
    return this.#text;
  }

  say(text: string): void {
    clearTimeout(this.#timer);
    this.#text = text;
    this.#update();
    if (text !== "") this.#timer = setTimeout(() => this.say(""), VISIBLE_MS);
  }

  /** Copies a text to the clipboard and reports success or the reason of failure. */
  async copy(text: string, what: string): Promise<void> {
    try {
      await navigator.clipboard.writeText(text);
      this.say(`Copied ${what}.`);
    } catch {
      this.say("The clipboard is not available.");
    }
  }
}

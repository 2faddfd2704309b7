// A short status message beside the focus, read aloud by screen readers. Never the only copy of a
// piece of information. It goes when its page is left.
import { createSubscriber } from "svelte/reactivity";
import { pageNow } from "./route";

const VISIBLE_MS = 5_000;

/** The page that leads on to the first place of a folder. */
const HOMES = ["", "#/"];

export class Announcer {
  #text = "";
  /** Where the message was given. */
  #page = "";
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
    this.#page = pageNow();
    this.#update();
    if (text !== "") this.#timer = setTimeout(() => this.say(""), VISIBLE_MS);
  }

  /** Hears that the address changed. */
  moved(): void {
    if (this.#text === "" || this.#page === pageNow()) return;
    if (HOMES.includes(this.#page)) this.#page = pageNow();
    else this.say("");
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

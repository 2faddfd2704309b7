// Browser features that jsdom lacks. Sizes are fixed, because jsdom has no layout.
class Observed {
  constructor(private readonly fn: ResizeObserverCallback) {}
  observe(target: Element) {
    // Asynchronous, like in a browser, which callers rely on.
    queueMicrotask(() =>
      this.fn(
        [{ target, contentRect: { width: 1200, height: 600 } } as unknown as ResizeObserverEntry],
        this as unknown as ResizeObserver,
      ),
    );
  }
  unobserve() {}
  disconnect() {}
}
globalThis.ResizeObserver ??= Observed as unknown as typeof ResizeObserver;
window.matchMedia ??= (media: string) =>
  ({
    matches: false,
    media,
    addEventListener() {},
    removeEventListener() {},
  }) as unknown as MediaQueryList;
HTMLDialogElement.prototype.showModal ??= function (this: HTMLDialogElement) {
  this.open = true;
};
HTMLDialogElement.prototype.close ??= function (this: HTMLDialogElement) {
  this.open = false;
  this.dispatchEvent(new Event("close"));
};
Element.prototype.scrollIntoView ??= () => undefined;
// Everything in the page counts as laid out.
Object.defineProperty(HTMLElement.prototype, "offsetParent", {
  get(this: HTMLElement) {
    return this.parentElement;
  },
});
Object.defineProperty(HTMLElement.prototype, "clientHeight", {
  configurable: true,
  get: () => 600,
});

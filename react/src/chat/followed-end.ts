/** The distance from the end at which a reader who scrolls down has arrived, in pixels. */
const NEAR = 48;
const KEYS_UP: readonly string[] = ['ArrowUp', 'PageUp', 'Home'];

/**
 * The only code that scrolls the conversation. A reader at its end sees the end, whatever grows or shrinks; for a reader
 * who has scrolled up, what is at the top of the view stays there. Browsers that anchor scrolling by themselves are told
 * not to (`overflow-anchor`), so that every change of the position that is not written here is the reader's.
 */
export class FollowedEnd {
  readonly #view: HTMLElement;
  readonly #observer: ResizeObserver | undefined;
  readonly #listening = new AbortController();
  #isFollowing = true;
  /** The last known position: written here, or reported by a `scroll` event. */
  #top = 0;
  /** What the reader sees at the top of the view, and its distance from there. */
  #anchor: Element | undefined;
  #offset = 0;
  #touchY = 0;

  constructor(view: HTMLElement, content: HTMLElement) {
    this.#view = view;
    this.#top = view.scrollTop;
    // `scroll` events come late in WebKit and Firefox, after more was written. Reading up is known before by its input.
    this.#listen('wheel', ({ deltaY, ctrlKey }) => {
      if (deltaY < 0 && !ctrlKey) this.#leave();
    });
    this.#listen('touchstart', ({ touches }) => (this.#touchY = touches[0]?.clientY ?? 0));
    this.#listen('touchmove', ({ touches }) => {
      const y = touches[0]?.clientY ?? 0;
      if (y > this.#touchY) this.#leave();
      this.#touchY = y;
    });
    this.#listen('keydown', (event) => {
      const isUp = KEYS_UP.includes(event.key) || (event.key === ' ' && event.shiftKey);
      // In a form field or on a button of an answer these keys do something else.
      if (isUp && event.target === view) this.#leave();
    });
    this.#listen('scroll', () => this.#onScroll());
    if (typeof ResizeObserver === 'undefined') return; // jsdom, in which sites test their pages
    this.#observer = new ResizeObserver(() => this.#onResize());
    this.#observer.observe(view);
    this.#observer.observe(content);
  }

  /** Shows the end, and follows it from now on. */
  toEnd(): void {
    this.#isFollowing = true;
    this.#write(this.#view.scrollHeight);
  }

  close(): void {
    this.#listening.abort();
    this.#observer?.disconnect();
  }

  #listen<T extends 'wheel' | 'touchstart' | 'touchmove' | 'keydown' | 'scroll'>(
    type: T,
    listener: (event: HTMLElementEventMap[T]) => void,
  ): void {
    this.#view.addEventListener(type, listener, { passive: true, signal: this.#listening.signal });
  }

  #onScroll(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.#view;
    if (Math.abs(scrollTop - this.#top) < 1) return;
    const isDown = scrollTop > this.#top;
    this.#top = scrollTop;
    if (!isDown) this.#isFollowing = false;
    else if (scrollHeight - scrollTop - clientHeight < NEAR) this.#isFollowing = true;
    this.#remember();
  }

  #onResize(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.#view;
    if (clientHeight === 0) return; // hidden
    // A reader has moved up, and the event is still to come. The browser itself moves up to the new end only.
    if (scrollTop < this.#top - 1 && scrollTop < scrollHeight - clientHeight - 1) return this.#onScroll();
    if (this.#isFollowing) return this.#write(scrollHeight);
    if (this.#anchor?.isConnected !== true) return this.#remember();
    const moved = this.#distance(this.#anchor) - this.#offset;
    if (Math.abs(moved) >= 1) this.#write(scrollTop + moved);
  }

  #leave(): void {
    // Where nothing can be scrolled, nobody leaves.
    if (!this.#isFollowing || this.#view.scrollTop <= 0) return;
    this.#isFollowing = false;
    this.#remember();
  }

  #write(top: number): void {
    this.#view.scrollTop = top;
    this.#top = this.#view.scrollTop;
  }

  /** The innermost element that begins above the top of the view and reaches into it, or the first below it. */
  #remember(): void {
    this.#anchor = undefined;
    if (this.#isFollowing) return;
    let within: Element | undefined = this.#view;
    while (within !== undefined) {
      within = [...within.children].find((child) => child.getBoundingClientRect().bottom > this.#viewTop);
      if (within === undefined) break;
      this.#anchor = within;
      this.#offset = this.#distance(within);
      if (this.#offset >= 0) break;
    }
  }

  get #viewTop(): number {
    return this.#view.getBoundingClientRect().top;
  }

  #distance(element: Element): number {
    return element.getBoundingClientRect().top - this.#viewTop;
  }
}

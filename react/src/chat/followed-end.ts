/** A reader within this distance of the end, in pixels, who moves towards it is at the end again. */
const NEAR_END = 48;

/**
 * Keeps the end of a growing list in view, unless its reader has scrolled back: whatever makes it grow, or its place
 * shrink. Nothing else sets the list's scroll position.
 */
export class FollowedEnd {
  readonly #viewport: HTMLElement;
  readonly #listening = new AbortController();
  readonly #observer: ResizeObserver | undefined;
  #isAtEnd = true;
  /** The position seen last, in pixels. */
  #top: number;

  constructor(viewport: HTMLElement, content: HTMLElement) {
    this.#viewport = viewport;
    this.#top = viewport.scrollTop;
    const { signal } = this.#listening;
    const passive = { passive: true, signal };
    viewport.addEventListener('scroll', () => this.#onScroll(), passive);
    // WebKit scrolls outside the main thread, so the position may change only after the next piece has been written.
    viewport.addEventListener('wheel', ({ deltaY, ctrlKey }) => deltaY < 0 && !ctrlKey && this.#leave(), passive);
    viewport.addEventListener('keydown', (event) => this.#onKeyDown(event), passive);
    let touchY = 0;
    const onTouch = ({ type, touches: [touch] }: TouchEvent): void => {
      if (touch === undefined) return;
      if (type === 'touchmove' && touch.clientY > touchY) this.#leave();
      touchY = touch.clientY;
    };
    viewport.addEventListener('touchstart', onTouch, passive);
    viewport.addEventListener('touchmove', onTouch, passive);
    // jsdom, in which sites test their pages, has none.
    this.#observer = typeof ResizeObserver === 'undefined' ? undefined : new ResizeObserver(() => this.#onResize());
    this.#observer?.observe(viewport);
    this.#observer?.observe(content);
    this.show();
  }

  /** Scrolls to the end, and stays there. */
  show(): void {
    this.#isAtEnd = true;
    this.#onResize();
  }

  stop(): void {
    this.#listening.abort();
    this.#observer?.disconnect();
  }

  #onResize(): void {
    // The reader may have moved although the scroll event is still to come.
    if (this.#hasMovedBack) this.#isAtEnd = false;
    if (this.#isAtEnd) this.#viewport.scrollTop = this.#viewport.scrollHeight;
    // A shorter list moves the position too; that scroll event must not look like a reader's.
    this.#top = this.#viewport.scrollTop;
  }

  #onScroll(): void {
    const { scrollTop } = this.#viewport;
    // Far from the end says nothing: more may have been written since. Only a reader moves back.
    if (this.#hasMovedBack) this.#isAtEnd = false;
    else if (scrollTop > this.#top && this.#fromEnd < NEAR_END) this.#isAtEnd = true;
    this.#top = scrollTop;
  }

  #onKeyDown({ key, target }: KeyboardEvent): void {
    if (target === this.#viewport && ['ArrowUp', 'PageUp', 'Home'].includes(key)) this.#leave();
  }

  #leave(): void {
    if (this.#viewport.scrollTop > 0) this.#isAtEnd = false;
  }

  /** True if the position is before the one seen last and not at the end, where a list that got shorter puts it. */
  get #hasMovedBack(): boolean {
    return this.#viewport.scrollTop < this.#top - 1 && this.#fromEnd > 1;
  }

  get #fromEnd(): number {
    const { scrollHeight, scrollTop, clientHeight } = this.#viewport;
    return scrollHeight - scrollTop - clientHeight;
  }
}

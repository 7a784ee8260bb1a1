/** Pixels from the end within which a reader who scrolls towards it counts as at the end. */
const NEAR_END = 48;

/** Number of frames in which a browser with scroll anchoring, or the reader, may move first. */
const PATIENCE = 4;

/**
 * Keeps the end of a growing list in view, unless its reader has scrolled back: whatever makes it grow, or its place
 * shrink. Setting the position would end smooth scrolling, so browsers that anchor scrolling hold the end by themselves
 * (`.a2a-log::after`); here it is set at once in WebKit, which does not anchor, and elsewhere only if that has failed.
 * For a reader who has scrolled back, what is at the top of the view stays there, and no browser anchors anything.
 */
export class FollowedEnd {
  readonly #viewport: HTMLElement;
  readonly #listening = new AbortController();
  readonly #observer: ResizeObserver | undefined;
  readonly #onAway: (isAway: boolean) => void;
  #isAtEnd = true;
  #isAway = false;
  readonly #isAnchoring: boolean;
  /** True if the browser held the end at the last known position. */
  #isHeld = false;
  /** The pending animation frame, otherwise 0. */
  #frame = 0;
  /** The last known position, and the heights of the list and of the view there, in pixels. */
  #top: number;
  #height = 0;
  #shown = 0;
  /** The element at the top of the view of a reader who has scrolled back, and its place in the list in pixels. */
  #anchor: Element | undefined;
  #place = 0;

  /** `onAway` is called when the reader leaves the end for what is above it, and is back. */
  constructor(viewport: HTMLElement, content: HTMLElement, onAway: (isAway: boolean) => void) {
    this.#viewport = viewport;
    this.#onAway = onAway;
    this.#isAnchoring = 'overflowAnchor' in viewport.style;
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
    this.#watchScripts(signal);
    // jsdom, in which sites test their pages, has none.
    this.#observer = typeof ResizeObserver === 'undefined' ? undefined : new ResizeObserver(() => this.#onResize());
    this.#observer?.observe(viewport);
    this.#observer?.observe(content);
    this.show();
  }

  /** Scrolls to the end, and stays there. */
  show(): void {
    this.#setAtEnd(true);
    this.#toEnd();
  }

  stop(): void {
    this.#stay();
    this.#listening.abort();
    this.#observer?.disconnect();
  }

  /** A script that scrolls smoothly moves nothing at first, and a position set meanwhile would stop it. */
  #watchScripts(signal: AbortSignal): void {
    const viewport = this.#viewport;
    for (const name of ['scroll', 'scrollBy', 'scrollTo'] as const)
      viewport[name] = (...to: readonly (ScrollToOptions | number | undefined)[]) => {
        const top = typeof to[0] === 'object' ? to[0].top : (to[1] as number | undefined);
        const from = name === 'scrollBy' ? 0 : viewport.scrollTop;
        if ((top ?? from) < from - 1 && !signal.aborted) this.#leave();
        Element.prototype[name].apply(viewport, to as [number, number]);
      };
  }

  #onResize(): void {
    if (this.#viewport.clientHeight === 0) return; // hidden: the position is lost, the place is not
    // The reader may have moved although the scroll event is still to come.
    if (this.#hasMovedBack) return this.#onScroll();
    if (this.#isAtEnd) this.#follow();
    else if (this.#anchor?.isConnected === true) {
      const moved = this.#distance(this.#anchor) + this.#viewport.scrollTop - this.#place;
      if (Math.abs(moved) >= 1) {
        this.#place += moved;
        this.#viewport.scrollTop += moved;
      }
    } else this.#remember();
    // A shorter list moves the position too; that scroll event must not look like a reader's.
    this.#see();
  }

  #follow(): void {
    if (this.#fromEnd <= 1) return this.#stay();
    if (!this.#isAnchoring) return this.#toEnd();
    const { scrollTop } = this.#viewport;
    if (this.#hasLeft) return this.#leave();
    // No browser anchors at the very top.
    if (scrollTop === 0) return this.#toEnd();
    const wait = (frames: number): void => {
      this.#frame = requestAnimationFrame(() => {
        if (this.#viewport.scrollTop < scrollTop) this.#leave();
        else if (frames > 1 && this.#isAtEnd) return wait(frames - 1);
        else if (this.#isAtEnd) this.#toEnd();
        this.#frame = 0;
      });
    };
    if (this.#frame === 0) wait(PATIENCE);
  }

  #stay(): void {
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
  }

  #setAtEnd(isAtEnd: boolean): void {
    this.#isAtEnd = isAtEnd;
    if (this.#isAnchoring) this.#viewport.style.overflowAnchor = isAtEnd ? '' : 'none';
  }

  #toEnd(): void {
    this.#viewport.scrollTop = this.#viewport.scrollHeight;
    this.#see();
  }

  #onScroll(): void {
    const { scrollTop } = this.#viewport;
    if (scrollTop === this.#top) return; // The distance from the end alone proves nothing, since more text may have arrived. Only a reader moves back.
    if (this.#hasMovedBack || this.#hasLeft) this.#setAtEnd(false);
    else if (scrollTop > this.#top && this.#hasReachedEnd) {
      this.#setAtEnd(true);
      this.#follow();
    }
    this.#remember();
  }

  #onKeyDown({ key, shiftKey, target }: KeyboardEvent): void {
    const isBack = ['ArrowUp', 'PageUp', 'Home'].includes(key) || (key === ' ' && shiftKey);
    if (isBack && target === this.#viewport) this.#leave();
  }

  #leave(): void {
    if (!this.#isAtEnd || this.#viewport.scrollTop <= 0) return;
    this.#setAtEnd(false);
    this.#remember();
  }

  #see(): void {
    this.#top = this.#viewport.scrollTop;
    this.#height = this.#viewport.scrollHeight;
    this.#shown = this.#viewport.clientHeight;
    this.#isHeld = this.#isAnchoring && this.#isAtEnd && this.#fromEnd <= 1;
    const isAway = !this.#isAtEnd && this.#fromEnd > NEAR_END;
    if (isAway !== this.#isAway) this.#onAway((this.#isAway = isAway));
  }

  /** Looks for the innermost element that begins above the view and reaches into it, or the first one that begins in it. */
  #remember(): void {
    this.#see();
    this.#anchor = undefined;
    let within: Element | undefined = this.#isAtEnd ? undefined : this.#viewport;
    while (within !== undefined) {
      within = [...within.children].find((child) => this.#distance(child) + child.getBoundingClientRect().height > 0);
      if (within === undefined) return;
      this.#anchor = within;
      const distance = this.#distance(within);
      this.#place = distance + this.#top;
      if (distance >= 0) return;
    }
  }

  #distance(element: Element): number {
    return element.getBoundingClientRect().top - this.#viewport.getBoundingClientRect().top;
  }

  /** True at the end that a reader scrolled to: on a busy page, more text may have arrived before the scroll event. */
  get #hasReachedEnd(): boolean {
    const { scrollHeight, scrollTop, clientHeight } = this.#viewport;
    return Math.min(scrollHeight, this.#height) - scrollTop - clientHeight < NEAR_END;
  }

  /** True if the position is before the one seen last and not at the end, where a list that got shorter puts it. */
  get #hasMovedBack(): boolean {
    return this.#viewport.scrollTop < this.#top - 1 && this.#isBeforeEnd;
  }

  /** True if a reader has moved from an end that the browser holds: it may follow meanwhile, but leaves no rest. */
  get #hasLeft(): boolean {
    return this.#isHeld && this.#isBeforeEnd && Math.abs(this.#viewport.scrollTop - this.#top) >= 1;
  }

  /** True if the end is out of view although the view is as high as it was: a phone that is turned moves the list, too. */
  get #isBeforeEnd(): boolean {
    return this.#fromEnd + Math.min(0, this.#viewport.clientHeight - this.#shown) > 1;
  }

  get #fromEnd(): number {
    const { scrollHeight, scrollTop, clientHeight } = this.#viewport;
    return scrollHeight - scrollTop - clientHeight;
  }
}

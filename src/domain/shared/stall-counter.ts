/** Looks in one span: the more, the nearer to the last movement a stall is counted. */
const LOOKS = 4;

/** A transfer that may stop moving. */
export interface StallWatched {
  /** The state since the last look; `done` ends the counting. */
  look(): 'moved' | 'still' | 'done';
  /** Called once, when nothing has moved for a whole span. */
  onStalled(): void;
}

/** Runs a task after so many milliseconds; the result cancels it. */
export type StartTimer = (task: () => void, ms: number) => () => void;

/**
 * Notices a transfer that stands still for a span (decision 84).
 * It looks four times in a span instead of timing each chunk: a transfer that moves pays for four timers a span, and one that is done for none.
 */
export class StallCounter {
  readonly #watched: StallWatched;
  readonly #spanMs: number;
  readonly #startTimer: StartTimer;
  #cancel: (() => void) | undefined;
  #still = 0;

  constructor(watched: StallWatched, spanMs: number, startTimer: StartTimer) {
    this.#watched = watched;
    this.#spanMs = spanMs;
    this.#startTimer = startTimer;
  }

  get isRunning(): boolean {
    return this.#cancel !== undefined;
  }

  /** Counts from now on, unless it does already. */
  begin(): void {
    if (this.isRunning) return;
    this.#still = 0;
    this.#wait();
  }

  end(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #wait(): void {
    this.#cancel = this.#startTimer(this.#look, Math.ceil(this.#spanMs / LOOKS));
  }

  readonly #look = (): void => {
    this.#cancel = undefined;
    const state = this.#watched.look();
    if (state === 'done') return;
    this.#still = state === 'moved' ? 0 : this.#still + 1;
    if (this.#still < LOOKS) this.#wait();
    else this.#watched.onStalled();
  };
}

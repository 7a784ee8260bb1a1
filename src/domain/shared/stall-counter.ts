/** Checks per span: with more checks, a stall is measured from closer to the last movement. */
const LOOKS = 4;

/** A transfer that may stall. */
export interface StallWatched {
  /** The state since the last check; `done` ends the counting. */
  look(): 'moved' | 'still' | 'done';
  /** Called once, after a whole span without movement. */
  onStalled(): void;
}

/** Runs a task after a delay; the returned function cancels it. */
export type StartTimer = (task: () => void, ms: number) => () => void;

/**
 * Detects a transfer without movement for a span (decision 84). It checks four times per span instead of timing each
 * chunk: a moving transfer costs four timers per span, and one that ends sooner costs none.
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

  /** Starts counting, unless already counting. */
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

/** Does the same work once for all who ask for it while it runs; its end, good or bad, clears the way for the next. */
export class SingleFlight<T> {
  readonly #running = new Map<string, Promise<T>>();

  /** The run under this name; `undefined` when there is none. */
  running(name: string): Promise<T> | undefined {
    return this.#running.get(name);
  }

  /** Joins the run under this name, or starts one: stored before anything is awaited, so that every caller of this turn joins it. */
  run(name: string, work: () => Promise<T>): Promise<T> {
    let flight = this.#running.get(name);
    if (flight === undefined) {
      flight = work().finally(() => this.#running.delete(name));
      this.#running.set(name, flight);
    }
    return flight;
  }
}

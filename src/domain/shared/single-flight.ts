/** Runs the same work once for all concurrent callers. When it ends, successfully or not, the next call starts a new run. */
export class SingleFlight<T> {
  readonly #running = new Map<string, Promise<T>>();

  /** The run with this name; `undefined` if there is none. */
  running(name: string): Promise<T> | undefined {
    return this.#running.get(name);
  }

  /** Joins the run with this name, or starts one. It is registered synchronously, so that every caller in this turn joins it. */
  run(name: string, work: () => Promise<T>): Promise<T> {
    let flight = this.#running.get(name);
    if (flight === undefined) {
      flight = work().finally(() => this.#running.delete(name));
      this.#running.set(name, flight);
    }
    return flight;
  }
}

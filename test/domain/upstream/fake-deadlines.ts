/** Deadlines that pass when a test says so. */
export class FakeDeadlines {
  /** How long each was to be, oldest first. */
  readonly spans: number[] = [];
  readonly #controllers: AbortController[] = [];

  readonly start = (ms: number): AbortSignal => {
    const controller = new AbortController();
    this.spans.push(ms);
    this.#controllers.push(controller);
    return controller.signal;
  };

  /** Lets all deadlines pass that are no longer than a span. */
  pass(ms: number): void {
    this.#controllers.filter((_, index) => (this.spans[index] ?? 0) <= ms).forEach((controller) => controller.abort());
  }
}

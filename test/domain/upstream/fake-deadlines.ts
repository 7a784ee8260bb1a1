/** Deadlines triggered by a test. */
export class FakeDeadlines {
  /** The requested time spans, oldest first. */
  readonly spans: number[] = [];
  readonly #controllers: AbortController[] = [];

  readonly start = (ms: number): AbortSignal => {
    const controller = new AbortController();
    this.spans.push(ms);
    this.#controllers.push(controller);
    return controller.signal;
  };

  /** Triggers all deadlines up to a given span. */
  pass(ms: number): void {
    this.#controllers.filter((_, index) => (this.spans[index] ?? 0) <= ms).forEach((controller) => controller.abort());
  }
}

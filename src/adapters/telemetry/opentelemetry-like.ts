/**
 * A context of OpenTelemetry, handed from one of its functions to the next.
 *
 * @public
 */
export interface ContextLike {
  /** Reads a value. */
  getValue(key: symbol): unknown;
  /** A context with one value more. */
  setValue(key: symbol, value: unknown): ContextLike;
  /** A context with one value less. */
  deleteValue(key: symbol): ContextLike;
}

/**
 * What is used of a span.
 *
 * @public
 */
export interface SpanLike {
  /** Notes a property. */
  setAttribute(key: string, value: string | number): unknown;
  /** Notes how it went. */
  setStatus(status: { readonly code: number }): unknown;
  /** Gives it its last name. */
  updateName(name: string): unknown;
  /** Ends it now. */
  end(): void;
}

/**
 * What is used of a tracer.
 *
 * @public
 */
export interface TracerLike {
  /** Begins a span. */
  startSpan(
    name: string,
    options: { kind?: number; startTime?: number; attributes?: Record<string, string> },
    // Its own types are narrower than these, so that only its own objects fit.
    // oxlint-disable-next-line typescript/no-explicit-any
    context?: any,
  ): SpanLike;
}

/**
 * What is used of a meter.
 *
 * @public
 */
export interface MeterLike {
  /** Makes a counter. */
  createCounter(
    name: string,
    options: { description: string },
  ): { add(value: number, attributes: Record<string, string | number>): void };
  /** Makes a histogram. */
  createHistogram(
    name: string,
    options: { description: string; unit: string },
  ): { record(value: number, attributes: Record<string, string | number>): void };
}

/**
 * The module `@opentelemetry/api`, version 1, as far as it is used: the site brings it, so that it is the one its SDK set up.
 *
 * @public
 */
export interface OpenTelemetryLike {
  /** Contexts. */
  readonly context: {
    active(): ContextLike;
    // oxlint-disable-next-line typescript/no-explicit-any
    with(context: any, work: () => any): any;
  };
  /** Spans. */
  readonly trace: {
    getTracer(name: string): TracerLike;
    // oxlint-disable-next-line typescript/no-explicit-any
    getSpan(context: any): unknown;
    // oxlint-disable-next-line typescript/no-explicit-any
    setSpan(context: any, span: any): ContextLike;
  };
  /** Measurements. */
  readonly metrics: { getMeter(name: string): MeterLike };
  /** Trace context in header fields. */
  readonly propagation: {
    // oxlint-disable-next-line typescript/no-explicit-any
    extract(context: any, carrier: unknown): ContextLike;
    // oxlint-disable-next-line typescript/no-explicit-any
    inject(context: any, carrier: unknown): void;
  };
}

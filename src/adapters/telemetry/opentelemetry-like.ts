/** What is used of a span. */
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

/** What is used of a tracer. */
export interface TracerLike {
  startSpan(
    name: string,
    options: { kind?: number; startTime?: number; attributes?: Record<string, string | number> },
    context?: unknown,
  ): SpanLike;
}

/** What is used of a counter, which may go up and down. */
export interface CounterLike {
  add(value: number, attributes: Record<string, string | number>): void;
}

/** What is used of a histogram. */
export interface HistogramLike {
  record(value: number, attributes: Record<string, string | number>): void;
}

interface InstrumentOptions {
  unit: string;
  description: string;
  advice?: { explicitBucketBoundaries: number[] };
}

/** What is used of a meter. */
export interface MeterLike {
  createCounter(name: string, options: InstrumentOptions): CounterLike;
  createUpDownCounter(name: string, options: InstrumentOptions): CounterLike;
  createHistogram(name: string, options: InstrumentOptions): HistogramLike;
}

/**
 * The module `@opentelemetry/api`, version 1, as far as it is used: the site brings it, so that it is the one its SDK set up.
 * What only goes from one of its functions to the next is `any` here, since its own types are narrower.
 *
 * @public
 */
/* oxlint-disable typescript/no-explicit-any */
export interface OpenTelemetryLike {
  /** Contexts. */
  readonly context: { active(): any; with(context: any, work: () => any): any };
  /** Spans. */
  readonly trace: {
    getTracer(name: string): any;
    getSpan(context: any): unknown;
    setSpan(context: any, span: any): any;
  };
  /** Measurements. */
  readonly metrics: { getMeter(name: string): any };
  /** Trace context in header fields. */
  readonly propagation: { extract(context: any, carrier: unknown): any; inject(context: any, carrier: unknown): void };
}

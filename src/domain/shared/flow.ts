/** Where the chunks of a body go that hands them on by itself. */
export interface BodySink {
  /** Takes the chunk in any case; `false` asks for no more until `resume`. */
  write(chunk: Uint8Array): boolean;
  /** Nothing more comes. */
  end(): void;
  /** The body broke, and nothing more comes. */
  fail(error: unknown): void;
}

/** What the sink says to the body. */
export interface Flow {
  /** It takes chunks again. */
  resume(): void;
  /** It wants none of the rest; `reason` where the browser did not leave by itself. */
  cancel(reason?: Error): void;
}

/**
 * A body that hands its chunks on as they come, without a promise for each: a stream of short events costs little else (decision 78).
 * To be read once, by its iterator or by `flowTo`.
 */
export interface FlowingBody extends AsyncIterable<Uint8Array> {
  /** What is at hand goes to the sink before this returns. */
  flowTo(sink: BodySink): Flow;
}

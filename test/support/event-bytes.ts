import fc from 'fast-check';

/** One stream as an agent writes it, and where the network cuts it. */
export interface WrittenStream {
  readonly bytes: Buffer;
  /** Lengths of the pieces in which it is written, in turn, over and over. */
  readonly pieces: readonly number[];
}

/** Every end of line that server-sent events know. */
const lineEnd = fc.constantFrom('\n', '\r\n', '\r');
const words = fc.string({ unit: fc.oneof(fc.constantFrom('a', ' ', ':', '"', 'é', '€', '🙂', '\u0000', '\u2028')) });
const line = fc.oneof(
  { weight: 5, arbitrary: words.map((text) => `data: ${text}`) },
  { weight: 1, arbitrary: words.map((text) => `data:${text}`) },
  { weight: 2, arbitrary: fc.nat().map((id) => `id: ${String(id)}`) },
  { weight: 2, arbitrary: words.map((text) => `: ${text}`) },
  { weight: 1, arbitrary: fc.constantFrom('event: message', 'event: error', 'retry: 10', 'data', 'id', ':') },
  { weight: 1, arbitrary: words.map((text) => `x-unknown: ${text}`) },
);
/** An event of several lines, each with an end of its own; some agents send more empty lines than it takes. */
const event = fc
  .tuple(
    fc.array(fc.tuple(line, lineEnd), { minLength: 1, maxLength: 6 }),
    fc.array(lineEnd, { maxLength: 3 }),
    lineEnd,
  )
  .map(([lines, more, last]) => `${lines.flat().join('')}${more.join('')}${last}`);

/** A stream of up to 30 events, cut into pieces of any length: most are small, so that most events are cut. */
export function writtenStreams(): fc.Arbitrary<WrittenStream> {
  return fc.record({
    bytes: fc.array(event, { minLength: 1, maxLength: 30, size: 'max' }).map((events) => Buffer.from(events.join(''))),
    pieces: fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 4_000 })), {
      minLength: 1,
      maxLength: 30,
    }),
  });
}

/** The same with one event of 5 MB in its middle. */
export function withLongEvent({ bytes, pieces }: WrittenStream): WrittenStream {
  const long = Buffer.from(`id: long\r\ndata: "${'é🙂'.repeat(900_000)}"\n\n`);
  return {
    bytes: Buffer.concat([bytes, Buffer.from('\n\n'), long, bytes]),
    pieces: pieces.map((length) => length * 997),
  };
}

/** The pieces of a stream, in their order. */
export function* piecesOf({ bytes, pieces }: WrittenStream): Generator<Buffer> {
  let start = 0;
  for (let turn = 0; start < bytes.length; turn += 1) {
    const length = pieces[turn % pieces.length] ?? bytes.length;
    yield bytes.subarray(start, start + length);
    start += length;
  }
}

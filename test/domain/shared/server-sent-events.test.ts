import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EVENT_END, eventData, EventEnd } from '../../../src/domain/shared/server-sent-events.js';
import { bytes } from '../../adapters/web/browser-request.js';

/** Reference implementation: all bytes so far, with uniform line ends (HTML, "Parsing an event stream"), end in an empty line. */
function atBoundary(text: string): boolean {
  const lines = text.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
  return lines === '' || lines === '\n' || lines.endsWith('\n\n');
}

function expectSame(pieces: readonly string[]): void {
  const finder = new EventEnd();
  let seen = '';
  for (const piece of pieces) {
    finder.push(bytes(piece));
    seen += piece;
    expect(finder.isComplete, JSON.stringify(pieces)).toBe(atBoundary(seen));
  }
}

describe('the place between two events', () => {
  it('is found before the first byte', () => {
    expect(new EventEnd().isComplete).toBe(true);
  });

  it('is found in every short stream, cut in two at every byte', () => {
    let streams = [''];
    for (let length = 0; length < 7; length += 1) {
      for (const stream of streams) {
        for (let cut = 0; cut <= stream.length; cut += 1) expectSame([stream.slice(0, cut), stream.slice(cut)]);
      }
      streams = streams.flatMap((stream) => [`${stream}\n`, `${stream}\r`, `${stream}a`]);
    }
  });

  it('is found in every stream of LF, CR and CRLF, cut anywhere', () => {
    const part = fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom('\n', '\r', '\r\n', '\n\n', '\r\r', '\r\n\r\n') },
      { weight: 2, arbitrary: fc.constantFrom('data: x', ':', 'ü', '\u2028') },
    );
    const stream = fc.array(part, { maxLength: 20 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(stream, fc.array(fc.nat(60), { maxLength: 6 }), (text, cuts) => {
        const places = [...new Set([0, ...cuts.map((cut) => Math.min(cut, text.length)), text.length])].sort(
          (a, b) => a - b,
        );
        expectSame(places.slice(1).map((end, index) => text.slice(places[index], end)));
      }),
      { numRuns: 1_000 },
    );
  });

  it('is found after a long event', () => {
    expectSame([`data: ${'x'.repeat(70_000)}\r\n\r\n`, 'data', ': y\n', '\n', 'x'.repeat(9), '\n\n']);
  });
});

describe('the data of an event', () => {
  it.each([
    ['data: a', ' a'],
    ['id: 1\r\ndata:a\rdata:\ndata:b', 'a\n\nb'],
    ['data:', ''],
    [': comment', undefined],
    ['metadata:a', undefined],
  ])('in %j is %j', (event, data) => {
    expect(eventData(event)).toBe(data);
  });

  it.each([
    ['a\n\nb', ['a', 'b']],
    ['a\r\rb', ['a', 'b']],
    ['a\r\n\r\nb', ['a', 'b']],
    ['a\n\r\nb', ['a', 'b']],
    ['a\r\nb\rc\nd', ['a\r\nb\rc\nd']],
  ])('ends at two line ends: %j', (stream, events) => {
    expect(stream.split(EVENT_END)).toEqual(events);
  });
});

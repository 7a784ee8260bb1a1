import fc from 'fast-check';
import type { RawHead } from './raw-head.js';

/** Response fields whose values come from the platform, on every route. */
const CHOSEN: readonly string[] =
  'content-disposition content-language etag last-modified retry-after vary a2a-version a2a-extensions x-a2a-extensions'.split(
    ' ',
  );

/** Further fields a platform may send on records. */
const OF_RECORDS: readonly string[] = ['accept-ranges', 'allow', 'content-range'];

/** Fields that hosts and this package add. */
const ADDED = (
  'content-type content-length content-security-policy cache-control x-content-type-options x-cache x-powered-by ' +
  'www-authenticate date connection keep-alive transfer-encoding'
).split(' ');
const KNOWN: ReadonlySet<string> = new Set([...CHOSEN, ...OF_RECORDS, ...ADDED]);

const utf8 = (text: string): string => Buffer.from(text).toString('latin1');

/** Text of any UTF-16 code units, including lone surrogates. Faster than fast-check's own, which first builds a table of all characters. */
export function anyText(maxLength: number): fc.Arbitrary<string> {
  return fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength }).map((codes) => String.fromCharCode(...codes));
}

/** Text that is special to some parser of a field. */
const piece = fc.oneof(
  fc.constantFrom('a', 'report', '.pdf', '"', '\\', ';', ',', '=', '%', "'", ' ', '\t', '*', '/', '\\"'),
  fc.constantFrom('attachment; filename="', 'inline; filename="', 'attachment; filename=', "; filename*=UTF-8''"),
  fc.constantFrom("; filename*=ISO-8859-1''na%EFve", '%0d%0a', '%0D%0ASet-Cookie: a=1', '%00', '%C3%28', '%u010d'),
  fc.constantFrom('x-odd: 1', 'set-cookie: odd=1', 'content-type: text/html', '<script>', 'cache-control: public'),
  anyText(4),
);

/** Letters of many scripts, including ones whose low byte is a control character. */
const letters = fc.oneof(
  fc.constantFrom(...'文件 č Ċ \u010d\u010a 嘍嘊 \u0d0a € 😀 שלום \u202efdp \u2028 \u0085'.split(' ')),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 3 }),
);

const bytes = fc.oneof(
  letters.map(utf8),
  // Bytes that are not UTF-8.
  fc.constantFrom('\xe9', '\xc0\x8d\xc0\x8a', '\xff', '\x85', '\xc4', '\x80\x8d\x8a'),
);

const long = fc.tuple(fc.constantFrom('a', '\xc4\x8d', '"', '%0a', ', '), fc.integer({ min: 1, max: 1_500 }));
const run = long.map(([text, times]) => text.repeat(times));

/** Values as bytes on the wire, one character each. Only bytes that an HTTP client accepts: no control characters except HTAB. */
export const WIRE_VALUE: fc.Arbitrary<string> = fc
  .array(fc.oneof({ weight: 6, arbitrary: piece }, { weight: 6, arbitrary: bytes }, { weight: 1, arbitrary: run }), {
    maxLength: 8,
  })
  .map((parts) => parts.map((part) => (/[^\0-\xff]/.test(part) ? utf8(part) : part)).join(''))
  .map((text) => text.replace(/[^\t\x20-\x7e\x80-\xff]/g, '').slice(0, 1_200));

/** Values that a site's own upstream may return: any text, several texts, and other types. */
export const OWN_VALUE: fc.Arbitrary<string | readonly string[]> = fc.oneof(
  { weight: 6, arbitrary: ownText() },
  { weight: 1, arbitrary: fc.array(ownText(), { maxLength: 20 }) },
  { weight: 1, arbitrary: fc.integer().map((value) => value as unknown as string) },
);

function ownText(): fc.Arbitrary<string> {
  const controls = ['\r\n', '\r\nset-cookie: odd=1', '\n', '\0', '\x7f', '\x1b', '\r\n\r\n<script>', '\ud800'];
  const control = fc.constantFrom(...controls);
  const part = fc.oneof(piece, letters, bytes, control, { weight: 1, arbitrary: run });
  return fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));
}

/** A response with such field values. */
export interface OddResponse<Value> {
  readonly status: number;
  readonly fields: readonly (readonly [name: string, value: Value])[];
}

/** Responses of a platform with a dozen values each, reproducible by seed. */
export function oddResponses<Value>(
  value: fc.Arbitrary<Value>,
  count: number,
  seed: number,
): readonly OddResponse<Value>[] {
  const names = [...CHOSEN, ...OF_RECORDS];
  const fields = fc
    .tuple(...names.map(() => value))
    .map((values) => names.map((name, at) => [name, values[at] as Value] as const));
  const status = fc.oneof({ weight: 4, arbitrary: fc.constant(200) }, fc.constantFrom(400, 405, 416, 429, 500, 503));
  return fc.sample(fc.record({ status, fields }), { numRuns: Math.ceil(count / names.length), seed });
}

/** The faults of a head: an unexpected field, a missing security field, or an illegal byte. */
export function faultsOf(head: RawHead): readonly string[] {
  const faults: string[] = [];
  for (const [name, value] of head.lines) {
    if (!KNOWN.has(name)) faults.push(`an extra field ${JSON.stringify(name)}`);
    if (!/^[ -~]*$/.test(value)) faults.push(`bytes in ${name}: ${JSON.stringify(value)}`);
    if (value.length > 8_192) faults.push(`${name} of ${String(value.length)} characters`);
  }
  if (head.values('x-content-type-options').join() !== 'nosniff') faults.push('no x-content-type-options');
  if (!/no-store/.test(head.values('cache-control').join())) faults.push('no cache-control');
  const isTyped = /^application\/(?:problem\+)?json(?:; charset=utf-8)?$/.test(head.values('content-type').join());
  const policy = isTyped ? '' : "sandbox; default-src 'none'";
  if (head.values('content-security-policy').join() !== policy) faults.push('no content-security-policy');
  for (const name of new Set(head.lines.map(([one]) => one))) {
    // Hosts add their own names to `vary`.
    if (name !== 'vary' && head.values(name).length > 1) faults.push(`${name} came twice`);
  }
  return faults;
}

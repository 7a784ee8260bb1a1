import { type AbuseFamily, PASSES, ROADS, step } from './abuse-case.js';

const LISTS: readonly (readonly string[])[] = [
  // CVE-2026-33805: a forwarder that removes the fields named by the browser removes its own credential.
  ['Connection: authorization'],
  ['Connection: AUTHORIZATION, close'],
  ['Connection: close', 'Connection: authorization'],
  ['Connection: close,,authorization,'],
  ['Connection: close,\tauthorization\t'],
  ['Connection: close, X-Api-Key, X-Project-Id'],
  ['Connection: close, cookie'],
  ['Connection: close', 'Proxy-Connection: authorization'],
  ['Connection: close', 'Keep-Alive: authorization, timeout=1'],
  ['Connection: close', 'TE: trailers, authorization'],
  // RFC 9110 §7.6.1.
  ['Connection: close, host, content-type'],
  ['Connection: close, accept, a2a-version, accept-language'],
  ['Connection: close, "authorization"'],
  [`Connection: close, ${Array.from({ length: 500 }, (_, index) => `x-${String(index)}`).join(', ')}`],
  ['Connection: close, keep-alive, te, trailer, upgrade'],
  // CVE-2025-48865: fields set by a proxy in front.
  ['Connection: close, x-forwarded-host', 'X-Forwarded-Host: {canary}'],
  // CVE-2026-21710: properties that every object inherits.
  ['Connection: close, __proto__, constructor, hasOwnProperty'],
];

/** Fields a browser names in `Connection` to make a forwarder remove them. */
export const connectionOptions: AbuseFamily = {
  name: 'connection options that name other fields',
  cases: ROADS.flatMap(({ name, make }) =>
    LISTS.map((fields) => ({ id: `${name}: ${fields.join('; ')}`, steps: [step(make(fields))], safe: PASSES })),
  ),
};

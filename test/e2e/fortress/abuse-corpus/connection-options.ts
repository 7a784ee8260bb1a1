import { type AbuseFamily, PASSES, ROADS, slug, step } from './abuse-case.js';

const REMOVAL = 'CVE-2026-33805 / GHSA-gwhp-pf74-vj37';

const LISTS: readonly (readonly [fields: readonly string[], fact: string])[] = [
  [['Connection: authorization'], REMOVAL],
  [['Connection: Authorization'], REMOVAL],
  [['Connection: AUTHORIZATION'], REMOVAL],
  [['Connection: close, authorization'], REMOVAL],
  [['Connection: authorization, close'], REMOVAL],
  [['Connection: close', 'Connection: authorization'], REMOVAL],
  [['Connection: close,,authorization,'], REMOVAL],
  [['Connection: close,\tauthorization\t'], REMOVAL],
  [['Connection: close, x-api-key'], REMOVAL],
  [['Connection: close, X-Api-Key, X-Project-Id'], REMOVAL],
  [['Connection: close, host'], 'RFC 9110 §7.6.1'],
  [['Connection: close, content-type'], 'RFC 9110 §7.6.1'],
  [['Connection: close, accept, a2a-version, accept-language'], 'RFC 9110 §7.6.1'],
  [['Connection: close, x-forwarded-host', 'X-Forwarded-Host: {canary}'], 'CVE-2025-48865'],
  [['Connection: close, x-forwarded-for, x-forwarded-proto'], 'CVE-2025-48865'],
  [['Connection: close, cookie'], REMOVAL],
  [['Connection: close, "authorization"'], 'RFC 9110 §7.6.1'],
  [['Connection: close, __proto__, constructor, hasOwnProperty'], 'CVE-2026-21710'],
  [
    [`Connection: close, ${Array.from({ length: 500 }, (_, index) => `x-${String(index)}`).join(', ')}`],
    'RFC 9110 §7.6.1',
  ],
  [['Connection: close, keep-alive, te, trailer, upgrade'], 'RFC 9110 §7.6.1'],
  [['Connection: close', 'Proxy-Connection: authorization'], REMOVAL],
  [['Connection: close', 'Keep-Alive: authorization, timeout=1'], REMOVAL],
  [['Connection: close', 'TE: trailers, authorization'], REMOVAL],
];

/** Fields that a browser names in `Connection`, so that a forwarder takes them away. */
export const connectionOptions: AbuseFamily = {
  name: 'connection options',
  cases: ROADS.flatMap(({ name, make }) =>
    LISTS.map(([fields, fact], index) => ({
      id: `conn-${name}-${String(index)}-${slug(fields.join(' ').replaceAll(/connection/gi, ''))}`,
      tries: `take fields away from a ${name} with ${fields.join(', ').slice(0, 80)}`,
      fact,
      steps: [step(make(fields))],
      safe: PASSES,
    })),
  ),
};

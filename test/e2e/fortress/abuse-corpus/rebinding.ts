import {
  type AbuseCase,
  type AbuseFamily,
  action,
  ADA,
  chat,
  PASSES,
  record,
  refused,
  render,
  slug,
  step,
  type WireRequest,
} from './abuse-case.js';

const REBINDING = 'CVE-2018-5702';
const PAGE = 'docs/security.md';

/** Pages that the browser takes for the site's own, since their name leads to it, and pages of the same name over another scheme. */
const PAGES: readonly (readonly [fields: readonly string[], fact: string])[] = [
  [['Host: evil.example', 'Origin: http://evil.example'], REBINDING],
  [['Host: evil.example', 'Origin: https://evil.example'], REBINDING],
  [['Host: evil.example:8080', 'Origin: http://evil.example:8080'], REBINDING],
  [['Host: evil.example', 'Sec-Fetch-Site: same-origin'], REBINDING],
  [['Host: evil.example', 'Sec-Fetch-Site: none'], REBINDING],
  [['Host: evil.example', 'Sec-Fetch-Site: same-origin', 'Origin: https://evil.example'], REBINDING],
  [['Host: evil.example', 'Sec-Fetch-Site: same-origin', 'Origin: null'], REBINDING],
  [['Host: evil.example', 'Sec-Fetch-Site: same-origin', 'X-Forwarded-Host: site.example'], REBINDING],
  [['Host: evil.example', 'Sec-Fetch-Site: same-origin', 'Forwarded: host=site.example'], REBINDING],
  [['Host: site.example.', 'Sec-Fetch-Site: same-origin', 'Origin: https://site.example.'], REBINDING],
  [['Host: site.example.', 'Sec-Fetch-Site: same-origin'], REBINDING],
  [['Host: site.example.evil.example', 'Sec-Fetch-Site: same-origin'], REBINDING],
  [['Host: site.example:8443', 'Sec-Fetch-Site: same-origin'], REBINDING],
  [['Host: localhost:3000', 'Origin: http://localhost:3000', 'Sec-Fetch-Site: same-origin'], REBINDING],
  [['Host: 127.0.0.1', 'Sec-Fetch-Site: same-origin'], REBINDING],
  [['Sec-Fetch-Site: same-origin', 'Origin: https://evil.example'], PAGE],
  [['Sec-Fetch-Site: none', 'Origin: https://evil.example'], PAGE],
  [['Sec-Fetch-Site: same-origin', 'Origin: null'], PAGE],
  [['Origin: http://site.example'], PAGE],
  [['Sec-Fetch-Site: same-origin', 'Origin: http://site.example'], PAGE],
  [['Host: www.site.example', 'Sec-Fetch-Site: same-origin', 'Origin: https://www.site.example'], PAGE],
];

const deletion = (fields: readonly string[]): WireRequest => ({ ...record(fields), method: 'DELETE' });

const ROADS = [
  ['chat', chat],
  ['render', (fields: readonly string[]) => render([ADA, ...fields])],
  ['action', (fields: readonly string[]) => action([ADA, ...fields])],
  ['delete', deletion],
] as const;

/** Requests of the site's own pages, which proxies in front change in their own ways. */
const OWN_PAGES: readonly (readonly string[])[] = [
  ['Host: 127.0.0.1:3000', 'Sec-Fetch-Site: same-origin', 'Origin: https://site.example'],
  ['Host: upstream', 'Origin: https://site.example'],
  ['Host: site.example:443', 'Sec-Fetch-Site: same-origin'],
];

/** A page of any name that leads to the site (DNS rebinding): to its browser it is the same origin, and only the public address tells. */
export const rebinding: AbuseFamily = {
  name: 'rebinding',
  cases: [
    ...ROADS.flatMap(([name, make]) =>
      PAGES.map(([fields, fact]): AbuseCase => ({
        id: `rebind-${name}-${slug(fields.join(' '))}`,
        tries: `use a visitor's ${name} from a page whose name leads to the site, with ${fields.join(', ')}`,
        fact,
        steps: [step(make(fields))],
        safe: refused(403),
      })),
    ),
    ...OWN_PAGES.map((fields): AbuseCase => ({
      id: `rebind-own-${slug(fields.join(' '))}`,
      tries: `chat from the site's own page behind a proxy, with ${fields.join(', ')}`,
      fact: PAGE,
      steps: [step(chat(fields))],
      safe: PASSES,
    })),
  ],
};

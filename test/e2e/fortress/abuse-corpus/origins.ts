import {
  type AbuseCase,
  type AbuseFamily,
  action,
  ADA,
  chat,
  record,
  refused,
  render,
  slug,
  step,
  type WireRequest,
} from './abuse-case.js';

const FORGERY = 'draft-ietf-oauth-browser-based-apps BFF, CSRF defences';
const SUBSTRING = 'CVE-2026-55602';

const PAGES: readonly (readonly [fields: readonly string[], fact: string])[] = [
  [['Sec-Fetch-Site: cross-site'], FORGERY],
  [['Sec-Fetch-Site: same-site'], FORGERY],
  [['Sec-Fetch-Site: cross-site', 'Origin: https://site.example'], FORGERY],
  [['Sec-Fetch-Site: cross-site', 'Origin: null'], FORGERY],
  [['Sec-Fetch-Site: cross-site, same-origin'], FORGERY],
  [['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Site: same-origin'], FORGERY],
  [['Sec-Fetch-Site: Same-Origin-ish'], FORGERY],
  [['Sec-Fetch-Site: '], FORGERY],
  [['Origin: https://evil.example'], FORGERY],
  [['Origin: null'], FORGERY],
  [['Origin: '], FORGERY],
  [['Origin: https://site.example.evil.example'], SUBSTRING],
  [['Origin: https://evil-site.example'], SUBSTRING],
  [['Origin: https://evilsite.example'], SUBSTRING],
  [['Origin: https://evil.example/site.example'], SUBSTRING],
  [['Origin: https://site.example@evil.example'], SUBSTRING],
  [['Origin: https://evil.example#site.example'], SUBSTRING],
  [['Origin: https://evil.example?site.example'], SUBSTRING],
  [['Origin: https://site.example:8443'], FORGERY],
  [['Origin: https://site.example.'], SUBSTRING],
  [['Origin: http://site.example:443'], FORGERY],
  [['Origin: https://site.example:80'], FORGERY],
  [['Origin: https://shop.site.example'], SUBSTRING],
  [['Origin: https://site.exampl'], SUBSTRING],
  [['Origin: site.example'], FORGERY],
  [['Origin: //site.example'], FORGERY],
  [['Origin: javascript://site.example'], FORGERY],
  [['Origin: https://site.example, https://evil.example'], FORGERY],
  [['Origin: https://site.example https://evil.example'], FORGERY],
  [['Origin: https://evil.example', 'Referer: https://site.example/'], FORGERY],
  [['Origin: https://evil.example', 'X-Forwarded-Host: evil.example'], 'CVE-2026-27959 / GHSA-7gcc-r8m5-44qm'],
  [['Origin: https://evil.example', 'Forwarded: host=evil.example'], 'CVE-2026-27959 / GHSA-7gcc-r8m5-44qm'],
  [['Origin: https://evil.example', 'X-CSRF: 1', 'X-Requested-With: XMLHttpRequest'], FORGERY],
];

const deletion = (fields: readonly string[]): WireRequest => ({ ...record(fields), method: 'DELETE' });

const ROADS = [
  ['chat', chat],
  ['render', (fields: readonly string[]) => render([ADA, ...fields])],
  ['action', (fields: readonly string[]) => action([ADA, ...fields])],
  ['delete', deletion],
] as const;

/** Requests that another site's page made a browser send. */
export const origins: AbuseFamily = {
  name: 'origins',
  cases: [
    ...ROADS.flatMap(([name, make]) =>
      PAGES.map(([fields, fact], index): AbuseCase => ({
        id: `csrf-${name}-${String(index)}-${slug(fields.join(' '))}`,
        tries: `use a visitor's ${name} from another site's page, with ${fields.join(', ')}`,
        fact,
        steps: [step(make(fields))],
        safe: refused(403),
      })),
    ),
    ...['GET', 'HEAD', 'OPTIONS'].map((method): AbuseCase => ({
      id: `csrf-read-${method.toLowerCase()}`,
      tries: `read a record from another site's page with ${method}`,
      fact: FORGERY,
      steps: [step({ ...record(['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: no-cors']), method })],
      safe: refused(403),
    })),
  ],
};

const ASKING = [
  'Origin: https://evil.example',
  'Access-Control-Request-Method: POST',
  'Access-Control-Request-Headers: content-type, authorization',
];
const GRANT = {
  fields: [
    'Content-Type: application/json',
    'Access-Control-Allow-Origin: https://evil.example',
    'Access-Control-Allow-Credentials: true',
    'Access-Control-Allow-Headers: *',
    'Access-Control-Expose-Headers: *',
    'Timing-Allow-Origin: *',
    'Cross-Origin-Resource-Policy: cross-origin',
  ],
  body: '{}',
};

/** Permission to read for other sites, which nobody here gives. */
export const crossOriginSharing: AbuseFamily = {
  name: 'cross-origin sharing',
  cases: [
    ...[chat, render].map((make, index): AbuseCase => ({
      id: `cors-preflight-${String(index)}`,
      tries: 'be let in by a preflight',
      fact: FORGERY,
      steps: [step({ method: 'OPTIONS', target: make().target, fields: ASKING })],
      safe: { ...refused(404, 405), notAnswered: ['access-control-'] },
    })),
    {
      id: 'cors-preflight-record',
      tries: 'be let in by a preflight that the platform answers',
      fact: FORGERY,
      steps: [step({ ...record(ASKING), method: 'OPTIONS' })],
      platform: [GRANT],
      safe: { statuses: [200, 204, 403, 405], platform: 'may', notAnswered: ['access-control-', 'timing-allow'] },
    },
    ...[
      ['chat', chat()] as const,
      ['render', render()] as const,
      ['record', record(['Origin: https://evil.example'])] as const,
      ['action', action()] as const,
    ].map(([name, request]): AbuseCase => ({
      id: `cors-grant-${name}`,
      tries: `have the platform let another site read a ${name}`,
      fact: 'docs/security.md',
      steps: [step(request)],
      platform: [GRANT],
      safe: { statuses: [200], platform: 'must', notAnswered: ['access-control-', 'timing-allow', 'cross-origin-'] },
    })),
  ],
};

import { type AbuseCase, type AbuseFamily, record, refused, slug, step } from './abuse-case.js';

const AGENT = 'GHSA-5hvv-m4w4-gf6v';
const BEARER = 'OWASP ASVS 5.0 4.1.3';
const MIDDLEWARE = 'CVE-2025-29927';
const PREFETCH = 'CVE-2026-44573';

const PROOFS: readonly (readonly [fields: readonly string[], fact: string])[] = [
  [['Authorization: Bearer token-of-ada'], BEARER],
  [['Authorization: Basic YWRhOmFkYQ=='], BEARER],
  [['Authorization: Negotiate x'], BEARER],
  [['X-Api-Key: the-key'], BEARER],
  [['Proxy-Authorization: Bearer token-of-ada'], BEARER],
  [['X-Forwarded-User: ada', 'X-Forwarded-Access-Token: token-of-ada'], 'CVE-2025-64484'],
  [['X_Forwarded_User: ada'], 'CVE-2026-39858 / GHSA-5m6w-wvh7-57vm'],
  [['X-Ms-Client-Principal: eyJ1c2VyIjoiYWRhIn0='], 'CVE-2026-39858 / GHSA-5m6w-wvh7-57vm'],
  [['X-Real-Ip: 127.0.0.1', 'X-Forwarded-For: 127.0.0.1', 'Forwarded: for=127.0.0.1'], 'OWASP ASVS 5.0 15.3.4'],
  [['X-Original-Url: /login'], 'CVE-2026-40575 / GHSA-7x63-xv5r-3p2x'],
  [['X-Forwarded-Uri: /healthz'], 'CVE-2026-40575 / GHSA-7x63-xv5r-3p2x'],
  [['User-Agent: kube-probe/1.34'], AGENT],
  [['User-Agent: GoogleHC/1.0'], AGENT],
  [['User-Agent: ELB-HealthChecker/2.0'], AGENT],
  [['User-Agent: Consul Health Check'], AGENT],
  [['User-Agent: Amazon-Route53-Health-Check-Service (ref x)'], AGENT],
  [['Host: localhost'], AGENT],
  [['x-middleware-subrequest: middleware'], MIDDLEWARE],
  [['x-middleware-subrequest: src/middleware:src/middleware:src/middleware:src/middleware:src/middleware'], MIDDLEWARE],
  [['x-middleware-subrequest-id: 1'], MIDDLEWARE],
  [['x-middleware-override-headers: cookie', 'x-middleware-request-cookie: session=ada'], 'CVE-2025-57822'],
  [['x-middleware-set-cookie: session=ada'], 'CVE-2025-57822'],
  [['x-middleware-prefetch: 1', 'Purpose: prefetch'], PREFETCH],
  [['x-nextjs-data: 1'], PREFETCH],
  [['RSC: 1', 'Next-Router-Prefetch: 1', 'Next-Router-State-Tree: x'], PREFETCH],
  [['Next-Action: 0000'], PREFETCH],
  [['x-invoke-path: /', 'x-invoke-status: 200', 'x-invoke-output: /'], 'CVE-2026-44574'],
  [['x-matched-path: /', 'x-now-route-matches: 1=x', 'x-vercel-id: x'], 'CVE-2026-44574'],
  [['x-prerender-revalidate: x', 'x-nextjs-cache: HIT'], 'CVE-2026-44575'],
  [['Sec-Fetch-Site: same-origin', 'X-CSRF: 1'], 'draft-ietf-oauth-browser-based-apps BFF'],
  [['Via: 1.1 trusted', 'CDN-Loop: cloudflare'], 'RFC 9110 §7.6.3'],
  [['X-Internal: 1', 'X-Debug: 1', 'X-Admin: true'], AGENT],
];

const TARGETS = [
  '',
  '?session=ada',
  '?nxtPpath=conversations',
  '?access_token=token-of-ada',
  '?__nextDataReq=1',
  '?_rsc=1',
];

/** What is not a session: the records ask for one, whoever else let the request in. */
export const sessions: AbuseFamily = {
  name: 'sessions',
  cases: [
    ...PROOFS.flatMap(([fields, fact], index) =>
      ['GET', 'DELETE'].map((method): AbuseCase => ({
        id: `sess-${method.toLowerCase()}-${String(index)}-${slug(String(fields[0]))}`,
        tries: `${method} a record without a session by ${fields.join(', ')}`,
        fact,
        steps: [step({ ...record(['Cookie: none=1', ...fields]), method })],
        safe: refused(401),
      })),
    ),
    ...TARGETS.map((query, index): AbuseCase => ({
      id: `sess-query-${String(index)}`,
      tries: `read a record without a session by ${query}`,
      fact: 'CVE-2026-44574',
      steps: [step(record(['Cookie: none=1'], `/api/service/conversations${query}`))],
      safe: refused(401),
    })),
    ...['?nxtPpath=x', '?__nextDataReq=1'].map((query, index): AbuseCase => ({
      id: `query-next-param-${String(index)}`,
      tries: `be routed elsewhere by ${query}`,
      fact: 'CVE-2026-44574',
      steps: [step(record([], `/api/service/conversations${query}`))],
      safe: { statuses: [200], platform: 'must', upstream: [`/platform/v1/conversations${query} `] },
    })),
  ],
};

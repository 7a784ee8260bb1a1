import { type AbuseCase, type AbuseFamily, chat, record, render, slug, step } from './abuse-case.js';

const PROTOTYPE = 'CVE-2026-21710';
const POLLUTION = 'OWASP ASVS 5.0 15.3.7';

const QUERIES: readonly (readonly [query: string, fact: string])[] = [
  ['?a=1&a=2', POLLUTION],
  ['?a=1;a=2', POLLUTION],
  ['?a[]=1&a[]=2', 'CVE-2025-15284'],
  [`?a${'[x]'.repeat(500)}=1`, 'CVE-2026-2391'],
  ['?__proto__[isAdmin]=1', PROTOTYPE],
  ['?constructor[prototype][isAdmin]=1', PROTOTYPE],
  ['?a=%2e%2e%2f%2e%2e%2fadmin', 'CVE-2026-42274'],
  ['?/../../admin', 'CVE-2026-42274'],
  ['?//{n}.example/', 'CVE-2022-35949'],
  ['?a=1?b=2', POLLUTION],
  ['?', POLLUTION],
  ['?&&&', POLLUTION],
  ['?=', POLLUTION],
  ['?a=%', POLLUTION],
  ['?a=%ff', POLLUTION],
  ['?a=%00', POLLUTION],
  ['?access_token=stolen&api_key=stolen', 'RFC 6750 §5.3'],
  ['?nxtPpath=admin', 'CVE-2026-44574'],
  ['?_rsc=1', 'CVE-2026-44573'],
  ['?x-middleware-subrequest=1', 'CVE-2025-29927'],
];

/** Queries that mean different things to different readers. Nobody here reads them, so each crosses as it was typed. */
export const queries: AbuseFamily = {
  name: 'queries',
  cases: QUERIES.flatMap(([query, fact], index) =>
    (
      [
        ['chat', chat([], undefined, `/api/a2a${query}`), ' /agent/v1'],
        ['render', render([], '{}', query), '/render'],
        ['record', record([], `/api/service/conversations${query}`), ' /platform/v1/conversations'],
      ] as const
    ).map(([name, request, place]): AbuseCase => ({
      id: `query-${name}-${String(index)}-${slug(query)}`,
      tries: `be read as something else by ${query.slice(0, 60)} behind a ${name}`,
      fact,
      steps: [step(request)],
      safe: { statuses: [200], platform: 'must', upstream: [`${place}${query} HTTP`] },
      // A URL parser drops a question mark with nothing behind it.
      on: { web: { upstream: [query === '?' ? place : `${place}${query} HTTP`] } },
    })),
  ),
};

import { type AbuseFamily, PASSES, record, refused, ROADS, step } from './abuse-case.js';

const REMOVED = 'draft-ietf-oauth-browser-based-apps BFF step J';
const PROTOTYPE = 'CVE-2026-21710';

/** Cookies belong to the site, and a session is what its own library says. */
export const cookies: AbuseFamily = {
  name: 'cookies',
  cases: [
    ...ROADS.flatMap(({ name, make }) =>
      [
        ['one', 'Cookie: session=ada; csrf=secret-cookie'],
        ['quoted', 'Cookie: session=ada; x="secret-cookie"'],
        ['version', 'Cookie: $Version=1; session=ada; secret-cookie=1'],
        ['host-prefix', 'Cookie: session=ada; __Host-session=secret-cookie; __Secure-x=secret-cookie'],
        ['chunks', 'Cookie: session=ada; __session__0=secret-cookie; __session__1=secret-cookie'],
      ].map(([how, field]) => ({
        id: `cookie-${name}-${String(how)}`,
        tries: `get the site's cookies to the platform on a ${name}`,
        fact: REMOVED,
        steps: [step(make([String(field)]))],
        safe: { ...PASSES, notUpstream: ['secret-cookie'] },
      })),
    ),
    ...['__proto__', 'constructor', 'toString', 'hasOwnProperty', ''].map((name) => ({
      id: `cookie-session-${name || 'empty'}`,
      tries: `be a user who is named like a property of every object: "${name}"`,
      fact: PROTOTYPE,
      steps: [step({ ...record([`Cookie: ${name}=1; x=session=ada`]) })],
      safe: refused(401),
    })),
    ...['Cookie_: session=ada', 'X-Cookie: session=ada', 'Set-Cookie: session=ada', 'Cookie2: session=ada'].map(
      (field, index) => ({
        id: `cookie-other-name-${String(index)}`,
        tries: `be signed in by ${field}`,
        fact: 'CVE-2025-64484',
        steps: [step(record(['Cookie: none=1', field]))],
        safe: refused(401),
      }),
    ),
  ],
};

import { type AbuseFamily, chat, record, refused, step } from './abuse-case.js';

/** A host that resolves the path before the routes may turn it into a valid one. It still stays below the platform's API. */
const RESOLVED = { resolving: { platform: 'may', statuses: [200, 400, 401, 404, 405] } } as const;
const REFUSED = refused(400, 404, 405);

/** GHSA-2q7r-29rg-6m5h, CVE-2026-42274, CVE-2026-40912 (encoded twice), CVE-2026-2880 (`;`), RFC 3629 §10 (overlong). */
const DOTS =
  '.. %2e%2e %2E. .%2e %252e%252e %25252e%25252e ..; ..;x=1 %2e%2e%3b .%00. ..%00 ..%0a ..%20 %c0%ae%c0%ae ' +
  '%e0%80%ae%e0%80%ae %u002e%u002e %EF%BC%8E%EF%BC%8E %E2%80%A5';
/** CVE-2026-33808, CVE-2026-54286, CVE-2026-14198, CVE-2026-39406. */
const SLASHES = ['/', '%2f', '%5c', '\\', '%252F', '//'];

/** Every way to write "one up", with every way to write a separator. */
export const traversal: AbuseFamily = {
  name: 'path traversal',
  cases: DOTS.split(' ').flatMap((dots) =>
    SLASHES.map((slash) => ({
      id: dots + slash,
      steps: [step(record([], `/api/service/conversations/${dots}${slash}${dots}${slash}admin`))],
      safe: REFUSED,
      on: RESOLVED,
    })),
  ),
};

const BELOW_CHAT =
  '/../admin /%2e%2e/admin /..%2fadmin //{canary} /;x=1 /config/../../service/x /config%2f.. /config;x /CONFIG ' +
  '/config/x /%63onfig/.. /message:send /v1/message:send /tasks/1 /.well-known/../tasks /extendedAgentCard';

/** Paths below the chat route that are not served. */
export const chatPaths: AbuseFamily = {
  name: 'paths below the chat',
  cases: BELOW_CHAT.split(' ').map((path) => ({
    id: path,
    steps: [step(chat([], undefined, `/api/a2a${path}`))],
    safe: REFUSED,
    on: RESOLVED,
  })),
};

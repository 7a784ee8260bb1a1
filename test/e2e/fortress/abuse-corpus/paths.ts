import { PATH_CORPUS } from '../../../support/path-corpus.js';
import { type AbuseCase, type AbuseFamily, chat, record, refused, render, slug, step } from './abuse-case.js';

/** Where a host reads a path before the routes do, the path it makes of it may be a good one; it stays below the platform's API all the same. */
const RESOLVED = { resolving: { platform: 'may', statuses: [200, 400, 401, 404, 405] } } as const;
const REFUSED = refused(400, 404, 405);

/** Paths of the corpus that every adapter is tested with, as attacks. */
export const corpusPaths: AbuseFamily = {
  name: 'paths of the corpus',
  cases: PATH_CORPUS.flatMap(({ what, path, surface, record: known }): AbuseCase[] => {
    const fact = 'docs/security.md; GHSA-2q7r-29rg-6m5h';
    const id = slug(what);
    return [
      ...(surface === null
        ? [{ id: `path-surface-${id}`, steps: [step({ ...render(), target: `/api/service-surfaces${path}` })] }]
        : []),
      ...(known === null ? [{ id: `path-record-${id}`, steps: [step(record([], `/api/service${path}`))] }] : []),
    ].map((one) => ({ ...one, tries: `leave its place by ${what}`, fact, safe: REFUSED, on: RESOLVED }));
  }),
};

const DOTS: readonly (readonly [dots: string, fact: string])[] = [
  ['..', 'CVE-2026-42274'],
  ['%2e%2e', 'GHSA-2q7r-29rg-6m5h'],
  ['%2E.', 'GHSA-2q7r-29rg-6m5h'],
  ['.%2e', 'GHSA-2q7r-29rg-6m5h'],
  ['%252e%252e', 'CVE-2026-40912'],
  ['%25252e%25252e', 'CVE-2026-40912'],
  ['..;', 'CVE-2026-2880'],
  ['..;x=1', 'CVE-2026-2880'],
  ['%2e%2e%3b', 'CVE-2026-2880'],
  ['.%00.', 'docs/security.md'],
  ['..%00', 'docs/security.md'],
  ['..%0a', 'docs/security.md'],
  ['..%20', 'docs/security.md'],
  ['%c0%ae%c0%ae', 'RFC 3629 §10'],
  ['%e0%80%ae%e0%80%ae', 'RFC 3629 §10'],
  ['%u002e%u002e', 'docs/security.md'],
  ['%EF%BC%8E%EF%BC%8E', 'docs/security.md'],
  ['%E2%80%A5', 'docs/security.md'],
];

const SLASHES: readonly (readonly [slash: string, fact: string])[] = [
  ['/', ''],
  ['%2f', 'CVE-2026-33808'],
  ['%5c', 'CVE-2026-54286'],
  ['\\', 'CVE-2026-54286'],
  ['%252F', 'CVE-2026-14198'],
  ['//', 'CVE-2026-39406'],
];

/** Every way to write "one up", with every way to write a separator. */
export const traversal: AbuseFamily = {
  name: 'traversal',
  cases: DOTS.flatMap(([dots, dotFact]) =>
    SLASHES.map(([slash, slashFact], index) => ({
      id: `seg-${slug(dots)}-${String(index)}`,
      tries: `climb out of the records by ${dots}${slash}`,
      fact: slashFact === '' ? dotFact : `${dotFact}; ${slashFact}`,
      steps: [step(record([], `/api/service/conversations/${dots}${slash}${dots}${slash}admin`))],
      safe: REFUSED,
      on: RESOLVED,
    })),
  ),
};

const BELOW_CHAT = [
  '/../admin',
  '/%2e%2e/admin',
  '/..%2fadmin',
  '//{canary}',
  '/;x=1',
  '/config/../../service/x',
  '/config%2f..',
  '/config;x',
  '/CONFIG',
  '/config/x',
  '/%63onfig/..',
  '/message:send',
  '/v1/message:send',
  '/tasks/1',
  '/.well-known/agent-card.json',
  '/.well-known/../tasks',
  '/extendedAgentCard',
];

/** What lies below the chat route and is not served. */
export const chatPaths: AbuseFamily = {
  name: 'paths below the chat',
  cases: BELOW_CHAT.map((path, index) => ({
    id: `svc-chat-${String(index)}-${slug(path)}`,
    tries: `reach the agent's ${path} through the chat route`,
    fact: 'docs/security.md; CVE-2026-42274',
    steps: [step(chat([], undefined, `/api/a2a${path}`))],
    safe: REFUSED,
    on: RESOLVED,
  })),
};

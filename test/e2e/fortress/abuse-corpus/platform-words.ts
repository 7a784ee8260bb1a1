import { type AbuseCase, type AbuseFamily, action, chat, record, render, slug, step, theme } from './abuse-case.js';

/** What an error message names that is nobody's business outside. */
const WORDS = 'tenant-7 is not at db-3.platform-internal with {bearer}';
const NEVER = ['tenant-7', 'db-3', 'platform-internal'];
const JSON_TEXT = JSON.stringify({ error: { message: WORDS } });

const STATUSES = [400, 401, 403, 404, 409, 422, 429, 451, 500, 502, 503];

/** Bodies that pass nowhere, by what they call themselves. */
const PAGES: readonly (readonly [types: readonly string[], body: string])[] = [
  [['text/html'], `<h1>${WORDS}</h1>`],
  [['text/plain; charset=utf-8'], WORDS],
  [[], WORDS],
  [['application/xml'], `<error>${WORDS}</error>`],
  [['text/json'], JSON_TEXT],
  [['application/json', 'text/html'], JSON_TEXT],
  [['application/json, text/html'], JSON_TEXT],
  [['application/jsonp'], `callback(${JSON_TEXT})`],
  [['text/event-stream'], `data: ${JSON_TEXT}\n\n`],
];

const JSON_BODY = [['application/json'], JSON_TEXT] as const;

/** Ways through a site, and where JSON stays behind too: everywhere but where it may be about the visitor's own input. */
const WAYS = [
  { name: 'chat', request: chat(), jsonStays: STATUSES },
  { name: 'render', request: render(), jsonStays: [401, 403, 500, 502, 503] },
  { name: 'action', request: action(), jsonStays: [401, 403, 500, 502, 503] },
  { name: 'theme', request: theme(), jsonStays: [401, 403, 500, 502, 503] },
  { name: 'record', request: record(), jsonStays: [500, 502, 503] },
];

/** Error messages of the platform, which know more than a visitor may. */
export const platformWords: AbuseFamily = {
  name: 'words of the platform',
  cases: WAYS.flatMap(({ name, request, jsonStays }) =>
    STATUSES.flatMap((status) =>
      [...PAGES, ...(jsonStays.includes(status) ? [JSON_BODY] : [])].map(([types, body], index): AbuseCase => ({
        id: `up-words-${name}-${String(status)}-${String(index)}-${slug(types.join(' ')) || 'none'}`,
        tries: `learn names from a ${name} that fails with ${String(status)} as ${types.join(' and ') || 'nothing'}`,
        fact: 'docs/security.md; OWASP ASVS 7.4.1',
        steps: [step(request)],
        platform: [{ status, fields: types.map((type) => `Content-Type: ${type}`), body }],
        safe: { statuses: [status], platform: 'must', mostRequests: 2, notAnswered: NEVER },
      })),
    ),
  ),
};

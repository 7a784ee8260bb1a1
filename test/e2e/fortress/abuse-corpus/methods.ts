import {
  type AbuseCase,
  type AbuseFamily,
  chat,
  PASSES,
  record,
  refused,
  render,
  slug,
  step,
  theme,
} from './abuse-case.js';

const OVERRIDES = ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override', 'X_HTTP_METHOD_OVERRIDE', '_method'];
const FACT = 'RFC 9110 §9.1; docs/security.md';

/** Methods nobody offers, and other ways to name one. */
export const methods: AbuseFamily = {
  name: 'methods',
  cases: [
    ...OVERRIDES.flatMap((name): AbuseCase[] => [
      {
        id: `hdr-method-override-chat-${slug(name)}`,
        tries: `turn a chat into a DELETE by ${name}`,
        fact: FACT,
        steps: [step(chat([`${name}: DELETE`]))],
        safe: { ...PASSES, upstream: ['POST '], notUpstream: ['delete'] },
      },
      {
        id: `hdr-method-override-record-${slug(name)}`,
        tries: `turn a GET into a DELETE by ${name}`,
        fact: FACT,
        steps: [step(record([`${name}: DELETE`]))],
        safe: { ...PASSES, upstream: ['GET '], notUpstream: ['delete'] },
      },
    ]),
    {
      id: 'query-method-override',
      tries: 'turn a GET into a DELETE by its query',
      fact: FACT,
      steps: [step(record([], '/api/service/conversations?_method=DELETE'))],
      safe: { ...PASSES, upstream: ['GET '] },
    },
    ...[
      'TRACE',
      'GET',
      'HEAD',
      'PUT',
      'DELETE',
      'PATCH',
      'OPTIONS',
      'PROPFIND',
      'SEARCH',
      'PURGE',
      'M-SEARCH',
      'QUERY',
      'get',
      'Post',
      'TRACK',
      'DEBUG',
    ].flatMap((method): AbuseCase[] => [
      {
        id: `route-chat-${method}`,
        tries: `use the chat with ${method}`,
        fact: FACT,
        steps: [step({ ...chat(), method })],
        safe: refused(0, 400, 404, 405, 501),
      },
      {
        id: `route-render-${method}`,
        tries: `render with ${method}`,
        fact: FACT,
        steps: [step({ ...render(), method })],
        safe: refused(0, 400, 404, 405, 501),
      },
    ]),
    ...['POST', 'PUT', 'DELETE', 'OPTIONS', 'PURGE'].map((method): AbuseCase => ({
      id: `route-theme-${method}`,
      tries: `change a theme with ${method}`,
      fact: FACT,
      steps: [step({ ...theme(), method })],
      safe: refused(404, 405),
    })),
    ...['TRACE', 'TRACK', 'trace', 'CONNECT', 'DEBUG', 'get', 'GETX'].map((method): AbuseCase => ({
      id: `route-record-${method}`,
      tries: `have the credential echoed by ${method}`,
      fact: 'RFC 9110 §9.3.8; docs/security.md',
      steps: [step({ ...record(), method })],
      safe: refused(0, 400, 404, 405, 501),
    })),
  ],
};

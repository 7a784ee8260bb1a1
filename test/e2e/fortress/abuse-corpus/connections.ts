import { type AbuseCase, type AbuseFamily, ADA, BOB, chat, record, step, type WireRequest } from './abuse-case.js';

const open = (request: WireRequest): WireRequest => ({
  ...request,
  fields: [...request.fields, 'Connection: keep-alive'],
});
const of = (user: string, path: string): WireRequest => open(record([user], `/api/service/${path}-{n}`));
const NOBODY = open(record(['Cookie: none=1']));
const OK = { statuses: [200], platform: 'must' } as const;
const ONE_SIGNED_IN = { statuses: [200, 401], platform: 'must', mostRequests: 1 } as const;
const USERS = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? 'ada' : 'bob'));

/** CVE-2026-40155: messages of different users on one connection. Each gets its own credential and response. */
export const pipelines: AbuseFamily = {
  name: 'pipelined requests of two users',
  cases: [
    {
      id: 'a user, then a visitor',
      steps: [step(of(ADA, 'a'), NOBODY)],
      safe: { ...ONE_SIGNED_IN, answers: [['"for":"ada"'], ['session_required']] },
    },
    {
      id: 'a visitor, then a user',
      steps: [step(NOBODY, of(BOB, 'b'))],
      safe: { ...ONE_SIGNED_IN, answers: [['session_required'], ['"for":"bob"']] },
    },
    {
      id: 'ten messages of two users',
      steps: [step(...USERS.map((user, index) => of(user === 'ada' ? ADA : BOB, `p${String(index)}`)))],
      safe: { ...OK, answers: USERS.map((user, index) => [`"for":"${user}"`, `/p${String(index)}-`]) },
    },
    {
      // RFC 9112 §9.3.2.
      id: 'a message inside a rejected body',
      steps: [
        step(
          open(chat(['Content-Type: text/plain'], 'GET /api/service/x HTTP/1.1\r\nCookie: session=mallory\r\n\r\n')),
          of(BOB, 'b'),
        ),
      ],
      safe: {
        statuses: [200, 400, 415],
        platform: 'must',
        mostRequests: 1,
        notUpstream: ['mallory'],
        answers: [[], ['"for":"bob"']],
      },
    },
    // CVE-2026-48931: a response left on a pooled connection.
    ...[chat(), record([ADA])].map((request): AbuseCase => ({
      id: `a second response of the platform behind that to ${request.target}`,
      steps: [step(request), step(record([BOB]))],
      platform: [
        'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\n{"for":"mallory"}',
        { fields: ['Content-Type: application/json'], body: '{"for":"bob"}' },
      ],
      safe: { ...OK, mostRequests: 3, notAnswered: ['mallory'], answers: [[], ['"for":"bob"']] },
    })),
  ],
};

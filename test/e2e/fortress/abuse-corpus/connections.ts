import { type AbuseCase, type AbuseFamily, ADA, BOB, chat, record, step, type WireRequest } from './abuse-case.js';

const SHARED = 'CVE-2026-40155 / GHSA-xq8m-7c5p-c2r6';
const POISON = 'CVE-2026-48931';

const open = (request: WireRequest): WireRequest => ({
  ...request,
  fields: [...request.fields, 'Connection: keep-alive'],
});
const of = (user: string, path: string): WireRequest => open(record([user], `/api/service/${path}-{n}`));
const OK = { statuses: [200], platform: 'must' } as const;

/** Several messages on one connection, by different people: each gets its own credential and its own answer. */
export const pipelines: AbuseFamily = {
  name: 'pipelines',
  cases: [
    {
      id: 'pipeline-two-users',
      tries: "get another user's answer on one connection",
      fact: SHARED,
      steps: [step(of(ADA, 'a'), of(BOB, 'b'))],
      safe: {
        ...OK,
        answers: [
          ['"for":"ada"', '/a-'],
          ['"for":"bob"', '/b-'],
        ],
      },
    },
    {
      id: 'pipeline-user-then-nobody',
      tries: 'read on with the session of the one before',
      fact: SHARED,
      steps: [step(of(ADA, 'a'), open(record(['Cookie: none=1'])))],
      safe: {
        statuses: [200, 401],
        platform: 'must',
        mostRequests: 1,
        answers: [['"for":"ada"'], ['session_required']],
      },
    },
    {
      id: 'pipeline-nobody-then-user',
      tries: 'shift the answers of a connection by one',
      fact: SHARED,
      steps: [step(open(record(['Cookie: none=1'])), of(BOB, 'b'))],
      safe: {
        statuses: [200, 401],
        platform: 'must',
        mostRequests: 1,
        answers: [['session_required'], ['"for":"bob"']],
      },
    },
    {
      id: 'pipeline-ten',
      tries: 'mix up ten messages',
      fact: SHARED,
      steps: [step(...Array.from({ length: 10 }, (_, index) => of(index % 2 === 0 ? ADA : BOB, `p${String(index)}`)))],
      safe: {
        ...OK,
        answers: Array.from({ length: 10 }, (_, index) => [
          `"for":"${index % 2 === 0 ? 'ada' : 'bob'}"`,
          `/p${String(index)}-`,
        ]),
      },
    },
    {
      id: 'pipeline-refused-then-user',
      tries: 'have the rest of a refused body read as a message',
      fact: 'RFC 9112 §9.3.2',
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
    {
      id: 'pipeline-garbage',
      tries: 'break the connection of an answer under way',
      fact: 'RFC 9112 §9.3.2',
      steps: [{ ...step(of(ADA, 'a'), 'garbage\r\n\r\n'), answers: 1 }],
      safe: { statuses: [0, 200, 400], platform: 'may', mostRequests: 1 },
    },
    ...(['chat', 'record'] as const).map((name): AbuseCase => ({
      id: `ka-extra-bytes-${name}`,
      tries: 'leave an answer on a pooled connection for the next user',
      fact: POISON,
      steps: [step(name === 'chat' ? chat() : record([ADA])), step(record([BOB]))],
      platform: [
        'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\nContent-Length: 17\r\n\r\n{"for":"mallory"}',
        { fields: ['Content-Type: application/json'], body: '{"for":"bob"}' },
      ],
      safe: {
        statuses: [200],
        platform: 'must',
        mostRequests: 3,
        notAnswered: ['mallory'],
        answers: [[], ['"for":"bob"']],
      },
    })),
  ],
};

const SLOW = 'docs/security.md';

/** Messages that never become whole, or that come very slowly. */
export const halfMessages: AbuseFamily = {
  name: 'half messages',
  cases: [
    ...[
      'P',
      'POST /api/a2a',
      'POST /api/a2a HTTP/1.1\r\n',
      'POST /api/a2a HTTP/1.1\r\nHost: site.example\r\nContent-Type: application/json\r\nContent-Length: 10\r\n',
      'POST /api/a2a HTTP/1.1\r\nHost: site.example\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n',
      'POST /api/a2a HTTP/1.1\r\nHost: site.example\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5',
      'POST /api/service-surfaces/s/render HTTP/1.1\r\nHost: site.example\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{}',
      'GET /api/service/x HTTP/1.1\r\nHost: site.example\r\nCookie: session=ada\r\n',
    ].map((bytes, index): AbuseCase => ({
      id: `slow-half-${String(index)}`,
      tries: `hold the site up, or be forwarded in part, by ${JSON.stringify(bytes.slice(-30))}`,
      fact: SLOW,
      steps: [{ ...step(bytes), halfCloses: true }],
      safe: { statuses: [0, 400, 408], platform: 'never' },
    })),
    {
      id: 'slow-bytes-chat',
      tries: 'hold the site up byte by byte',
      fact: SLOW,
      steps: [{ ...step(chat()), byteByByte: true }],
      safe: OK,
    },
    {
      id: 'slow-bytes-record',
      tries: 'hold the site up byte by byte',
      fact: SLOW,
      steps: [{ ...step(record()), byteByByte: true }],
      safe: OK,
    },
  ],
};

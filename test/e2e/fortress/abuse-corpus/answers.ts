import { type AbuseCase, type AbuseFamily, chat, type PlatformAnswer, record, render, step } from './abuse-case.js';

const ROADS = { chat: chat(), render: render(), record: record() };

const OK = 'HTTP/1.1 200 OK\r\n';
/** Bytes that are not a valid response, or that two parsers read differently (CVE-2024-21536, CVE-2026-48931). */
const BROKEN: Readonly<Record<string, PlatformAnswer | string>> = {
  'a status of 000': 'HTTP/1.1 000 X\r\nContent-Length: 0\r\n\r\n',
  'a status of 999': 'HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n',
  'a switch of protocols': 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nraw',
  'no HTTP': 'SSH-2.0-OpenSSH_9.6\r\n',
  nothing: '',
  'half a head': `${OK}Content-Type: application/json\r\n`,
  'two lengths': `${OK}Content-Length: 2\r\nContent-Length: 20\r\n\r\n{}${OK}\r\n`,
  'a length and chunks': `${OK}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
  'a bad chunk': `${OK}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
  'bare line feeds': 'HTTP/1.1 200 OK\nSet-Cookie: a=1\nContent-Length: 2\n\n{}',
  'a carriage return in a field': `${OK}ETag: "a"\rSet-Cookie: a=1\r\nContent-Length: 2\r\n\r\n{}`,
  'a head of 200 KB': `${OK}X: ${'x'.repeat(200_000)}\r\nContent-Length: 2\r\n\r\n{}`,
  'an early hint': `HTTP/1.1 103 Early Hints\r\nLink: <http://{canary}/>; rel=preload\r\nSet-Cookie: a=1\r\n\r\n${OK}Connection: close\r\nContent-Length: 2\r\n\r\n{}`,
  'an unexpected 100': `HTTP/1.1 100 Continue\r\n\r\n${OK}Connection: close\r\nContent-Length: 2\r\n\r\n{}`,
  trailers: `${OK}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nTrailer: Set-Cookie\r\n\r\n2\r\n{}\r\n0\r\nSet-Cookie: a=1\r\nX-Poison: 1\r\n\r\n`,
  'a body on 204': 'HTTP/1.1 204 No Content\r\nContent-Length: 6\r\n\r\npoison',
  'a thousand codings': {
    fields: [`Content-Encoding: ${Array.from({ length: 1000 }, () => 'gzip').join(', ')}`],
    body: 'x',
  },
  'a server error with its stack': {
    status: 500,
    fields: ['Content-Type: text/html'],
    body: 'Error: at /srv/platform-internal/db.js {bearer}',
  },
  'a server error in JSON': {
    status: 503,
    fields: ['Content-Type: application/json'],
    body: '{"stack":"platform-internal {bearer}"}',
  },
  'a refusal with a challenge': {
    status: 401,
    fields: ['Content-Type: application/json', 'WWW-Authenticate: Bearer realm="platform-internal"'],
    body: '{"error":"expired"}',
  },
};

export const brokenAnswers: AbuseFamily = {
  name: 'broken responses of the platform',
  cases: Object.entries(ROADS).flatMap(([name, request]) =>
    Object.entries(BROKEN).map(([what, bytes]): AbuseCase => ({
      id: `${name}: ${what}`,
      steps: [step(request)],
      platform: [bytes],
      safe: {
        // 401: a user's own token is rejected. 0: the connection is cut in the middle of the response.
        statuses: [0, 200, 204, 401, 500, 502, 503, 504],
        platform: 'must',
        // A lost GET may be retried once, and a rejected credential renewed.
        mostRequests: 2,
        notAnswered: ['set-cookie', 'poison', '{canary}', '101 switching', '103 early', 'realm=', 'platform-internal'],
      },
    })),
  ),
};

import { type AbuseCase, type AbuseFamily, chat, step } from './abuse-case.js';

const FACT = 'CVE-2026-33128';

/** A request whose id would begin an event of its own, wherever it is written as it is. */
function withId(id: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"SendStreamingMessage","params":{}}`;
}

const STREAM = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';
const HELLO = 'd\r\ndata: hello\n\n\r\n';

const IDS = [
  '7\n\nevent: pwned\ndata: 1',
  '7\r\nevent: pwned',
  '7\rdata: pwned',
  '7\u2028event: pwned',
  '"}\n\nevent: pwned',
  '</script>',
];

/** Events nobody sent. */
export const streams: AbuseFamily = {
  name: 'event streams',
  cases: [
    ...IDS.map((id, index): AbuseCase => ({
      id: `sse-id-${String(index)}`,
      tries: `write an event of its own by the id ${JSON.stringify(id)}`,
      fact: FACT,
      steps: [step(chat([], withId(id)))],
      // Cut between two events: the site tells it, with the id of the request.
      platform: [`${STREAM}${HELLO}`],
      safe: {
        statuses: [200],
        platform: 'must',
        answered: ['data: hello', 'upstream'],
        notAnswered: ['\nevent: pwned', '\revent: pwned', '\rdata: pwned', '\ndata: pwned', '\ndata: 1'],
      },
    })),
    ...IDS.slice(0, 3).map((id, index): AbuseCase => ({
      id: `sse-half-${String(index)}`,
      tries: 'have half an event completed',
      fact: 'docs/security.md',
      steps: [step(chat([], withId(id)))],
      platform: [`${STREAM}b\r\ndata: {"ha\n\r\n`],
      safe: { statuses: [200], platform: 'must', notAnswered: ['event: ', '0\r\n\r\n'] },
    })),
    {
      id: 'sse-length',
      tries: 'end a stream of events early by a length',
      fact: 'RFC 9112 §6.3',
      steps: [step(chat())],
      platform: ['HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 13\r\n\r\ndata: hello\n\n'],
      safe: {
        statuses: [200],
        platform: 'must',
        answered: ['data: hello', 'x-accel-buffering: no'],
        notAnswered: ['content-length: 13'],
      },
    },
    {
      id: 'sse-fields',
      tries: 'have a stream kept by a cache',
      fact: 'docs/security.md',
      steps: [step(chat())],
      platform: [
        STREAM.replace('\r\n\r\n', '\r\nCache-Control: public, max-age=600\r\nSet-Cookie: a=1\r\n\r\n') +
          HELLO +
          '0\r\n\r\n',
      ],
      safe: { statuses: [200], platform: 'must', answered: ['no-store'], notAnswered: ['max-age', 'set-cookie'] },
    },
  ],
};

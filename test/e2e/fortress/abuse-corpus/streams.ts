import { type AbuseCase, type AbuseFamily, chat, step } from './abuse-case.js';

const STREAM = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';
/** An id that starts another event if it is written without escapes. */
const IDS = ['7\n\nevent: pwned\ndata: 1', '7\r\nevent: pwned', '7\rdata: pwned', '7\u2028event: pwned', '</script>'];

/** CVE-2026-33128: injected events. A stream cut between two events ends with an error event that has the request's id. */
export const streams: AbuseFamily = {
  name: 'injected events',
  cases: IDS.map((id): AbuseCase => ({
    id: JSON.stringify(id),
    steps: [step(chat([], `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"SendStreamingMessage","params":{}}`))],
    platform: [`${STREAM}d\r\ndata: hello\n\n\r\n`],
    safe: {
      statuses: [200],
      platform: 'must',
      answered: ['data: hello', 'upstream'],
      notAnswered: ['\nevent: pwned', '\revent: pwned', '\rdata: pwned', '\ndata: pwned', '\ndata: 1'],
    },
  })),
};

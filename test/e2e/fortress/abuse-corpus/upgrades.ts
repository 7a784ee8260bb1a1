import { type AbuseCase, type AbuseFamily, chat, record, render, step } from './abuse-case.js';

const OFFERS: readonly (readonly string[])[] = [
  [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  ],
  ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA'],
  ['Connection: Upgrade', 'Upgrade: connect-udp'],
  ['Connection: close', 'Upgrade: {canary}'],
];

/** CVE-2026-44578: requests to switch protocols. They may be ignored (RFC 9110 §7.8) and are never accepted. */
export const upgrades: AbuseFamily = {
  name: 'upgrades of the connection',
  cases: OFFERS.flatMap((fields) =>
    [chat(fields), render(fields), record(fields), record(fields, 'http://{canary}/api/service/conversations')].map(
      (request): AbuseCase => ({
        id: `${request.target}: ${String(fields[1])}`,
        steps: [{ ...step(request), answers: 1 }],
        safe: {
          statuses: [200, 400, 404, 405, 426, 501],
          platform: 'may',
          notUpstream: ['upgrade', 'sec-websocket', 'http2-settings', '{canary}'],
          notAnswered: ['101 switching'],
        },
      }),
    ),
  ),
};

import { type AbuseCase, type AbuseFamily, chat, record, render, slug, step } from './abuse-case.js';

const FACT = 'CVE-2026-44578 / GHSA-c4j6-fc7j-m34r';

const OFFERS: readonly (readonly string[])[] = [
  [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
  ],
  ['Connection: keep-alive, Upgrade', 'Upgrade: WebSocket', 'Sec-WebSocket-Key: x'],
  ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA'],
  ['Connection: Upgrade', 'Upgrade: TLS/1.0, HTTP/1.1'],
  ['Connection: Upgrade', 'Upgrade: connect-udp'],
  ['Connection: close', 'Upgrade: {canary}'],
];

/** Offers to leave HTTP: the connection behind them would belong to whoever got there. */
export const upgrades: AbuseFamily = {
  name: 'upgrades',
  cases: OFFERS.flatMap((fields, index) =>
    (
      [
        ['chat', chat],
        ['render', render],
        ['record', record],
        ['absolute', (more: readonly string[]) => record(more, 'http://{canary}/api/service/conversations')],
      ] as const
    ).map(([name, make]): AbuseCase => ({
      id: `upgrade-${name}-${String(index)}-${slug(String(fields[1]))}`,
      tries: `get a connection of its own to the platform through a ${name} by ${String(fields[1])}`,
      fact: FACT,
      steps: [{ ...step(make(fields)), answers: 1 }],
      // An offer may be ignored (RFC 9110 §7.8); what is never there is a switch.
      safe: {
        statuses: [200, 400, 404, 405, 426, 501],
        platform: 'may',
        notUpstream: ['upgrade', 'sec-websocket', 'http2-settings', '{canary}'],
        notAnswered: ['101 switching'],
      },
    })),
  ),
};

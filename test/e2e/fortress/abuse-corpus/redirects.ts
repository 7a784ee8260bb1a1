import { type AbuseCase, type AbuseFamily, action, chat, config, record, render, step, theme } from './abuse-case.js';

const PLACES = ['http://{canary}/', '//{canary}/x', '/elsewhere', 'http://169.254.169.254/latest/meta-data', ''];
const STATUSES = [300, 301, 302, 303, 307, 308];
const ROADS = { chat: chat(), render: render(), action: action(), record: record(), theme: theme() };
const JSON_TYPE = ['Content-Type: application/json'];

/** Addresses in a card that the SDK's client would call. */
const CARDS = [
  '{"name":"agent","url":"http://{canary}/a2a","protocolVersion":"0.3.0"}',
  '{"name":"agent","supportedInterfaces":[{"url":"http://{canary}/a2a","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}',
  '{"name":"agent","url":"http://site.example@{canary}/","additionalInterfaces":[{"url":"http://{canary}/a2a","transport":"JSONRPC"}],"protocolVersion":"0.3.0"}',
];

/** CVE-2023-45143, OWASP ASVS 5.0 15.3.2: a platform that redirects the site, with its credential, to another host. */
export const redirects: AbuseFamily = {
  name: 'redirects of the platform',
  cases: [
    ...Object.entries(ROADS).flatMap(([name, request]) =>
      STATUSES.map((status, index): AbuseCase => {
        const place = PLACES[index % PLACES.length] ?? '';
        return {
          id: `${name}: ${String(status)} to ${place || 'nowhere'}`,
          steps: [step(request)],
          platform: [{ status, fields: place === '' ? [] : [`Location: ${place}`], body: 'elsewhere' }],
          safe: { statuses: [502], platform: 'must', notAnswered: ['location:', '{canary}', 'elsewhere', '169.254'] },
        };
      }),
    ),
    ...(['chat', 'record'] as const).flatMap((name) =>
      [
        [304, 'ETag: "x"'],
        [201, 'Location: http://{canary}/'],
        [200, 'Content-Location: http://{canary}/'],
        [200, 'Refresh: 0; url=http://{canary}/'],
        [200, 'Link: <http://{canary}/>; rel=preload'],
        [302, 'Location: javascript:alert(1)'],
      ].map(([status, field]): AbuseCase => ({
        id: `${name}: ${String(status)} with ${String(field)}`,
        steps: [step(ROADS[name])],
        platform: [{ status: Number(status), fields: [String(field)], body: status === 304 ? '' : '{}' }],
        safe: {
          statuses: [200, 201, 304, 502],
          platform: 'must',
          notAnswered: ['location:', 'refresh:', 'link:', '{canary}', 'javascript:'],
        },
      })),
    ),
    ...CARDS.map((body, index): AbuseCase => ({
      id: `the address in a card: ${body}`,
      steps: [step(config([`A2A-Version: 0.${String(index)}{n}`]))],
      platform: [{ fields: JSON_TYPE, body }],
      safe: { statuses: [200, 502], platform: 'must', mostRequests: 20, notAnswered: ['{canary}'] },
    })),
    {
      id: 'a chat after a card with another address',
      steps: [step(config(['A2A-Version: 7.{n}'])), step(chat()), step(record())],
      platform: [{ fields: JSON_TYPE, body: CARDS[0] ?? '' }],
      safe: { statuses: [200, 502], platform: 'must', mostRequests: 20, upstream: ['POST /agent/v1 '] },
    },
    {
      id: 'a redirected request for the card',
      steps: [step(config(['A2A-Version: 9.{n}']))],
      platform: [{ status: 302, fields: ['Location: http://{canary}/card'], body: '' }],
      safe: { statuses: [200, 502], platform: 'must', mostRequests: 20, notAnswered: ['{canary}'] },
    },
  ],
};

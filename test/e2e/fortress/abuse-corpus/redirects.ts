import {
  type AbuseCase,
  type AbuseFamily,
  action,
  chat,
  config,
  record,
  refused,
  render,
  slug,
  step,
  theme,
} from './abuse-case.js';

const FOLLOWED = 'OWASP ASVS 5.0 15.3.2; CVE-2023-45143';
const PLACES = ['http://{canary}/', '//{canary}/x', '/elsewhere', 'http://169.254.169.254/latest/meta-data', ''];

const ROADS = [
  ['chat', chat()],
  ['render', render()],
  ['action', action()],
  ['record', record()],
  ['theme', theme()],
] as const;

const STATUSES = [300, 301, 302, 303, 307, 308];

/** A platform that sends the site somewhere else, with its credential. */
export const redirects: AbuseFamily = {
  name: 'redirects',
  cases: [
    ...ROADS.flatMap(([name, request]) =>
      STATUSES.map((status, index): AbuseCase => {
        const place = PLACES[index % PLACES.length] ?? '';
        return {
          id: `up-redirect-${name}-${String(status)}`,
          tries: `lead a ${name} by ${String(status)} to ${place || 'nowhere'}`,
          fact: FOLLOWED,
          steps: [step(request)],
          platform: [{ status, fields: place === '' ? [] : [`Location: ${place}`], body: 'elsewhere' }],
          safe: {
            statuses: [502],
            platform: 'must',
            notAnswered: ['location:', '{canary}', 'elsewhere', '169.254'],
          },
        };
      }),
    ),
    ...(['chat', 'record'] as const).flatMap((name): AbuseCase[] =>
      [
        ['a 304 nobody asked for', 304, 'ETag: "x"'],
        ['201 and a Location', 201, 'Location: http://{canary}/'],
        ['Content-Location', 200, 'Content-Location: http://{canary}/'],
        ['Refresh', 200, 'Refresh: 0; url=http://{canary}/'],
        ['Link', 200, 'Link: <http://{canary}/>; rel=preload'],
        ['a protocol of its own', 302, 'Location: javascript:alert(1)'],
      ].map(([what, status, field]) => ({
        id: `up-redirect-${name}-${slug(String(what))}`,
        tries: `lead the browser away from a ${name} by ${String(what)}`,
        fact: FOLLOWED,
        steps: [step(name === 'chat' ? chat() : record())],
        platform: [{ status: Number(status), fields: [String(field)], body: status === 304 ? '' : '{}' }],
        safe: {
          statuses: [200, 201, 304, 502],
          platform: 'must',
          notAnswered: ['location:', 'refresh:', 'link:', '{canary}', 'javascript:'],
        },
      })),
    ),
    ...[
      { name: 'agent', url: 'http://{canary}/a2a', protocolVersion: '0.3.0' },
      {
        name: 'agent',
        supportedInterfaces: [{ url: 'http://{canary}/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      },
      {
        name: 'agent',
        url: 'http://site.example@{canary}/',
        additionalInterfaces: [{ url: 'http://{canary}/a2a', transport: 'JSONRPC' }],
        protocolVersion: '0.3.0',
      },
    ].map((card, index): AbuseCase => ({
      id: `card-steers-chat-${String(index)}`,
      tries: 'steer the chat by the address in a card',
      fact: 'a2a-js 1.0.1 client',
      steps: [step(config([`A2A-Version: 0.${String(index)}{n}`]))],
      platform: [{ fields: ['Content-Type: application/json'], body: JSON.stringify(card) }],
      safe: { statuses: [200, 502], platform: 'must', mostRequests: 20, notAnswered: ['{canary}'] },
    })),
    {
      id: 'card-steers-next-chat',
      tries: 'steer later chats by the address in a card',
      fact: 'a2a-js 1.0.1 client',
      steps: [step(config(['A2A-Version: 7.{n}'])), step(chat()), step(record())],
      platform: [
        {
          fields: ['Content-Type: application/json'],
          body: '{"name":"agent","url":"http://{canary}/a2a","protocolVersion":"0.3.0"}',
        },
      ],
      safe: { statuses: [200, 502], platform: 'must', mostRequests: 20, upstream: ['POST /agent/v1 '] },
    },
    {
      id: 'card-redirect',
      tries: 'lead the look-up of a card elsewhere',
      fact: FOLLOWED,
      steps: [step(config(['A2A-Version: 9.{n}']))],
      platform: [{ status: 302, fields: ['Location: http://{canary}/card'], body: '' }],
      safe: { statuses: [200, 502], platform: 'must', mostRequests: 20, notAnswered: ['{canary}'] },
    },
    {
      id: 'redirect-method',
      tries: 'be redirected by an address without a slash',
      fact: FOLLOWED,
      steps: [step({ ...record([], '/api/service'), method: 'GET' })],
      safe: refused(404),
    },
  ],
};

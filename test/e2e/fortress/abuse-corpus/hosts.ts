import { type AbuseCase, type AbuseFamily, chat, config, PASSES, record, slug, step } from './abuse-case.js';

const ROUTED = 'CVE-2026-55602';
const NAMED = 'CVE-2026-27959 / GHSA-7gcc-r8m5-44qm';

const HOSTS: readonly (readonly [host: string, fact: string])[] = [
  ['{canary}', ROUTED],
  ['evil.example', ROUTED],
  ['site.example.evil.example', ROUTED],
  ['evil.example/site.example', NAMED],
  ['evil.example:x@site.example', NAMED],
  ['site.example:80@evil.example', NAMED],
  ['site.example, evil.example', NAMED],
  ['site.example evil.example', NAMED],
  ['evil.example#site.example', NAMED],
  ['evil.example?site.example', NAMED],
  ['[::1]', NAMED],
  ['localhost', NAMED],
  ['169.254.169.254', NAMED],
  ['', 'RFC 9112 §3.2'],
  ['"><script>alert(1)</script>', NAMED],
];

/** A card whose address the site replaces by its own. */
const CARD = {
  fields: ['Content-Type: application/json'],
  body: '{"name":"agent","url":"http://agent.internal/a2a","protocolVersion":"0.3.0"}',
};

const EVIL = ['evil.example', '{canary}', '169.254.169.254', '<script'];

/** Where the site is is configuration; the browser's `Host` says nothing about where to send or what to publish. */
export const hosts: AbuseFamily = {
  name: 'hosts',
  cases: [
    ...HOSTS.flatMap(([host, fact], index): AbuseCase[] => [
      {
        id: `hdr-host-chat-${String(index)}-${slug(host)}`,
        tries: `send a chat elsewhere by the host "${host}"`,
        fact,
        steps: [step(chat([`Host: ${host}`]))],
        safe: { statuses: [200, 400, 403, 404], platform: 'may', notUpstream: EVIL },
      },
      {
        id: `hdr-host-config-${String(index)}-${slug(host)}`,
        tries: `put the host "${host}" into the published address of the chat`,
        fact,
        steps: [
          step(config([`Host: ${host}`, 'X-Forwarded-Host: evil.example', `A2A-Version: 5.${String(index)}{n}`])),
        ],
        platform: [CARD],
        safe: {
          statuses: [200, 400, 404, 502],
          platform: 'may',
          mostRequests: 20,
          notUpstream: EVIL,
          notAnswered: [...EVIL, 'agent.internal'],
        },
      },
    ]),
    {
      id: 'hdr-host-two',
      tries: 'name two hosts',
      fact: 'RFC 9112 §3.2',
      steps: [step(chat(['Host: site.example', 'Host: evil.example']))],
      safe: { statuses: [200, 400], platform: 'may', notUpstream: EVIL },
    },
    {
      id: 'hdr-host-none',
      tries: 'name no host',
      fact: 'RFC 9112 §3.2',
      steps: [step('GET /api/service/x HTTP/1.1\r\nCookie: session=ada\r\nConnection: close\r\n\r\n')],
      safe: { statuses: [400], platform: 'never' },
    },
    {
      id: 'hdr-host-folded-case',
      tries: 'name a host in capitals',
      fact: ROUTED,
      steps: [step(record(['HOST: SITE.EXAMPLE']))],
      safe: { ...PASSES, notUpstream: ['site.example'] },
    },
  ],
};

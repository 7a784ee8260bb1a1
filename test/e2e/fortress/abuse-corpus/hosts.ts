import { type AbuseCase, type AbuseFamily, chat, config, PASSES, record, step } from './abuse-case.js';

/** CVE-2026-55602, CVE-2026-27959: hosts that point elsewhere, or that two URL parsers read differently. */
const HOSTS = [
  '{canary}',
  'site.example.evil.example',
  'evil.example/site.example',
  'evil.example:x@site.example',
  'site.example:80@evil.example',
  'site.example, evil.example',
  'evil.example#site.example',
  'evil.example?site.example',
  '[::1]',
  '169.254.169.254',
  '',
  '"><script>alert(1)</script>',
];
const EVIL = ['evil.example', '{canary}', '169.254.169.254', '<script'];
/** A card whose address the site replaces with its own. */
const CARD = {
  fields: ['Content-Type: application/json'],
  body: '{"name":"agent","url":"http://agent.internal/a2a","protocolVersion":"0.3.0"}',
};

/** The site's address is configured. The browser's `Host` must not affect where requests go or what is published. */
export const hosts: AbuseFamily = {
  name: 'hosts that are not the site',
  cases: [
    ...HOSTS.flatMap((host, index): AbuseCase[] => [
      {
        id: `chat to the host "${host}"`,
        steps: [step(chat([`Host: ${host}`]))],
        safe: { statuses: [200, 400, 403, 404], platform: 'may', notUpstream: EVIL },
      },
      {
        id: `address of the chat for the host "${host}"`,
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
      id: 'two hosts',
      steps: [step(chat(['Host: site.example', 'Host: evil.example']))],
      safe: { statuses: [200, 400], platform: 'may', notUpstream: EVIL },
    },
    {
      id: 'a host in capitals',
      steps: [step(record(['HOST: SITE.EXAMPLE']))],
      safe: { ...PASSES, notUpstream: ['site.example'] },
    },
  ],
};

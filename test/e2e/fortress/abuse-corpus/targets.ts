import { type AbuseCase, type AbuseFamily, chat, record, refused, step } from './abuse-case.js';

/** CVE-2026-44578 (absolute form), CVE-2022-35949 (authority): targets that name another server. */
const PREFIXES = String.raw`http://{canary} https://{canary} HTTP://{canary} http://site.example@{canary} http://{canary}@site.example
http://{canary}#@site.example http://{canary}\@site.example //{canary} ///{canary} /\{canary} \\{canary} /%2f{canary} //{canary}/..
ftp://{canary} file:///etc/passwd? gopher://{canary} @{canary} {canary} *`;

const TUNNELS = [
  'CONNECT {canary} HTTP/1.1\r\nHost: {canary}\r\n\r\n',
  'CONNECT /api/a2a HTTP/1.1\r\nHost: site.example\r\n\r\n',
  'CONNECT /api/service/x HTTP/1.1\r\nHost: site.example\r\nCookie: session=ada\r\n\r\n',
];

/** No part of such a target may be trusted. */
export const targets: AbuseFamily = {
  name: 'request targets on another server',
  cases: [
    ...PREFIXES.split(/\s/).flatMap((prefix) =>
      [chat([], undefined, `${prefix}/api/a2a`), record([], `${prefix}/api/service/conversations`)].map(
        (request): AbuseCase => ({
          id: request.target,
          steps: [step(request)],
          // As a path, or as this server's address in absolute form, it may be served by this site.
          safe: { statuses: [200, 400, 404, 405], platform: 'may', notUpstream: ['{canary}'] },
          // Hono's server cannot build a `Request` for an address with a user name.
          on: { web: { statuses: [200, 400, 404, 405, 500] } },
        }),
      ),
    ),
    ...TUNNELS.map((bytes): AbuseCase => ({
      id: bytes.split('\r\n', 1)[0] ?? '',
      steps: [step(bytes)],
      safe: { ...refused(0, 400, 404, 405), notUpstream: ['{canary}'] },
    })),
  ],
};

import { type AbuseCase, type AbuseFamily, chat, record, refused, slug, step } from './abuse-case.js';

const ABSOLUTE = 'CVE-2026-44578 / GHSA-c4j6-fc7j-m34r';
const AUTHORITY = 'CVE-2022-35949';

const PREFIXES: readonly (readonly [prefix: string, fact: string])[] = [
  ['http://{canary}', ABSOLUTE],
  ['https://{canary}', ABSOLUTE],
  ['HTTP://{canary}', ABSOLUTE],
  ['http://site.example@{canary}', ABSOLUTE],
  ['http://{canary}@site.example', ABSOLUTE],
  ['http://{canary}#@site.example', ABSOLUTE],
  ['http://{canary}\\@site.example', ABSOLUTE],
  ['//{canary}', AUTHORITY],
  ['///{canary}', AUTHORITY],
  ['/\\{canary}', AUTHORITY],
  ['\\\\{canary}', AUTHORITY],
  ['/%2f{canary}', AUTHORITY],
  ['//{canary}/..', AUTHORITY],
  ['ftp://{canary}', ABSOLUTE],
  ['file:///etc/passwd?', ABSOLUTE],
  ['gopher://{canary}', ABSOLUTE],
  ['@{canary}', AUTHORITY],
  ['{canary}', 'RFC 9112 §3.2.3'],
  ['*', 'RFC 9112 §3.2.4'],
];

/** Targets that name another server. The routes are this server's, so nothing of them may be believed. */
export const targets: AbuseFamily = {
  name: 'request targets',
  cases: [
    ...PREFIXES.flatMap(([prefix, fact], index) =>
      [
        ['chat', (at: string) => chat([], undefined, `${at}/api/a2a`)] as const,
        ['record', (at: string) => record([], `${at}/api/service/conversations`)] as const,
      ].map(([name, make]): AbuseCase => ({
        id: `ssrf-target-${name}-${String(index)}-${slug(prefix)}`,
        tries: `send a ${name} elsewhere by the target ${prefix}`,
        fact,
        steps: [step(make(prefix))],
        // Read as a path or as the absolute form of this server's own address, it may be served; from here.
        safe: { statuses: [200, 400, 404, 405], platform: 'may', notUpstream: ['{canary}'] },
      })),
    ),
    ...[
      ['connect-canary', 'CONNECT {canary} HTTP/1.1\r\nHost: {canary}\r\n\r\n'],
      ['connect-path', 'CONNECT /api/a2a HTTP/1.1\r\nHost: site.example\r\n\r\n'],
      ['connect-record', 'CONNECT /api/service/x HTTP/1.1\r\nHost: site.example\r\nCookie: session=ada\r\n\r\n'],
      ['connect-length', 'CONNECT {canary} HTTP/1.1\r\nHost: {canary}\r\nContent-Length: 3\r\n\r\nabc'],
    ].map(([id, bytes]): AbuseCase => ({
      id: `ssrf-${String(id)}`,
      tries: 'open a tunnel',
      fact: 'docs/security.md; RFC 9110 §9.3.6',
      steps: [step(String(bytes))],
      safe: { ...refused(0, 400, 404, 405), notUpstream: ['{canary}'] },
    })),
  ],
};

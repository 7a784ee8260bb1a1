import {
  type AbuseCase,
  type AbuseFamily,
  chat,
  type PlatformAnswer,
  record,
  render,
  slug,
  step,
} from './abuse-case.js';

const ALLOWLIST = 'docs/security.md';

const ROADS = [
  ['chat', chat()],
  ['render', render()],
  ['record', record()],
] as const;

/** Fields that would work in the visitor's browser, or in a proxy in front of the site. */
const FIELDS: readonly (readonly [fields: readonly string[], fact: string])[] = [
  [['Set-Cookie: session=mallory; Path=/'], ALLOWLIST],
  [['Set-Cookie: a=1', 'Set-Cookie: __Host-session=mallory; Secure; Path=/'], ALLOWLIST],
  [['Set-Cookie2: session=mallory'], ALLOWLIST],
  [['X-Accel-Redirect: /internal/secrets'], ALLOWLIST],
  [['X-Sendfile: /etc/passwd', 'X-Lighttpd-Send-File: /etc/passwd'], ALLOWLIST],
  [['X-Reproxy-URL: http://{canary}/'], ALLOWLIST],
  [
    ['X-Accel-Expires: 31536000', 'Surrogate-Control: max-age=31536000', 'CDN-Cache-Control: public, max-age=31536000'],
    'CVE-2025-48947',
  ],
  [
    ['Cache-Control: public, max-age=31536000', 'Expires: Thu, 31 Dec 2037 23:59:59 GMT', 'Pragma: x'],
    'CVE-2025-64762',
  ],
  [['Clear-Site-Data: "*"'], ALLOWLIST],
  [["Content-Security-Policy: default-src *; script-src * 'unsafe-inline'"], ALLOWLIST],
  [['Content-Security-Policy-Report-Only: default-src *; report-uri http://{canary}/'], ALLOWLIST],
  [['Strict-Transport-Security: max-age=0'], ALLOWLIST],
  [['Public-Key-Pins: max-age=31536000; pin-sha256="x"'], ALLOWLIST],
  [['X-Frame-Options: ALLOWALL', 'X-XSS-Protection: 0'], ALLOWLIST],
  [['Service-Worker-Allowed: /'], ALLOWLIST],
  [['SourceMap: http://{canary}/x.map', 'X-SourceMap: http://{canary}/x.map'], ALLOWLIST],
  [['Alt-Svc: h3="{canary}"', 'Alt-Used: {canary}'], ALLOWLIST],
  [
    [
      'NEL: {"report_to":"x"}',
      'Report-To: {"group":"x","endpoints":[{"url":"http://{canary}/"}]}',
      'Reporting-Endpoints: x="http://{canary}/"',
    ],
    ALLOWLIST,
  ],
  [['WWW-Authenticate: Basic realm="sign in"', 'Proxy-Authenticate: NTLM', 'Authentication-Info: x'], ALLOWLIST],
  [['Authorization: {bearer}', 'X-Echo: {bearer}', 'X-Request-Headers: authorization={bearer}'], ALLOWLIST],
  [
    [
      'Server: platform-internal/1.2',
      'X-Powered-By: platform-internal',
      'Via: 1.1 platform-internal',
      'X-Backend-Server: platform-internal',
    ],
    ALLOWLIST,
  ],
  [['X-Content-Type-Options: none', 'X-Download-Options: none'], ALLOWLIST],
  [['Permissions-Policy: camera=*', 'Feature-Policy: camera *', 'Document-Policy: x', 'Origin-Trial: x'], ALLOWLIST],
  [['Connection: close, content-type, x-content-type-options'], 'RFC 9110 §7.6.1'],
  [['Keep-Alive: timeout=9999', 'Proxy-Connection: keep-alive', 'Upgrade: h2c'], 'RFC 9110 §7.6.1'],
  [
    ['x-middleware-rewrite: http://{canary}/', 'x-middleware-next: 1', 'x-middleware-override-headers: cookie'],
    'CVE-2025-57822',
  ],
  [
    ['x-nextjs-redirect: http://{canary}/', 'x-action-redirect: http://{canary}/', 'x-nextjs-cache-tags: x'],
    'CVE-2025-57822',
  ],
  [['__proto__: x', 'constructor: x', 'toString: x'], 'CVE-2026-21710'],
  [['X-Injected: \xe5\x98\x8d\xe5\x98\x8aSet-Cookie: a=1'], 'CVE-2026-1527'],
];

/** What no browser may get of them, whichever case it was. */
const NEVER = [
  'set-cookie',
  'mallory',
  'accel',
  'sendfile',
  'reproxy',
  'public, max-age',
  'expires:',
  'clear-site-data',
  'unsafe-inline',
  'max-age=0',
  'pins',
  'allowall',
  'service-worker',
  'sourcemap',
  'alt-svc',
  'report',
  'www-authenticate',
  'x-echo',
  'platform-internal',
  'options: none',
  'permissions-policy',
  'x-middleware',
  'x-nextjs',
  'x-action',
  '__proto__',
  '{canary}',
  'x-injected',
];

export const answerFields: AbuseFamily = {
  name: 'fields of an answer',
  cases: ROADS.flatMap(([name, request]) =>
    FIELDS.map(([fields, fact], index): AbuseCase => ({
      id: `up-field-${name}-${String(index)}-${slug(fields[0]?.split(':', 1)[0] ?? '')}`,
      tries: `rule the visitor's browser by ${String(fields[0])} on a ${name}`,
      fact,
      steps: [step(request)],
      platform: [{ fields: ['Content-Type: application/json', ...fields], body: '{}' }],
      safe: {
        statuses: [200],
        platform: 'must',
        answered: ['no-store', 'x-content-type-options: nosniff'],
        notAnswered: NEVER,
      },
    })),
  ),
};

/** Bytes that are no answer, or a different one for each reader. */
const BROKEN: readonly (readonly [what: string, bytes: PlatformAnswer | string])[] = [
  ['a status of 000', 'HTTP/1.1 000 X\r\nContent-Length: 0\r\n\r\n'],
  ['a status of 999', 'HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n'],
  ['a status of 600', 'HTTP/1.1 600 X\r\nContent-Length: 0\r\n\r\n'],
  ['a status of 99', 'HTTP/1.1 99 X\r\nContent-Length: 0\r\n\r\n'],
  ['a switch of protocols', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nraw'],
  ['no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n'],
  ['nothing', ''],
  ['half a head', 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'],
  ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 20\r\n\r\n{}HTTP/1.1 200 OK\r\n\r\n'],
  [
    'a length and chunks',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
  ],
  ['a bad chunk', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n'],
  ['bare line feeds', 'HTTP/1.1 200 OK\nSet-Cookie: a=1\nContent-Length: 2\n\n{}'],
  ['a folded field', 'HTTP/1.1 200 OK\r\nX: y\r\n Set-Cookie: a=1\r\nContent-Length: 2\r\n\r\n{}'],
  ['NUL in a field', 'HTTP/1.1 200 OK\r\nETag: "a\0b"\r\nContent-Length: 2\r\n\r\n{}'],
  ['a carriage return in a field', 'HTTP/1.1 200 OK\r\nETag: "a"\rSet-Cookie: a=1\r\nContent-Length: 2\r\n\r\n{}'],
  ['a head of 200 KB', `HTTP/1.1 200 OK\r\nX: ${'x'.repeat(200_000)}\r\nContent-Length: 2\r\n\r\n{}`],
  [
    'an early hint',
    'HTTP/1.1 103 Early Hints\r\nLink: <http://{canary}/>; rel=preload\r\nSet-Cookie: a=1\r\n\r\nHTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}',
  ],
  [
    'a 100 nobody asked for',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}',
  ],
  [
    'a second answer behind the first',
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\nSet-Cookie: poison=1\r\nContent-Length: 6\r\n\r\npoison',
  ],
  [
    'trailers',
    'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nTrailer: Set-Cookie\r\n\r\n2\r\n{}\r\n0\r\nSet-Cookie: a=1\r\nX-Poison: 1\r\n\r\n',
  ],
  ['a body on 204', 'HTTP/1.1 204 No Content\r\nContent-Length: 6\r\n\r\npoison'],
  ['a length that is none', 'HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\n{}'],
  [
    'a thousand codings',
    { fields: [`Content-Encoding: ${Array.from({ length: 1000 }, () => 'gzip').join(', ')}`], body: 'x' },
  ],
  [
    'a server error with its stack',
    { status: 500, fields: ['Content-Type: text/html'], body: 'Error: at /srv/platform-internal/db.js {bearer}' },
  ],
  [
    'a server error in JSON',
    { status: 503, fields: ['Content-Type: application/json'], body: '{"stack":"platform-internal {bearer}"}' },
  ],
  [
    'a refusal with its details',
    { status: 401, fields: ['WWW-Authenticate: Bearer realm="platform-internal"'], body: 'platform-internal' },
  ],
  [
    'a refusal in JSON with a challenge',
    {
      status: 401,
      fields: ['Content-Type: application/json', 'WWW-Authenticate: Bearer realm="of-the-inside"'],
      body: '{"error":"expired"}',
    },
  ],
];

export const brokenAnswers: AbuseFamily = {
  name: 'answers that are none',
  cases: ROADS.flatMap(([name, request]) =>
    BROKEN.map(([what, bytes], index): AbuseCase => ({
      id: `up-broken-${name}-${String(index)}-${slug(what)}`,
      tries: `break the site, or the next visitor's answer, by ${what} to a ${name}`,
      fact: /second|poison/.test(what) ? 'CVE-2026-48931' : 'docs/security.md; CVE-2024-21536',
      steps: [step(request)],
      platform: [bytes],
      safe: {
        // A user's own token that is refused is the user's matter; 0: cut in the middle, which nobody can take for an end.
        statuses: [0, 200, 204, 401, 500, 502, 503, 504],
        platform: 'must',
        // A lost GET may be sent once more, and a refused credential renewed.
        mostRequests: 2,
        notAnswered: ['set-cookie', 'poison', '{canary}', '101 switching', '103 early', 'realm=', 'platform-internal'],
      },
    })),
  ),
};

import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { checkOrigin } from '../../../src/adapters/web/origin-check.js';
import { isAgentBffError } from '../../../src/domain/errors.js';
import { matchSurface } from '../../../src/domain/surfaces/surface-ref.js';
import {
  browserResponseHeaders,
  RECORD_REQUEST_FIELDS,
  RECORD_RESPONSE_FIELDS,
  upstreamRequestHeaders,
} from '../../../src/domain/upstream/header-policy.js';
import { platformTarget } from '../../../src/domain/upstream/platform-api.js';
import { isSafePath } from '../../../src/domain/upstream/safe-path.js';
import { resolveUpstream } from '../../../src/composition/config/upstream-config.js';

// Thousands of runs take their time on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

// A failure prints its seed: `fc.assert(…, { seed, path })` shows it again.
const MANY = { numRuns: 5_000 };
const SOME = { numRuns: 2_000 };

const hexByte = fc.integer({ min: 0, max: 255 }).map((byte) => `%${byte.toString(16).padStart(2, '0')}`);
const piece = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      '.',
      '..',
      '/',
      '\\',
      ';',
      '%',
      '25',
      '2e',
      '2f',
      '5c',
      '%2e',
      '%252e',
      '%2F',
      '%5C',
      '%25',
    ),
  },
  { weight: 2, arbitrary: hexByte },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      'a',
      'b1',
      'render',
      'actions',
      'by-name',
      'theme.css',
      '%C3%BC',
      '%EF%BC%8F',
      '%EF%BC%8E',
      '%E2%80%A5',
    ),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 3 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 2 }) },
);
const rawPath = fc.array(piece, { maxLength: 9 }).map((parts) => `/${parts.join('')}`);
const surfacePath = fc
  .tuple(
    fc.constantFrom('', '/by-name'),
    fc.array(piece, { minLength: 1, maxLength: 5 }).map((parts) => parts.join('')),
    fc.oneof(
      fc.constantFrom('/render', '/theme.css'),
      fc.array(piece, { minLength: 1, maxLength: 4 }).map((parts) => `/actions/${parts.join('')}`),
    ),
  )
  .map((parts) => parts.join('').replace(/^(?!\/)/, '/'));

/** Decodes what can be decoded, byte for byte, as a server does that never heard of UTF-8. */
function bytewise(text: string): string {
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_escape, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Everything that servers with up to four decodings in a row may take a path for. */
function readings(path: string): string[] {
  const found = [path];
  for (let round = 0; round < 4; round += 1) found.push(bytewise(found.at(-1) ?? ''));
  return found;
}

function expectBelow(path: string): void {
  const depth = path.split('/').length;
  for (const reading of readings(path)) {
    // oxlint-disable-next-line no-control-regex
    expect(reading).not.toMatch(/[\u0000-\u001f\u007f\\?#]/);
    expect(reading.split('/')).toHaveLength(depth);
    for (const segment of reading.split('/')) expect(['.', '..']).not.toContain(segment.split(';', 1)[0]?.trim());
  }
}

describe('whatever is asked for as a path,', () => {
  it('an accepted one of the records stays below the base, however it is read', () => {
    fc.assert(
      fc.property(rawPath, (path) => {
        if (!isSafePath(path)) return;
        expectBelow(path);
        expect(new URL(`https://p.example/base${path}`).pathname.startsWith('/base/')).toBe(true);
      }),
      MANY,
    );
  });

  it('a widget is one segment below the surfaces, and means the same to whoever decodes it once', () => {
    const { paths } = resolveUpstream();
    const api = {
      endpoint: { origin: 'https://p.example', path: '/base' },
      paths,
      projectId: '',
      projectIdHeader: 'x',
      site: '',
    };
    let matched = 0;
    fc.assert(
      fc.property(fc.oneof(surfacePath, rawPath), (path) => {
        const match = matchSurface(path.endsWith('theme.css') ? 'GET' : 'POST', path);
        if (match.kind !== 'route') return;
        matched += 1;
        const { ref, operation } = match.route;
        const action = match.route.operation === 'action' ? match.route.action : '';
        for (const value of [ref.value, ...(operation === 'action' ? [action] : [])]) {
          // oxlint-disable-next-line no-control-regex
          expect(value).not.toMatch(/[\u0000-\u001f\u007f-\u009f/\\]|^\.{0,2}$/);
          expect(value.length).toBeLessThanOrEqual(256);
        }
        const name = ref.by === 'id' ? operation : (`${operation}ByName` as const);
        const target = platformTarget(api, name, { [ref.by]: ref.value, action });
        expect(new URL(target.origin + target.path).pathname).toBe(target.path);
        const [base, ...rest] = target.path.slice(1).split('/');
        const values = rest.slice(ref.by === 'id' ? 1 : 2).map(decodeURIComponent);
        expect([base, rest[0]]).toEqual(['base', 'surfaces']);
        expect(values[0]).toBe(ref.value);
        expect(values.slice(1)).toEqual(
          operation === 'action' ? ['actions', action] : [operation === 'theme' ? 'theme.css' : 'render'],
        );
      }),
      MANY,
    );
    // What matches nothing would prove nothing.
    expect(matched).toBeGreaterThan(200);
  });
});

const fieldName = fc.oneof(
  fc.constantFrom('authorization', 'cookie', 'host', 'x-api-key', 'x_api_key', 'connection', 'te', 'accept', 'range'),
  fc.constantFrom(
    'content-type',
    'content-length',
    'set-cookie',
    'location',
    'etag',
    'vary',
    '__proto__',
    'constructor',
  ),
  fc.constantFrom('access-control-allow-origin', 'x-accel-redirect', 'content-security-policy', 'cache-control'),
  fc.string({ maxLength: 12 }),
);
const fieldValue = fc.oneof(
  fc.string(),
  fc.array(fc.string(), { maxLength: 3 }),
  fc.constantFrom(undefined, 'text/html', 'text/event-stream'),
);
const fields = fc
  .array(fc.tuple(fieldName, fieldValue), { maxLength: 12 })
  .map((entries) => Object.fromEntries(entries));
const connection = fc.oneof(
  fc.string(),
  fc
    .array(fc.oneof(fieldName, fc.constantFrom('close', 'Authorization', ' X-API-KEY ')), { maxLength: 6 })
    .map((names) => names.join(',')),
);

describe('whatever fields come,', () => {
  it('those that cross to the platform are listed, and the credential is as it was', () => {
    const listed = [
      'accept',
      'content-type',
      'authorization',
      'x-api-key',
      'accept-language',
      'a2a-version',
      ...RECORD_REQUEST_FIELDS,
    ];
    const further = [
      'a2a-extensions',
      'x-a2a-extensions',
      'last-event-id',
      'idempotency-key',
      'traceparent',
      'tracestate',
    ];
    fc.assert(
      fc.property(
        fields,
        fc.option(fc.oneof(connection, fc.array(connection))),
        fc.boolean(),
        (browser, named, isRecord) => {
          const given = named === null ? browser : { ...browser, connection: named };
          const credential = { authorization: 'Bearer ours', 'x-api-key': 'ours' };
          const sent = upstreamRequestHeaders(given, credential, isRecord ? RECORD_REQUEST_FIELDS : []);
          for (const name of Object.keys(sent)) expect([...listed, ...further]).toContain(name);
          if (!isRecord) for (const name of RECORD_REQUEST_FIELDS) expect(sent).not.toHaveProperty(name);
          expect(sent).toMatchObject(credential);
          expect(Object.getPrototypeOf(sent)).toBe(Object.prototype);
        },
      ),
      SOME,
    );
  });

  it('those that cross to the browser are listed, and the site has the last word', () => {
    const listed = [
      'content-type',
      'content-language',
      'content-encoding',
      'content-length',
      'content-disposition',
      'etag',
      'last-modified',
    ];
    const more = [
      'retry-after',
      'vary',
      'a2a-version',
      'a2a-extensions',
      'x-a2a-extensions',
      ...RECORD_RESPONSE_FIELDS,
    ];
    const own = ['x-content-type-options', 'content-security-policy', 'cache-control', 'x-accel-buffering'];
    fc.assert(
      fc.property(fields, (platform) => {
        const told = browserResponseHeaders(platform, RECORD_RESPONSE_FIELDS);
        for (const name of Object.keys(told)) expect([...listed, ...more, ...own]).toContain(name);
        expect(told['x-content-type-options']).toBe('nosniff');
        expect(told['cache-control']).toContain('no-store');
        expect([undefined, "sandbox; default-src 'none'"]).toContain(told['content-security-policy']);
      }),
      SOME,
    );
  });

  it('an origin that passes is the own one', () => {
    const policy = { publicOrigin: 'https://site.example', allowedOrigins: new Set<string>() };
    const part = fc.constantFrom(
      'https://',
      'http://',
      'site.example',
      'evil.example',
      ':443',
      ':80',
      ':8443',
      '@',
      '.',
      '/',
      ',',
      ' ',
      '#',
      '?',
      '\\',
      'null',
      'SITE.example',
      '',
    );
    const near = fc.constantFrom('site.example', 'SITE.example', 'site.example:443', 'site.example.', 'site.example/');
    const origin = fc.oneof(
      near,
      fc.array(part, { maxLength: 6 }).map((parts) => parts.join('')),
      fc.webUrl(),
      fc.string(),
    );
    let passed = 0;
    fc.assert(
      fc.property(origin, fc.constantFrom('https://', 'http://', ''), (rest, scheme) => {
        const headers = { origin: scheme + rest, host: 'other.example' };
        try {
          checkOrigin({ method: 'POST', headers }, policy, false);
        } catch (error) {
          expect(isAgentBffError(error) && error.code).toBe('origin_refused');
          return;
        }
        passed += 1;
        expect(new URL(headers.origin)).toMatchObject({
          protocol: 'https:',
          hostname: 'site.example',
          port: '',
          username: '',
          pathname: '/',
        });
      }),
      MANY,
    );
    expect(passed).toBeGreaterThan(200);
  });
});

import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { checkOrigin } from '../../../src/adapters/web/admission.js';
import { isAgentBffError } from '../../../src/domain/shared/errors.js';
import { matchSurface } from '../../../src/domain/surfaces/surface-ref.js';
import { platformTarget } from '../../../src/domain/upstream/platform-api.js';
import { resolveUpstream } from '../../../src/composition/config/upstream-config.js';

// Thousands of runs take their time on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

// A failure prints its seed: `fc.assert(…, { seed, path })` shows it again.
const MANY = { numRuns: 5_000 };

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

describe('whatever is asked for as a path,', () => {
  it('a widget is one segment below the surfaces, and means the same to whoever decodes it once', () => {
    const { paths } = resolveUpstream();
    const api = {
      endpoint: { origin: 'https://p.example', path: '/base' },
      paths,
      projectId: '',
      projectIdHeader: 'x',
      place: 'platform',
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

describe('whatever fields come,', () => {
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

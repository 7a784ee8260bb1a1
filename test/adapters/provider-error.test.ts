import { expect, it } from 'vitest';
import { responseError, thrownFault } from '../../src/adapters/oauth/provider-error.js';

const NOW = 1_800_000_000_000;
const coded = (message: string, facts: object): Error => Object.assign(new Error(message), facts);
const nested = (depth: number): Error => new Error(String(depth), depth === 1 ? {} : { cause: nested(depth - 1) });

it.each<[string, unknown, string, string]>([
  [
    'of its innermost cause',
    new Error('fetch failed', { cause: coded('connect refused', { code: 'ECONNREFUSED' }) }),
    'ECONNREFUSED',
    'fetch failed: connect refused',
  ],
  ['of the library', coded('no network', { errorCode: 'network_error', code: 'E' }), 'network_error', 'no network'],
  ['of a timeout', coded('late', { name: 'TimeoutError', code: 23 }), 'TIMEOUT', 'late'],
  ['of an abort', coded('late', { name: 'AbortError' }), 'TIMEOUT', 'late'],
  [
    'of a connection, which an abort then reports',
    coded('reset', { code: 'ECONNRESET', cause: coded('gone', { name: 'AbortError' }) }),
    'ECONNRESET',
    'reset: gone',
  ],
  ['of a parser, without the text that it quotes', new SyntaxError('Unexpected token "secret"'), '', 'not JSON'],
  ['of five causes at most', nested(7), '', '7: 6: 5: 4: 3'],
  ['of something else', 'a text', '', ''],
  ['of null', null, '', ''],
  [
    'of invalid metadata, with the member',
    coded('invalid', { cause: { attribute: 'issuer' } }),
    '',
    'invalid: metadata member "issuer"',
  ],
  [
    'of invalid metadata, with the value of the member',
    coded('invalid', { cause: { attribute: 'issuer', body: { issuer: 'https://other.example' } } }),
    '',
    'invalid: metadata member "issuer" is "https://other.example"',
  ],
])('a fault has the code and the messages %s', (_whose, thrown, code, description) => {
  expect(thrownFault(thrown, 'token')).toEqual({ kind: 'fault', stage: 'token', code, description });
});

it.each([
  [429, { 'retry-after': '60' }, 60_000],
  [503, { 'retry-after': new Date(NOW + 90_000).toUTCString() }, 90_000],
  [429, { 'retry-after': new Date(NOW).toUTCString() }, undefined],
  [429, { 'retry-after': '7s' }, undefined],
  [429, { 'retry-after': '-7' }, undefined],
  [429, { 'x-ratelimit-reset': '1800000060' }, 60_000],
  [429, { 'x-ratelimit-reset': '9e9' }, undefined],
  [429, { 'x-ratelimit-reset': '+1900000000' }, undefined],
  [503, { 'x-ratelimit-reset': '1900000000' }, undefined],
  [429, {}, undefined],
])('a response with status %i and %j asks to wait %s ms', (status, headers, expected) => {
  const response = responseError('token', { status, headers: new Headers(headers) }, undefined, NOW);
  expect(response.retryAfterMs).toBe(expected);
});

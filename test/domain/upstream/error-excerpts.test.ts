import { describe, expect, it } from 'vitest';
import { redactor } from '../../../src/domain/shared/redaction.js';
import { Credential } from '../../../src/domain/credentials/credential.js';
import { PlatformErrors, AGENT } from '../../../src/domain/upstream/platform-error.js';
import type { HeaderFields, HttpBody } from '../../../src/ports/http.js';
import { WatchedBody } from '../chat/chat-world.js';
import { FakeDeadlines } from './fake-deadlines.js';
import { ownedBy } from '../credentials/broker-fixture.js';

const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl';
const HTML = { 'content-type': 'text/html; charset=utf-8' };

const CREDENTIAL = new Credential({
  kind: 'service',
  headers: { authorization: 'Bearer opaque+token/1==', 'x-api-key': 'key$with&odd "signs"', 'x-more': undefined },
  owner: ownedBy(),
  block: 'idpA',
  cacheKey: undefined,
  token: 'opaque+token/1==',
});

class Said {
  readonly deadlines: FakeDeadlines = new FakeDeadlines();
  readonly errors: PlatformErrors = new PlatformErrors({
    deadline: this.deadlines.start,
    conceal: redactor(['configured password']),
  });

  of(body: HttpBody, headers: HeaderFields = HTML): Promise<string> {
    const response = { status: 502, headers, body };
    return this.errors.said({ response, credential: CREDENTIAL, counterpart: AGENT });
  }
}

const said = (body: HttpBody, headers?: HeaderFields): Promise<string> => new Said().of(body, headers);

describe('an error response of the platform', () => {
  it('is logged with its status, type and origin', async () => {
    expect(await said('<h1>no</h1>')).toBe('status 502 from the agent, text/html: <h1>no</h1>');
    expect(await said(new WatchedBody('in ', 'two'), {})).toBe('status 502 from the agent: in two');
    const { errors } = new Said();
    const response = { status: 404, headers: {}, body: 'x' };
    expect(await errors.said({ response, credential: CREDENTIAL })).toBe('status 404: x');
  });

  it.each([
    ['null', null, HTML, 'status 502 from the agent, text/html, no body'],
    ['an empty stream', new WatchedBody(), {}, 'status 502 from the agent, no body'],
    [
      'compressed',
      new WatchedBody('\x1f\x8b'),
      { ...HTML, 'content-encoding': 'gzip' },
      'status 502 from the agent, text/html, compressed (gzip)',
    ],
    ['explicitly uncompressed', 'plain', { 'content-encoding': 'identity' }, 'status 502 from the agent: plain'],
  ])('can be %s', async (_what, body, headers, expected) => {
    expect(await said(body, headers)).toBe(expected);
  });

  it('is logged in one line', async () => {
    const text = await said('no\r\n2026-11-21 error: forged\u001b[31m\u2028end', { 'content-type': 'a\u0085b' });
    expect(text).toBe('status 502 from the agent, a b: no 2026-11-21 error: forged\\u001b[31m end');
  });

  it.each([
    ['the token that was sent', 'got <opaque+token/1==>', 'got <[redacted]>'],
    ['the field that was sent', '{"authorization":"Bearer opaque+token/1=="}', '{"authorization":"Bearer [redacted]"}'],
    ['the token in an address', '?t=opaque%2Btoken%2F1%3D%3D', '?t=[redacted]'],
    ['the token in an address, in lower case', '?t=opaque%2btoken%2f1%3d%3d', '?t=[redacted]'],
    ['the token in a page', 'opaque&#43;token&#x2F;1==', '[redacted]'],
    ['the API key', 'key$with&odd "signs"', '[redacted]'],
    ['the API key in JSON', JSON.stringify(['key$with&odd "signs"']), '["[redacted]"]'],
    ['the API key in a page', '<b>key$with&amp;odd &quot;signs&quot;</b>', '<b>[redacted]</b>'],
    ['the API key in JSON with escapes', String.raw`key$with\u0026odd \u0022signs\u0022`, '[redacted]'],
    ["another user's token", `for ${JWT}`, 'for [redacted]'],
    ['an encrypted token', 'for eyJhbGciOiJkaXIifQ..aXY.Y2lwaGVy.dGFn', 'for [redacted]'],
    ['a private key', '-----BEGIN PRIVATE KEY-----\nMIIE', '[redacted]'],
    ['a configured secret', 'no "configured password"', 'no "[redacted]"'],
  ])('shows no secret: %s', async (_what, body, expected) => {
    expect(await said(body, {})).toBe(`status 502 from the agent: ${expected}`);
  });

  it('shows no secret from the Content-Type field', async () => {
    expect(await said(null, { 'content-type': 'text/opaque+token/1==; charset=utf-8' })).toBe(
      'status 502 from the agent, text/[redacted], no body',
    );
  });

  it('is truncated at 2 KB, and a secret at the cut is redacted', async () => {
    for (const secret of ['opaque+token/1==', 'configured password', JWT]) {
      for (let before = 1_980; before < 2_050; before += 1) {
        const text = await said(new WatchedBody('x '.repeat(before / 2), secret, ' and more'.repeat(500)), {});
        expect(text.length).toBeLessThanOrEqual(2_048);
        expect(text).not.toMatch(/opaq|configured|eyJ/);
      }
    }
  });

  it('does not show half a secret where reading stops', async () => {
    for (const secret of [
      'opaque+token/1==',
      'key$with&odd "signs"',
      `eyJ${'x'.repeat(1_000)}.${'x'.repeat(1_000)}.x`,
    ]) {
      for (let length = 4_090 - secret.length; length < 4_097; length += 7) {
        const many = `${JWT} `.repeat(length / (JWT.length + 1));
        expect(await said(`${many.padEnd(length, ' x')} ${secret} end`, {})).not.toMatch(/opaq|key\$|eyJ/);
      }
    }
  });

  it('is read up to 4 KB, and the rest is discarded', async () => {
    let given = 0;
    const body = new WatchedBody();
    body[Symbol.asyncIterator] = () => ({
      next: () => {
        given += 1;
        return Promise.resolve({ done: false, value: new TextEncoder().encode('go on '.repeat(100)) });
      },
      return: () => {
        body.ended = true;
        return Promise.resolve({ done: true, value: undefined });
      },
    });
    expect(await said(body)).toMatch(/^status 502 from the agent, text\/html: go on go on /);
    expect([given, body.ended]).toEqual([7, true]);
  });

  it('is read for a second and logged as received so far', async () => {
    const world = new Said();
    let ended = false;
    const chunks = ['half of ', 'it'].map((text) => new TextEncoder().encode(text)).values();
    const telling = world.of({
      [Symbol.asyncIterator]: () => ({
        next: () => {
          const { value } = chunks.next();
          return value === undefined ? new Promise(() => undefined) : Promise.resolve({ done: false, value });
        },
        // Lets the pending read of the source end.
        return: () => {
          ended = true;
          return new Promise(() => undefined);
        },
      }),
    });
    await expect.poll(() => world.deadlines.spans).toEqual([1_000]);
    world.deadlines.pass(1_000);
    expect(await telling).toBe('status 502 from the agent, text/html: half of …');
    expect(ended).toBe(true);
  });

  it('is logged as without a body', async () => {
    const world = new Said();
    const telling = world.of({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }) }, {});
    world.deadlines.pass(1_000);
    expect(await telling).toBe('status 502 from the agent, body unread');
  });

  it('is logged as received so far when it breaks off', async () => {
    const before = 'it was so: '.repeat(20);
    const chunks = [new TextEncoder().encode(`${before}key$wi`)].values();
    const body = {
      [Symbol.asyncIterator]: () => ({
        next: () => {
          const { value } = chunks.next();
          return value === undefined ? Promise.reject(new Error('reset')) : Promise.resolve({ done: false, value });
        },
        return: () => Promise.reject(new Error('gone')),
      }),
    };
    expect(await said(body)).toBe(`status 502 from the agent, text/html: ${before}…`);
  });
});

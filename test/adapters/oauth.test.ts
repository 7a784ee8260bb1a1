import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { secret } from '../../src/domain/shared/secret.js';
import type { IdentityProvider } from '../../src/ports/identity-provider.js';
import { type Fault, lostFetch } from '../support/identity-provider/index.js';
import { exchanged, failureOf, issued, NOW, providersUnderTest } from './oauth-world.js';
import { timed } from '../support/stopwatch.js';

// Behaviour shared by every provider that gets its tokens over OAuth; the tests of its name cover the rest.
describe.each(await providersUnderTest())('%s', (_name, world) => {
  const { idp, provider, exchange, at, another, block, addressField, hostField, movedEndpoint } = world;
  const OUTAGE = { reason: 'unavailable', block, fields: [addressField] };
  const NO_TOKEN = {
    reason: 'unavailable',
    block,
    fields: [],
    advice: `Look at the server's log: the provider of the "${block}" configuration block, or a proxy in front of it, issues no token.`,
  };
  const NOBODY_THERE = { reason: 'unavailable', block, fields: [hostField] };
  const WRONG_ADDRESS = { reason: 'refused', block, fields: [addressField] };

  describe('the provider’s metadata', () => {
    it('are fetched once', async () => {
      const shared = provider({ timeoutMs: 20_000 });
      const tokens = await Promise.all(Array.from({ length: 20 }, () => issued(shared)));
      await issued(shared);
      expect(await shared.issue(NOW + 86_399_999)).toMatchObject({ kind: 'token' });
      expect(new Set(tokens.map(({ value }) => value)).size).toBe(20);
      expect(idp.metadataRequests.count).toBe(1);
      expect(idp.tokenRequests.count).toBe(22);
    });

    it('are fetched again after a day, and kept when they are away then', async () => {
      const old = provider();
      await issued(old);
      for (const fault of [{}, { status: 503 }, { status: 200, body: 'Welcome' }, { destroy: true }]) {
        idp.faults.metadata = fault;
        const before = idp.metadataRequests.count;
        expect(await old.issue(NOW + 86_400_000 * idp.tokenRequests.count)).toMatchObject({ kind: 'token' });
        expect(idp.metadataRequests.count).toBe(before + 1);
      }
    });

    it('leave time for the token when they hang after a day', async () => {
      const slow = provider({ timeoutMs: 1_000 });
      await issued(slow);
      idp.faults.metadata = { hang: true };
      expect(await slow.issue(NOW + 86_400_000)).toMatchObject({ kind: 'token' });
    });

    it.each<[string, Fault]>([
      ['an outage', { status: 503, body: { error: 'x' } }],
      ['a refusal', { status: 400, body: { error: 'invalid_scope' } }],
      ['a broken connection', { destroy: true }],
    ])('are fetched again after %s of the token endpoint', async (_, fault) => {
      const healing = provider();
      idp.faults.token = fault;
      await failureOf(healing);
      delete idp.faults.token;
      await issued(healing);
      await issued(healing);
      expect(idp.metadataRequests.count).toBe(2);
    });

    it('are not fetched again because of the tokens of users', async () => {
      const assertion = await idp.issueUserToken('ann');
      const exchanging = exchange();
      idp.faults.token = { status: 400, body: { error: 'invalid_grant' } };
      for (let user = 0; user < 3; user += 1) await exchanging.exchange({ assertion }, NOW);
      expect(idp.metadataRequests.count).toBe(1);
    });

    it('are fetched again after a failure', async () => {
      idp.faults.metadata = { destroy: true, times: 1 };
      const healing = provider();
      const first = await Promise.all([healing.issue(NOW), healing.issue(NOW)]);
      expect(first.map(({ kind }) => kind)).toEqual(['failure', 'failure']);
      await issued(healing);
      expect(idp.metadataRequests.count).toBe(2);
    });

    it('are fetched again when the token endpoint moved', async () => {
      idp.faults.metadata = { times: 1, transform: (body) => ({ ...body, token_endpoint: movedEndpoint }) };
      const following = provider();
      expect(await following.issue(Date.now())).toMatchObject({ ...NO_TOKEN, reason: 'refused' });
      await issued(following);
    });
  });

  describe('the expiry of a service token', () => {
    const lifeWith = async (change: Record<string, unknown>): Promise<number> => {
      idp.faults.token = { transform: (body) => ({ ...body, ...change }) };
      return (await issued(provider())).expiresAt - NOW;
    };

    it('is read from a number in a string', async () => {
      expect(await lifeWith({ expires_in: '120' })).toBe(120_000);
    });

    it.each([undefined, null, '', 'soon', 'Infinity', -1, 0, {}, [5], true])(
      'is that of the token when expires_in is %j',
      async (odd) => {
        const life = await lifeWith({ expires_in: odd });
        // The provider rounds to whole seconds, on its own clock.
        expect(life).toBeGreaterThan(290_000);
        expect(life).toBeLessThan(600_000);
      },
    );

    it('is at most a day away', async () => {
      expect(await lifeWith({ expires_in: 31_536_000 })).toBe(86_400_000);
    });

    it('is a minute away when neither response nor token has a valid one', async () => {
      const over = await idp.issueUserToken('x', { expiresInSeconds: -10_000 });
      for (const access_token of ['opaque', 'a.b.c', `a.${btoa('{"exp":1e999}')}.c`, over]) {
        expect(await lifeWith({ expires_in: undefined, access_token })).toBe(60_000);
      }
    });
  });

  describe('a token response with further members', () => {
    it('returns the token and ignores the rest', async () => {
      const rest = { id_token: 'x.y.z', client_info: '%', refresh_token: 7, scope: ['read'], token_type: 1 };
      idp.faults.token = { transform: (body) => ({ ...body, ...rest }) };
      expect((await issued(provider())).value).toMatch(/^eyJ/);
    });

    it('is rejected when its token fits no header field', async () => {
      idp.faults.token = { transform: (body) => ({ ...body, access_token: 'one\r\nx-evil: two' }) };
      const failure = await failureOf(provider());
      expect(failure).toMatchObject(NO_TOKEN);
      expect(failure.log).toMatch(/ERR_UNREADABLE_RESPONSE: the token is not valid in a header field$/);
    });
  });

  describe('a failing provider', () => {
    const broken: [string, Fault, string?][] = [
      ['500', { status: 500, body: '<h1>Oops</h1>' }],
      ['503 in JSON', { status: 503, body: { error: 'invalid_client' } }],
      ['408', { status: 408 }],
      ['425', { status: 425 }],
      ['text in place of JSON', { status: 200, body: 'hello' }, 'no JSON object'],
      ['JSON that is cut off', { transform: () => '{"access_token":"eyJhbGciOi' }],
      ['JSON of another kind', { transform: () => '[]' }],
      ['an empty object', { transform: () => ({}) }],
      ['more than 256 KiB', { transform: (body) => ({ ...body, more: 'x'.repeat(262_144) }) }],
      [
        '100,000 levels',
        {
          transform: (body) => `${JSON.stringify(body).slice(0, -1)},"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
        },
      ],
      ['a connection that ends', { destroy: true }],
    ];

    it.each(['token', 'metadata'] as const)('is at the wrong address if its %s comes with 201', async (part) => {
      idp.faults[part] = { status: 201 };
      const failure = await failureOf(provider());
      expect(failure.reason).toBe('refused');
      expect(failure.log).toContain('201: OAuth requires the status 200');
    });

    it.each(broken)('is unavailable at its token endpoint: %s', async (_, fault, detail = '') => {
      idp.faults.token = fault;
      const failure = await failureOf(provider());
      expect(failure).toMatchObject({ ...NO_TOKEN, log: expect.stringContaining(detail) });
      expect(failure.log).not.toContain('eyJhbG');
    });

    it.each(broken)('is unavailable at its metadata: %s', async (_, fault) => {
      idp.faults.metadata = fault;
      expect(await failureOf(provider())).toMatchObject('destroy' in fault ? NOBODY_THERE : OUTAGE);
      expect(idp.tokenRequests.count).toBe(0);
    });

    it('is unavailable when it says "temporarily_unavailable"', async () => {
      idp.faults.token = { status: 400, body: { error: 'temporarily_unavailable' } };
      expect(await failureOf(provider())).toMatchObject(NO_TOKEN);
    });

    it('is unavailable when nothing listens', async () => {
      const gone = await another();
      await gone.close();
      const failure = await failureOf(at(gone.host));
      expect(failure).toMatchObject(NOBODY_THERE);
      expect(failure.log).toContain('ECONNREFUSED');
    });

    it('is unavailable when its name is unknown', async () => {
      const lost = lostFetch();
      const failure = await failureOf(at('idp.example', { fetch: lost.fetch }));
      expect(failure).toMatchObject(NOBODY_THERE);
      expect(failure.log).toContain('ENOTFOUND: no host has this name');
      await lost.close();
    });

    it('is unavailable with an untrusted certificate, and the log names NODE_EXTRA_CA_CERTS', async () => {
      const failure = await failureOf(provider({ fetch: undefined }));
      expect(failure).toMatchObject(NOBODY_THERE);
      expect(failure.log).toContain('NODE_EXTRA_CA_CERTS');
    });

    it('is unavailable with an expired certificate, and the log does not suggest another authority', async () => {
      const cause = Object.assign(new Error('certificate has expired'), { code: 'CERT_HAS_EXPIRED' });
      const expired = (): Promise<Response> => Promise.reject(new TypeError('fetch failed', { cause }));
      const failure = await failureOf(at('idp.example', { fetch: expired }));
      expect(failure).toMatchObject(NOBODY_THERE);
      expect(failure.log).toMatch(/^metadata request failed: CERT_HAS_EXPIRED: its certificate has expired/);
    });

    it('is at the wrong address when it responds 404 or redirects', async () => {
      for (const fault of [{ status: 404 }, { status: 302, headers: { location: 'https://elsewhere.example' } }]) {
        idp.faults.metadata = fault;
        expect(await failureOf(provider())).toMatchObject(WRONG_ADDRESS);
        expect(idp.tokenRequests.count).toBe(0);
      }
    });
  });

  describe('a refusal in the provider’s own words', () => {
    const named = (...fields: readonly string[]): object => ({ reason: 'refused', block, fields });
    const basic = { 'www-authenticate': 'Basic realm="token"' };
    it.each<[string, Fault, object, string]>([
      [
        'with status 401 and a message',
        { status: 401, body: { message: 'client secret is wrong' } },
        named('clientSecret'),
        'token request failed: 401: {"message":"client secret is wrong"}',
      ],
      [
        'with another kind of error',
        { status: 400, body: { statusCode: 400, error: 'Bad Request', message: ['scope is unknown'] } },
        named('scope'),
        'token request failed: 400 Bad Request: {"statusCode":400,"message":["scope is unknown"]}',
      ],
      [
        'in an object',
        { status: 403, body: { error: { code: 7, message: 'no such client_id' } } },
        named('clientId'),
        'token request failed: 403: {"error":{"code":7,"message":"no such client_id"}}',
      ],
      ['in text', { status: 400, body: 'The client-secret has expired' }, named('clientSecret'), 'has expired'],
      [
        'with status 200',
        { status: 200, body: { success: false, errorMessage: 'Wrong client secret', hint: 'opaque-token' } },
        named('clientSecret'),
        'token request failed: 200: {"errorMessage":"Wrong client secret"}',
      ],
      [
        'in no words at all',
        { status: 403, body: '' },
        { reason: 'refused', advice: expect.stringContaining('"clientId", "clientSecret"') as unknown },
        'token request failed: 403',
      ],
      ['in a challenge', { status: 401, headers: basic }, named('clientId', 'clientSecret'), 'failed: 401'],
      [
        'as the page of a firewall',
        { status: 403, body: '<html><style>a{}</style>\n<h1>Access denied</h1> Client secret? Ray 7' },
        { ...NO_TOKEN, reason: 'refused' },
        'token request failed: 403: a{} Access denied Client secret? Ray 7',
      ],
      [
        'as the challenge of a proxy',
        { status: 401, headers: basic, body: '<h1>Proxy sign-in</h1>' },
        { ...NO_TOKEN, reason: 'refused' },
        'token request failed: 401: Proxy sign-in',
      ],
      ['of a proxy', { status: 407, body: 'client_id' }, NO_TOKEN, 'token request failed'],
      [
        'about something missing',
        { status: 404, body: { message: 'no scope' } },
        { ...NO_TOKEN, reason: 'refused' },
        'no scope',
      ],
    ])('%s names the field, never the address', async (_, fault, expected, said) => {
      idp.faults.token = fault;
      const failure = await failureOf(provider());
      expect(failure).toMatchObject(expected);
      expect(failure.fields).not.toContain(addressField);
      expect(failure.log).toContain(said);
      expect(failure.log + failure.advice).not.toContain('opaque-token');
      expect(failure.advice).not.toMatch(/wrong|expired|denied|Ray/);
    });

    it('is quoted with 500 characters, without secrets', async () => {
      const { secret: own } = idp.client;
      const body = {
        mfa_token: 'opaque-token',
        deep: { id_token: 'opaque-token' },
        message: `no: ${own} ${'x'.repeat(900)}`,
      };
      idp.faults.token = { status: 403, body };
      const { log: detail } = await failureOf(provider());
      expect(detail).not.toMatch(/opaque-token/);
      expect(detail).not.toContain(own);
      expect(detail.replace('token request failed: 403: ', '')).toHaveLength(500);
    });

    it.each([
      [600_000, 'ahead of'],
      [-600_000, 'behind'],
    ])('names the clock when it is %i ms off, and only then', async (ms, side) => {
      idp.faults.token = { status: 401, body: { error: 'invalid_client' } };
      const failure = await failureOf(provider(), Date.now() + ms);
      expect(failure.log).toMatch(new RegExp(`the local clock is (599|60[01]) s ${side} the provider's`));
      expect(failure.advice).toMatch(/"\. Set the clock of this server\.$/);
      expect(JSON.stringify(await failureOf(provider(), Date.now()))).not.toContain('clock');
    });
  });

  describe('a provider that asks to wait', () => {
    it.each<[string, Record<string, string>, number | undefined]>([
      ['for some seconds', { 'retry-after': '7' }, 7000],
      ['until its limit is reset', { 'x-ratelimit-reset': String(Math.floor(NOW / 1000) + 60) }, 60_000 - (NOW % 1000)],
      ['without saying how long', {}, undefined],
    ])('%s is not called for that long', async (_, headers, expected) => {
      idp.faults.token = { status: 429, body: { error: 'throttled' }, headers };
      const failure = await failureOf(provider(), NOW);
      expect(failure).toMatchObject({ ...world.limited, reason: 'unavailable' });
      expect(failure.retryAfterMs).toBe(expected);
    });

    it('reports the wait from an HTML page, an outage and a refusal of its metadata', async () => {
      idp.faults.token = { status: 429, body: '<h1>Slow down</h1>', headers: { 'retry-after': '3' } };
      expect(await failureOf(provider())).toMatchObject({ reason: 'unavailable', retryAfterMs: 3000 });
      idp.faults.token = { status: 503, headers: { 'retry-after': '4' } };
      expect(await failureOf(provider())).toMatchObject({ ...NO_TOKEN, retryAfterMs: 4000 });
      delete idp.faults.token;
      idp.faults.metadata = { status: 429, headers: { 'retry-after': '5' } };
      expect(await failureOf(provider())).toMatchObject({ reason: 'unavailable', retryAfterMs: 5000 });
    });
  });

  describe('a provider that is slow', () => {
    const inTime = async (slow: IdentityProvider, expected: object = OUTAGE): Promise<void> => {
      const { own } = await timed(async () => {
        const failure = await failureOf(slow);
        expect(failure).toMatchObject(expected);
        expect(failure.log).toContain('TIMEOUT');
      });
      expect(own).toBeLessThan(1000);
    };

    it.each(['token', 'metadata'] as const)('times out when its %s endpoint hangs', async (endpoint) => {
      idp.faults[endpoint] = { hang: true };
      await inTime(provider({ timeoutMs: 150 }), endpoint === 'token' ? NO_TOKEN : OUTAGE);
    });

    it('times out when discovery and token together take too long', async () => {
      idp.faults.metadata = { delayMs: 200 };
      idp.faults.token = { delayMs: 200 };
      // On a busy machine the metadata is late already.
      await inTime(provider({ timeoutMs: 300 }), { reason: 'unavailable', block });
    });

    it('times out when a custom fetch ignores its signal', async () => {
      const stuck = provider({ timeoutMs: 57, fetch: () => new Promise(() => undefined) });
      await inTime(stuck);
      await inTime(stuck);
    });

    it('is called again afterwards, including its metadata', async () => {
      idp.faults.metadata = { hang: true, times: 1 };
      const healing = provider({ timeoutMs: 900 });
      await inTime(healing);
      expect((await healing.issue(Date.now())).kind).toBe('token');
    });
  });

  describe('the detail of a failure', () => {
    it('hides secrets that the provider sent back, in any spelling', async () => {
      const clientSecret = 'p&ss "wörd" 1';
      const form = new URLSearchParams({ clientSecret }).toString();
      const echo = [clientSecret, encodeURIComponent(clientSecret), form, JSON.stringify(clientSecret)];
      const token = await idp.issueUserToken('ann');
      const error_description = `got\n${echo.join(' and ')} and ${token}`;
      idp.faults.token = { status: 400, body: { error: 'invalid_request', error_description } };
      const { log: detail, advice } = await failureOf(provider({ clientSecret: secret(clientSecret) }));
      for (const text of [...echo.slice(0, 2), 'p%26ss', token, '\n']) expect(detail + advice).not.toContain(text);
      expect(detail.match(/\[redacted\]/g)).toHaveLength(5);
    });

    it('has at most 1,000 characters, none of them in the advice', async () => {
      idp.faults.token = {
        status: 400,
        body: { error: 'invalid_scope', error_description: 'long '.repeat(1000) },
      };
      const { log: detail, advice } = await failureOf(provider());
      expect(detail).toHaveLength(1000);
      expect(advice).toBe(`Check the "${block}" configuration block: "scope".`);
    });
  });

  describe('a user’s token', () => {
    it('is exchanged for one of the same user', async () => {
      const assertion = await idp.issueUserToken('ann', { expiresInSeconds: 3600 });
      const token = await exchanged(exchange(), { assertion });
      expect(await idp.verifyAccessToken(token.value)).toMatchObject({ sub: 'ann', aud: idp.audience });
      expect(token.expiresAt).toBe(NOW + 300_000);
    });

    it('is never outlived by its exchange', async () => {
      const now = Math.floor(Date.now() / 1000) * 1000;
      const assertion = await idp.issueUserToken('ann', { expiresInSeconds: 100 });
      const { expiresAt } = await exchanged(exchange(), { assertion }, now);
      expect(expiresAt - now).toBeGreaterThanOrEqual(100_000);
      expect(expiresAt - now).toBeLessThan(130_000);
    });

    it('that is opaque does not limit the life of its exchange', async () => {
      idp.faults.token = { status: 200, body: { access_token: 'opaque', expires_in: 60 } };
      expect(await exchanged(exchange(), { assertion: 'opaque' })).toEqual({
        value: 'opaque',
        expiresAt: NOW + 60_000,
      });
    });

    it('that is empty is refused without a request', async () => {
      const refused = { kind: 'user-refused', reason: 'expired' };
      expect(await exchange().exchange({ assertion: '' }, NOW)).toMatchObject(refused);
      expect(idp.metadataRequests.count).toBe(0);
    });

    it.each<[string, string, object, string]>([
      ['that has expired', 'ann', { expiresInSeconds: -60 }, 'expired'],
      ['of a user who has not consented', 'no-consent', {}, 'interaction'],
      ['of a user who needs a second factor', 'second-factor', {}, 'interaction'],
    ])('%s is refused because of the user', async (_, subject, options, reason) => {
      const assertion = await idp.issueUserToken(subject, options);
      const outcome = await exchange().exchange({ assertion }, NOW);
      expect(outcome).toMatchObject({ kind: 'user-refused', reason });
      expect(JSON.stringify(outcome)).not.toContain(assertion);
    });

    it('is redacted in its refusal', async () => {
      const assertion = 'opaque-token-of-a-session';
      idp.faults.token = {
        status: 400,
        body: { error: 'invalid_grant', error_description: `${assertion} is unknown` },
      };
      expect(await exchange().exchange({ assertion }, Date.now())).toEqual({
        kind: 'user-refused',
        reason: 'expired',
        log: 'token request failed: 400 invalid_grant: [redacted] is unknown',
      });
    });

    it('is not refused while the provider is down or throttles', async () => {
      const assertion = await idp.issueUserToken('ann');
      const refusal = { error: 'invalid_grant' };
      const faults = [
        { status: 500, body: refusal },
        { status: 429, body: refusal },
        { destroy: true },
        { hang: true },
      ];
      for (const endpoint of ['token', 'metadata'] as const) {
        for (const fault of faults) {
          idp.faults[endpoint] = fault;
          const outcome = await exchange({ timeoutMs: 200 }).exchange({ assertion }, NOW);
          expect(outcome).toMatchObject({ kind: 'failure', reason: 'unavailable' });
        }
        delete idp.faults[endpoint];
      }
      idp.faults.metadata = { status: 400, body: refusal };
      expect(await exchange().exchange({ assertion }, NOW)).toMatchObject(WRONG_ADDRESS);
    });
  });

  it('hides secrets and tokens in every print', async () => {
    const [used, exchanging] = [provider(), exchange()];
    const assertion = await idp.issueUserToken('ann');
    const hidden = [idp.client.secret, assertion, (await issued(used)).value];
    hidden.push((await exchanged(exchanging, { assertion })).value);
    idp.faults.token = { status: 400, body: { error: 'invalid_request', error_description: idp.client.secret } };
    const shown = [used, exchanging, await used.issue(NOW)].map(
      (value) => inspect(value, { depth: 20, showHidden: true }) + JSON.stringify(value),
    );
    for (const text of hidden) expect(shown.join()).not.toContain(text);
    expect(String(used)).toBe('[object Object]');
  });
});

import { describe, expect, it } from 'vitest';
import type { GetHeaders, HeadersLike } from '../../src/composition/routes/route-options.js';
import { ServiceAuthError } from '../../src/domain/shared/errors.js';
import type { RouteAuth } from '../../src/domain/credentials/route-auth.js';
import { REQUEST, SERVICE } from '../domain/credentials/broker-fixture.js';
import { routeCredentials } from './route-credentials.js';
import { errorOf } from '../support/error-of.js';

const headersAuth = (getHeaders: GetHeaders) =>
  routeCredentials().lookups(SERVICE, { configGetHeaders: getHeaders }) as RouteAuth<'headers'>;

const made = (headers: HeadersLike) => headersAuth(() => headers).obtain(REQUEST);

describe('configGetHeaders', () => {
  it('sets the header fields it returns', async () => {
    const credential = await made(new Headers({ Authorization: 'Bearer own', 'X-Tenant': 'acme' }));
    expect(credential.headers).toEqual({ authorization: 'Bearer own', 'x-tenant': 'acme' });
    expect([credential.kind, credential.block]).toEqual(['session', 'getHeaders']);
    expect(credential.owner.principal).toMatch(/^headers [\da-f]{64}$/);
  });

  it('cannot set connection or framing fields', async () => {
    const headers = { Host: 'a', 'Content-Length': '3', 'Transfer-Encoding': 'chunked', Connection: 'x', 'x-own': '1' };
    expect((await made(headers)).headers).toEqual({ 'x-own': '1' });
  });

  it('names one caller by the fields it returns, in any order', async () => {
    const [one, same, other] = await Promise.all(
      [
        { a: '1', b: '2' },
        { b: '2', a: '1' },
        { a: '2', b: '1' },
      ].map(async (fields) => (await made(fields)).owner.principal),
    );
    expect([one === same, one === other]).toEqual([true, false]);
  });

  it('receives the request of the framework', async () => {
    const request = { session: { token: 't' } };
    const auth = headersAuth(async (seen: typeof request) => Promise.resolve({ 'x-token': seen.session.token }));
    expect((await auth.obtain({ headers: {}, native: { request } })).headers).toEqual({ 'x-token': 't' });
  });

  it('passes on an error of this package unchanged', async () => {
    const error = new ServiceAuthError('service_auth_failed', { detail: 'No.', block: 'idpA' });
    await expect(headersAuth(() => Promise.reject(error)).obtain(REQUEST)).rejects.toBe(error);
  });

  it("that throws fails with a hint and logs the error's type and place without its message", async () => {
    const failing = headersAuth(() => {
      throw new Error('database at 10.0.0.1 is down');
    });
    const failed = await errorOf(failing.obtain(REQUEST));
    expect(failed).toMatchObject({
      code: 'service_auth_failed',
      detail: 'The headers for the platform could not be created.',
      hint: 'Check the function in "getHeaders" or "configGetHeaders"; the server log has the cause.',
      block: 'getHeaders',
    });
    expect(failed.message).not.toContain('10.0.0.1');
    const log = failed.logDetail();
    expect(log).toMatch(/"configGetHeaders" failed: it threw Error at .*config-options\.test\.ts/);
    expect(log).not.toContain('10.0.0.1');
  });
});

import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { secret } from '../../src/domain/shared/secret.js';
import { JWT_BEARER, type Fault } from '../support/identity-provider/index.js';
import {
  certificateIn,
  configuredExchange,
  entraError,
  exchanged,
  type IdpBChange,
  startIdpBWorld,
} from './oauth-world.js';

const { idp, trusting, registered, exchange, configured } = await startIdpBWorld();
describe('a user’s token', () => {
  it('is sent as Entra expects, with the secret of the application', async () => {
    await exchanged(exchange(), { assertion: await idp.issueUserToken('ann') });
    expect(idp.tokenRequests.last).toMatchObject({
      grant: JWT_BEARER,
      form: { requested_token_use: 'on_behalf_of', client_secret: '[redacted]' },
    });
  });

  it('is exchanged by the application of onBehalfOf, with its own secret', async () => {
    const assertion = await idp.issueUserToken('ann');
    const own = { clientId: idp.client.id, clientSecret: idp.client.secret };
    const config = configured({ clientId: 'other', clientSecret: 'other' }, own);
    const token = await exchanged(configuredExchange(config, trusting), { assertion });
    expect(await idp.verifyAccessToken(token.value)).toMatchObject({ sub: 'ann' });
  });

  it('is exchanged with the certificate before the secret', async () => {
    const assertion = await idp.issueUserToken('ann');
    const token = await exchanged(exchange({ certificate: certificateIn(registered) }), { assertion });
    expect(await idp.verifyAccessToken(token.value)).toMatchObject({ sub: 'ann' });
    expect(idp.tokenRequests.last?.form).toHaveProperty('client_assertion');
    expect(idp.tokenRequests.last?.form).not.toHaveProperty('client_secret');
  });

  it('is exchanged for the scope or audience of the request before the configured scope', async () => {
    const assertion = await idp.issueUserToken('ann');
    const elsewhere = exchange({ scope: 'api://elsewhere/.default' });
    await exchanged(elsewhere, { assertion, scope: `${idp.audience}/access_as_user`, audience: 'ignored' });
    await exchanged(elsewhere, { assertion, audience: idp.audience });
    expect(idp.tokenRequests.list.map(({ form }) => form['scope']?.split(' ')[0])).toEqual([
      `${idp.audience}/access_as_user`,
      `${idp.audience}/.default`,
    ]);
  });
});

describe('two users at once', () => {
  it('get their own tokens in any order', async () => {
    const shared = exchange({ timeoutMs: 20_000 });
    const sessions = await Promise.all(
      ['ann', 'ben', 'ann', 'ben'].map((user) => idp.issueUserToken(user, { claims: { sid: user } })),
    );
    expect(new Set(sessions).size).toBe(4);
    const calls = Array.from({ length: 24 }, (_, call) => sessions[call % 4] ?? '');
    // Responses arrive in another order than the calls.
    idp.faults.token = { delayMs: 30, times: 7 };
    const tokens = await Promise.all(calls.map((assertion) => exchanged(shared, { assertion })));
    expect(tokens.map(({ value }) => decodeJwt(value).sub)).toEqual(calls.map((call) => decodeJwt(call).sub));
    expect(new Set(tokens.map(({ value }) => value)).size).toBe(24);
    expect(idp.metadataRequests.count).toBe(1);
  });

  it('get their own tokens without client_info', async () => {
    idp.faults.token = { transform: (body) => ({ ...body, client_info: undefined }) };
    const shared = exchange();
    for (const user of ['ann', 'ben', 'ann']) {
      const { value } = await exchanged(shared, { assertion: await idp.issueUserToken(user) });
      expect(decodeJwt(value).sub).toBe(user);
    }
  });

  it.each<[string, Fault]>([
    ['an outage', { status: 503, body: { error: 'x' }, headers: { 'retry-after': '60' }, times: 1 }],
    ['a limit', { status: 429, body: { error: 'x' }, headers: { 'retry-after': '60' }, times: 1 }],
    ['a refusal', { ...entraError(400, 'invalid_grant', 50013), headers: { 'retry-after': '60' }, times: 1 }],
  ])('do not share %s', async (_, fault) => {
    const shared = exchange();
    const [erin, frank] = await Promise.all(['erin', 'frank'].map((user) => idp.issueUserToken(user)));
    idp.faults.token = { ...fault };
    expect((await shared.exchange({ assertion: erin ?? '' }, Date.now())).kind).not.toBe('token');
    for (const assertion of [frank ?? '', erin ?? '']) await exchanged(shared, { assertion });
    expect(idp.tokenRequests.count).toBe(3);
  });
});

describe('a user’s token that cannot be exchanged', () => {
  it.each<[string, string, object, string]>([
    ['because it is for another application', 'ann', { audience: 'another' }, 'expired'],
    ['because a policy blocks the user', 'policy', {}, 'interaction'],
  ])('%s is refused because of the user', async (_, subject, options, reason) => {
    const assertion = await idp.issueUserToken(subject, options);
    const outcome = await exchange().exchange({ assertion }, Date.now());
    expect(outcome).toMatchObject({ kind: 'user-refused', reason });
    expect(JSON.stringify(outcome)).not.toContain(assertion);
  });

  it('of another kind is refused because of the user, and redacted', async () => {
    const assertion = 'opaque-token-of-a-session';
    idp.faults.token = entraError(400, 'invalid_request', 50027, {
      error_description: `AADSTS50027: ${assertion} is malformed.`,
    });
    expect(await exchange().exchange({ assertion }, Date.now())).toEqual({
      kind: 'user-refused',
      reason: 'expired',
      log: 'token request failed: 400 invalid_request: AADSTS50027: [redacted] is malformed.',
    });
    delete idp.faults.token;
    expect(await exchange().exchange({ assertion }, Date.now())).toMatchObject({ reason: 'expired' });
  });

  it.each<[string, Fault, string]>([
    ['50076', entraError(400, 'invalid_grant', 50076), 'interaction'],
    ['50079', entraError(400, 'interaction_required', 50079), 'interaction'],
    ['53003', entraError(400, 'invalid_grant', 53003), 'interaction'],
    ['65001', entraError(400, 'invalid_grant', 70000, { error_codes: [70000, 65001] }), 'interaction'],
    ['consent by its name alone', entraError(400, 'consent_required', 0), 'interaction'],
    ['a policy by its word alone', entraError(400, 'invalid_grant', 0, { suberror: 'message_only' }), 'interaction'],
    ['50027', entraError(400, 'invalid_request', 90000, { error_codes: [90000, 50027] }), 'expired'],
    ['50013', entraError(400, 'invalid_grant', 50013), 'expired'],
    ['500133', entraError(400, 'invalid_grant', 500133), 'expired'],
    ['a session that was revoked', entraError(400, 'invalid_grant', 50173, { suberror: 'bad_token' }), 'expired'],
    ['a login by its name alone', entraError(400, 'login_required', 0), 'expired'],
    ['a grant by its name alone', entraError(400, 'invalid_grant', 0), 'expired'],
  ])('with %s is refused because of the user', async (_, fault, reason) => {
    idp.faults.token = fault;
    const assertion = await idp.issueUserToken('ann');
    expect(await exchange().exchange({ assertion }, Date.now())).toMatchObject({ kind: 'user-refused', reason });
  });
});

describe('an exchange that fails for all users', () => {
  it.each<[string, () => IdpBChange, string[]]>([
    ['with a wrong client secret', () => ({ clientSecret: secret('wrong') }), ['clientSecret']],
    ['in an unknown tenant', () => ({ tenantId: 'contoso.example' }), ['tenantId']],
    ['in no tenant', () => ({ tenantId: 'common' }), ['tenantId']],
    ['for an unknown API', () => ({ scope: 'api://nowhere/.default' }), ['scope']],
  ])('%s names the configuration, not the user', async (_, change, fields) => {
    const assertion = await idp.issueUserToken('ann', { audience: change().clientId ?? idp.client.id });
    const outcome = await exchange(change()).exchange({ assertion }, Date.now());
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'refused', block: 'idpBService', fields });
  });

  it.each<[string, Fault, string[]]>([
    ['a scope', entraError(400, 'invalid_request', 0, { error_description: 'no scope' }), ['scope']],
    ['a client', entraError(401, 'invalid_client', 50013), ['clientId', 'clientSecret']],
    ['a policy', entraError(403, 'access_denied', 50105), ['clientId']],
  ])('by the name of %s names the configuration, not the user', async (_, fault, fields) => {
    idp.faults.token = fault;
    const outcome = await exchange().exchange({ assertion: await idp.issueUserToken('ann') }, Date.now());
    expect(outcome).toMatchObject({ kind: 'failure', fields });
  });

  it('names the route option for an unknown audience of the route', async () => {
    const assertion = await idp.issueUserToken('ann');
    const outcome = await exchange().exchange({ assertion, audience: 'api://nowhere' }, Date.now());
    expect(outcome).toMatchObject({ block: 'route', fields: ['audience'] });
  });

  it('for a scope without "/.default" does not advise adding it', async () => {
    const outcome = await exchange({ scope: 'api://nowhere/read' }).exchange(
      { assertion: await idp.issueUserToken('ann') },
      Date.now(),
    );
    expect(outcome).toMatchObject({ advice: 'Check the "idpBService" configuration block: "scope".' });
  });
});

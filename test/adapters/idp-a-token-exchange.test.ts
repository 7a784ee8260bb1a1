import { describe, expect, it } from 'vitest';
import { secret } from '../../src/domain/shared/secret.js';
import { TOKEN_EXCHANGE } from '../support/identity-provider/index.js';
import { configuredExchange, exchanged, type IdpAChange, startIdpAWorld } from './oauth-world.js';

const { idp, trusting, exchange, configured } = await startIdpAWorld();
describe('a user’s token', () => {
  it('is sent as an access token (RFC 8693)', async () => {
    await exchanged(exchange(), { assertion: await idp.issueUserToken('ann') });
    expect(idp.tokenRequests.last).toMatchObject({
      grant: TOKEN_EXCHANGE,
      form: { subject_token_type: 'urn:ietf:params:oauth:token-type:access_token' },
    });
  });

  it('is exchanged for the audience and scope of the request, else for the configured ones', async () => {
    const assertion = await idp.issueUserToken('ann');
    const configured = exchange({ audience: 'https://other.example', scope: 'chat' });
    const token = await exchanged(configured, { assertion, audience: idp.audience, scope: 'openid read' });
    expect(await idp.verifyAccessToken(token.value)).toMatchObject({ aud: idp.audience, scope: 'read' });
  });

  it('is exchanged with the settings of onBehalfOf, else with those of idpA', async () => {
    const assertion = await idp.issueUserToken('ann');
    const own = { audience: idp.audience, scope: 'read' };
    const idpA = { audience: idp.otherAudience, scope: 'chat' };
    for (const [onBehalfOf, aud, scope] of [
      [own, idp.audience, 'read'],
      [{}, idp.otherAudience, 'chat'],
    ] as const) {
      const token = await exchanged(configuredExchange(configured({ idpA, onBehalfOf }), trusting), { assertion });
      expect(await idp.verifyAccessToken(token.value)).toMatchObject({ sub: 'ann', aud, scope });
    }
  });

  it.each(['audience', 'scope', 'subjectTokenType'])('is exchanged again for another %s', async (field) => {
    const [one, other] = [{}, { [field]: 'other' }].map((onBehalfOf) =>
      configuredExchange(configured({ onBehalfOf })).identity(),
    );
    expect((await other)?.principal).not.toBe((await one)?.principal);
  });

  it('is sent with the configured type', async () => {
    const assertion = await idp.issueUserToken('ann');
    const outcome = await exchange({ subjectTokenType: 'https://site.example/session' }).exchange(
      { assertion },
      Date.now(),
    );
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'refused' });
    expect(idp.tokenRequests.last?.form['subject_token_type']).toBe('https://site.example/session');
  });

  it('of another issuer is refused because of the user, and redacted', async () => {
    const assertion = 'opaque-token-of-a-session';
    idp.faults.token = {
      status: 400,
      body: { error: 'invalid_request', error_description: `subject_token ${assertion} is not known` },
    };
    expect(await exchange().exchange({ assertion }, Date.now())).toEqual({
      kind: 'user-refused',
      reason: 'expired',
      log: 'token request failed: 400 invalid_request: subject_token [redacted] is not known',
    });
  });
});

describe('an exchange that fails for all users', () => {
  it.each<[string, () => IdpAChange, string[]]>([
    ['with a wrong client secret', () => ({ clientSecret: secret('wrong') }), ['clientId', 'clientSecret']],
    ['for an unknown audience', () => ({ audience: 'https://nowhere.example' }), ['audience']],
    ['for an unknown scope', () => ({ scope: 'everything' }), ['scope']],
    [
      'by an application that may not exchange',
      () => ({ clientId: idp.machineClient.id, clientSecret: secret(idp.machineClient.secret) }),
      ['clientId'],
    ],
  ])('%s names the configuration, not the user', async (_, change, fields) => {
    const assertion = await idp.issueUserToken('ann');
    const outcome = await exchange(change()).exchange({ assertion }, Date.now());
    expect(outcome).toMatchObject({ kind: 'failure', reason: 'refused', block: 'idpA', fields });
  });

  it.each<[string, IdpAChange, string]>([
    ['audience', { audience: 'https://nowhere.example' }, 'onBehalfOf'],
    ['scope', { scope: 'everything' }, 'onBehalfOf'],
    ['clientSecret', { clientSecret: secret('wrong') }, 'idpA'],
  ])('names the block that holds the wrong %s', async (field, change, block) => {
    const assertion = await idp.issueUserToken('ann');
    const outcome = await exchange(change, ['audience', 'scope']).exchange({ assertion }, Date.now());
    expect(outcome).toMatchObject({ kind: 'failure', block, advice: expect.stringContaining(`"${block}"`) as string });
    expect(outcome).toHaveProperty('fields', expect.arrayContaining([field]));
  });

  it.each([
    ['idpA', []],
    ['onBehalfOf', ['scope']],
  ])('names the block %s for an unknown error if onBehalfOf sets %j', async (block, own) => {
    idp.faults.token = { status: 400, body: { error: 'unknown' } };
    const outcome = await exchange({ scope: 'read' }, own).exchange({ assertion: 'opaque' }, Date.now());
    expect(outcome).toMatchObject({ kind: 'failure', block, fields: [] });
  });

  it('names both blocks that hold a wrong field, its own first', async () => {
    const assertion = await idp.issueUserToken('ann');
    const outcome = await exchange({ clientSecret: secret('wrong') }, ['clientId']).exchange({ assertion }, Date.now());
    const advice =
      'Check the "onBehalfOf" configuration block: "clientId"; and the "idpA" configuration block: "clientSecret".';
    expect(outcome).toMatchObject({ block: 'onBehalfOf', fields: ['clientId'], advice });
  });

  it('names the route option for an unknown audience of the route', async () => {
    const assertion = await idp.issueUserToken('ann');
    const outcome = await exchange().exchange({ assertion, audience: 'https://nowhere.example' }, Date.now());
    expect(outcome).toMatchObject({ block: 'route', advice: 'Check the options of the route: "audience".' });
  });

  it.each([
    ['an unsupported type', 'invalid_request', 'unsupported subject_token_type', 'onBehalfOf', 'subjectTokenType'],
    ['a missing right', 'unauthorized_client', 'no subject_token may be exchanged', 'idpA', 'clientId'],
  ])('names the field to correct for %s', async (_, error, error_description, block, field) => {
    idp.faults.token = { status: 400, body: { error, error_description } };
    const outcome = await exchange().exchange({ assertion: await idp.issueUserToken('ann') }, Date.now());
    expect(outcome).toMatchObject({ kind: 'failure', block, fields: [field] });
  });
});

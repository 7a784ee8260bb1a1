import { describe, expect, it } from 'vitest';
import type { IssueFailure, ExchangeRefusal } from '../../../src/ports/identity-provider.js';
import { ExchangeWorld } from './exchange-fixture.js';

const expired: ExchangeRefusal = { kind: 'user-refused', reason: 'expired', log: 'AADSTS700082 for anna' };
const consent: ExchangeRefusal = { kind: 'user-refused', reason: 'interaction', log: 'AADSTS65001 for anna' };
const fails = (reason: IssueFailure['reason']): IssueFailure => ({
  kind: 'failure',
  reason,
  block: 'idpBService',
  fields: ['clientSecret'],
  advice: 'Check the "idpBService" configuration block: "clientSecret".',
  log: 'AADSTS7000215',
});

describe('a rejected user', () => {
  it('must sign in again when the session has ended', async () => {
    const world = new ExchangeWorld();
    world.exchange.answer = () => expired;
    const error = await world.error('anna');
    expect(error).toMatchObject({ name: 'SessionError', code: 'session_expired', hint: 'Sign in again.' });
    expect(error.message).not.toContain('AADSTS');
    expect(error.logDetail()).toBe('AADSTS700082 for anna');
  });

  it('gets interaction_required when consent is missing, and a token after consenting', async () => {
    const world = new ExchangeWorld();
    world.exchange.answer = () => consent;
    const error = await world.error('anna');
    expect(error).toMatchObject({ name: 'SessionError', code: 'interaction_required' });
    expect(error.message).not.toContain('AADSTS');
    expect(error.logDetail()).toBe('AADSTS65001 for anna');
    world.exchange.answer = undefined;
    expect(await world.get('anna')).toBe('exchanged-anna-2');
  });

  it('is rejected without another exchange while the token is the same', async () => {
    const world = new ExchangeWorld();
    world.exchange.answer = () => expired;
    await world.error('anna');
    const again = await world.error('anna');
    expect(again).toMatchObject({ code: 'session_expired' });
    expect(again.logDetail()).toBe('AADSTS700082 for anna');
    expect(world.asked).toEqual(['anna']);
  });

  it('causes one call in half a minute when the session has ended', async () => {
    const world = new ExchangeWorld();
    world.exchange.answer = () => expired;
    await world.error('anna');
    world.clock.advance(29_999);
    await world.error('anna');
    expect(world.asked).toEqual(['anna']);
    world.clock.advance(1);
    await world.error('anna');
    expect(world.asked).toEqual(['anna', 'anna']);
  });

  it('is logged as a fault of the session, not of the configuration', async () => {
    const world = new ExchangeWorld();
    world.exchange.answer = () => expired;
    await world.error('anna');
    expect(world.telemetry.of('token')).toEqual([
      { type: 'token', outcome: 'backoff', block: 'session', detail: 'AADSTS700082 for anna' },
    ]);
  });

  it.each([expired, consent, fails('refused'), fails('unavailable')])(
    'does not affect another user (%j)',
    async (answer) => {
      const world = new ExchangeWorld();
      world.exchange.answer = ({ assertion }) =>
        assertion === 'anna'
          ? answer
          : { kind: 'token', token: { value: 'of-bert', expiresAt: world.clock.now() + 60_000 } };
      const [anna, bert] = await Promise.allSettled([world.get('anna'), world.get('bert')]);
      expect(anna.status).toBe('rejected');
      expect(bert).toEqual({ status: 'fulfilled', value: 'of-bert' });
      expect(await world.get('bert')).toBe('of-bert');
    },
  );
});

describe('a failing exchange', () => {
  const REFUSED = { code: 'service_auth_failed', retryable: false };
  const OUTAGE = { code: 'identity_provider_unavailable', retryable: true };

  it.each<[IssueFailure['reason'], string, object]>([
    ['incomplete', "The configuration of the exchange of users' tokens is incomplete.", REFUSED],
    ['refused', "The exchange of users' tokens was refused.", REFUSED],
    ['unavailable', 'The identity provider cannot be reached or is out of order.', OUTAGE],
  ])('that is %s names the configuration block and does not end the session', async (reason, detail, expected) => {
    const world = new ExchangeWorld();
    world.exchange.answer = () => ({ ...fails(reason), retryAfterMs: 7_000 });
    const error = await world.error('anna');
    expect(error).toMatchObject({
      name: 'ServiceAuthError',
      block: 'idpBService',
      fields: ['clientSecret'],
      detail,
      hint: 'Check the "idpBService" configuration block: "clientSecret".',
      retryAfterMs: 7_000,
      ...expected,
    });
    expect(error.message).not.toContain('AADSTS');
    expect(error.logDetail()).toBe('AADSTS7000215');
  });

  it.each<[unknown, RegExp]>([
    [
      new TypeError('no disk for anna'),
      /^the token exchange threw TypeError at .*exchanged-tokens-failures\.test\.ts:\d+:\d+\)?$/,
    ],
    ['no disk for anna', /^the token exchange threw string$/],
  ])('is an outage without a call when the identity is unavailable (%s)', async (thrown, log) => {
    const world = new ExchangeWorld();
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors
    world.exchange.identity = () => Promise.reject(thrown);
    const error = await world.error('anna');
    expect(error).toMatchObject({
      name: 'ServiceAuthError',
      code: 'identity_provider_unavailable',
      hint: 'Check the "onBehalfOf" configuration block.',
      block: 'onBehalfOf',
      fields: [],
      retryable: true,
    });
    expect(error.logDetail()).toMatch(log);
    expect(world.asked).toEqual([]);
  });

  it('with a missing field works as soon as the field is set', async () => {
    const world = new ExchangeWorld();
    world.exchange.answer = () => fails('incomplete');
    expect((await world.error('anna')).code).toBe('service_auth_failed');
    world.exchange.answer = undefined;
    expect(await world.get('anna')).toBe('exchanged-anna-2');
  });

  it('names the block of the exchange when it throws', async () => {
    const world = new ExchangeWorld();
    world.exchange.answer = () => {
      throw new Error('a bug with the-token-of-anna in it');
    };
    const error = await world.error('anna');
    expect(error).toMatchObject({ code: 'identity_provider_unavailable', block: 'onBehalfOf' });
    expect(error.message + error.logDetail()).not.toContain('anna');
  });

  it("does not affect a user's current token", async () => {
    const world = new ExchangeWorld();
    await world.get('anna');
    world.exchange.answer = () => fails('unavailable');
    world.clock.advance(299_000);
    expect(await world.get('anna')).toBe('exchanged-anna-1');
  });
});

import { describe, expect, it } from 'vitest';
import { Credential, type CredentialKind } from '../../../src/domain/credentials/credential.js';
import type { AgentBffError } from '../../../src/domain/errors.js';
import { AGENT, PLATFORM } from '../../../src/domain/upstream/platform-answer.js';
import { platformError, type PlatformReply, tokenRejected } from '../../../src/domain/upstream/platform-error.js';
import type { HeaderFields } from '../../../src/ports/http.js';

function credentialOf(kind: CredentialKind, block = 'idpA'): Credential {
  return new Credential({ kind, headers: {}, identity: 'i', block, cacheKey: undefined, token: undefined });
}

function reply(status: number, headers: HeaderFields = {}, kind: CredentialKind = 'session'): PlatformReply {
  return { response: { status, headers, body: null }, credential: credentialOf(kind) };
}

describe("the platform's own failure", () => {
  it.each<[string | undefined, string | undefined, number | undefined]>([
    ['120', undefined, 120_000],
    ['0', undefined, undefined],
    ['-5', undefined, undefined],
    ['Wed, 21 Oct 2026 07:28:00 GMT', 'Wed, 21 Oct 2026 07:27:30 GMT', 30_000],
    ['Wed, 21 Oct 2026 07:28:00 GMT', 'Wed, 21 Oct 2026 07:28:00 GMT', undefined],
    ['Wed, 21 Oct 2026 07:28:00 GMT', undefined, undefined],
    ['soon', 'Wed, 21 Oct 2026 07:28:00 GMT', undefined],
    [undefined, undefined, undefined],
  ])("says when to come back, by the platform's own clock: %s at %s", (field, date, retryAfterMs) => {
    const error = platformError(reply(503, { 'retry-after': field, date }), PLATFORM, '');
    expect(error.retryAfterMs).toBe(retryAfterMs);
  });

  it.each([500, 503, 599])('(%i) keeps its status', (status) => {
    const error = platformError(reply(status), PLATFORM, 'what it said');
    expect(error).toMatchObject({
      name: 'UpstreamError',
      code: 'upstream_error',
      detail: 'The platform reported an error of its own.',
      upstreamStatus: status,
      retryable: status === 503,
    });
    expect(error.logDetail()).toBe('what it said');
  });
});

describe("the platform's refusal", () => {
  it.each([
    [400, 'The agent refused the request.', undefined],
    [401, 'The agent did not accept the sign-in.', 'Sign in again.'],
    [403, 'The agent does not allow this to the signed-in user.', undefined],
    [
      404,
      'The agent did not find what was asked for.',
      'If nothing is found there, check "a2aUrl" in configureServer.',
    ],
    [
      405,
      'The agent does not take this method at this address.',
      'If nothing is found there, check "a2aUrl" in configureServer.',
    ],
    [409, 'The request conflicts with the state of the agent.', undefined],
    [
      410,
      'The agent did not find what was asked for.',
      'If nothing is found there, check "a2aUrl" in configureServer.',
    ],
    [413, 'The request is too large for the agent.', undefined],
    [422, 'The agent refused the request.', undefined],
    [429, 'The agent takes no more requests for now.', 'Send the request again in a moment.'],
    [499, 'The agent refused the request.', undefined],
  ])('(%i) keeps its status, and says in our words what is true of it', (status, detail, hint) => {
    const error = platformError(reply(status), AGENT, 'what it said');
    expect(error).toMatchObject({ code: 'upstream_error', detail, hint, upstreamStatus: status });
    expect(error.retryable).toBe(status === 429);
    expect(error.fields).toEqual(hint?.includes('a2aUrl') === true ? ['a2aUrl'] : []);
    expect(error.logDetail()).toBe('what it said');
  });

  it('keeps the fields it is to keep, and no others', () => {
    const headers = { allow: 'GET', 'content-range': undefined, server: 'gateway-7', 'set-cookie': ['a=b'] };
    expect(platformError(reply(405, headers), PLATFORM, '', ['allow', 'content-range']).upstreamHeaders).toEqual({
      allow: 'GET',
    });
    expect(platformError(reply(405, headers), PLATFORM, '').upstreamHeaders).toEqual({});
  });

  it.each<[CredentialKind, number]>([
    ['service', 401],
    ['service', 403],
    ['api-key', 401],
    ['api-key', 403],
  ])('of the credential of the site (%s, %i) is the operator’s to mend', (kind, status) => {
    const error = platformError(reply(status, {}, kind), PLATFORM, 'no such key');
    expect(error).toMatchObject({ name: 'ServiceAuthError', code: 'service_token_rejected', block: 'idpA' });
    expect([error.upstreamStatus ?? 401, error.logDetail()]).toEqual([status, 'no such key']);
  });

  it.each([400, 404, 500])('of anything else (%i) says nothing about the credential of the site', (status) => {
    expect(platformError(reply(status, {}, 'service'), PLATFORM, '').code).toBe('upstream_error');
  });
});

describe('a credential the platform does not take', () => {
  const rejected = (block: string, status: number): AgentBffError =>
    tokenRejected(credentialOf('service', block), status, 'what it said');

  it.each([
    [
      'serviceAccount',
      'Check the "serviceAccount" configuration block: the platform must know this client or key, its audience and its role.',
      ['serviceAccountId', 'keyId', 'privateKeyPem', 'privateKeyPath', 'audience'],
    ],
    [
      'idpA',
      'Check the "idpA" configuration block: the platform must know this client or key, its audience and its role.',
      [],
    ],
    ['serviceApiKey', 'Check "serviceApiKey" in configureServer, and the strategy in "serviceAuthStrategy".', []],
  ])('is told with what to check: %s', (block, hint, fields) => {
    expect(rejected(block, 401)).toMatchObject({
      name: 'ServiceAuthError',
      code: 'service_token_rejected',
      detail: 'The platform refused the service credential.',
      hint,
      block,
      fields,
      upstreamStatus: undefined,
    });
  });

  it.each([
    [
      'serviceAccount',
      'Check the "serviceAccount" configuration block: the platform must give this client or key the role that is needed.',
    ],
    [
      'serviceApiKey',
      'Check what the platform allows for "serviceApiKey" in configureServer, and the strategy in "serviceAuthStrategy".',
    ],
  ])('for what was asked is told with the role to check: %s', (block, hint) => {
    expect(rejected(block, 403)).toMatchObject({
      code: 'service_token_rejected',
      detail: 'The platform does not allow the service credential to do this.',
      hint,
      block,
      upstreamStatus: 403,
    });
  });
});

import { describe, expect, it } from 'vitest';
import { Credential, type CredentialKind } from '../../../src/domain/credentials/credential.js';
import type { AgentBffError } from '../../../src/domain/shared/errors.js';
import {
  PLATFORM,
  AGENT,
  platformError,
  PlatformErrors,
  type PlatformReply,
} from '../../../src/domain/upstream/platform-error.js';
import type { HeaderFields } from '../../../src/ports/http.js';
import { ownedBy } from '../credentials/broker-fixture.js';

function credentialOf(kind: CredentialKind, block = 'idpA'): Credential {
  return new Credential({ kind, headers: {}, owner: ownedBy('i'), block });
}

function reply(
  status: number,
  headers: HeaderFields = {},
  kind: CredentialKind = 'session',
): Pick<PlatformReply, 'response' | 'credential'> {
  return { response: { status, headers, body: null }, credential: credentialOf(kind) };
}

describe('a failure of the platform', () => {
  it.each<[string | undefined, string | undefined, number | undefined]>([
    ['120', undefined, 120_000],
    ['0', undefined, undefined],
    ['-5', undefined, undefined],
    ['Wed, 21 Oct 2026 07:28:00 GMT', 'Wed, 21 Oct 2026 07:27:30 GMT', 30_000],
    ['Wed, 21 Oct 2026 07:28:00 GMT', 'Wed, 21 Oct 2026 07:28:00 GMT', undefined],
    ['Wed, 21 Oct 2026 07:28:00 GMT', undefined, undefined],
    ['soon', 'Wed, 21 Oct 2026 07:28:00 GMT', undefined],
    [undefined, undefined, undefined],
  ])("has a retry delay by the platform's own clock: %s at %s", (field, date, retryAfterMs) => {
    const error = platformError(reply(503, { 'retry-after': field, date }), PLATFORM, '');
    expect(error.retryAfterMs).toBe(retryAfterMs);
  });

  it.each([500, 503, 599])('(%i) keeps its status', (status) => {
    const error = platformError(reply(status), PLATFORM, 'what it said');
    expect(error).toMatchObject({
      name: 'UpstreamError',
      code: 'upstream_error',
      detail: 'The platform reported an internal error.',
      upstreamStatus: status,
      retryable: status === 503,
    });
    expect(error.logDetail()).toBe('what it said');
  });
});

const CHECK_AGENT = 'Check "a2aUrl" in configureServer: it must be the JSON-RPC endpoint of the agent.';
const PAGE = { 'content-type': 'text/html; charset=utf-8' };

describe('a rejection by the platform', () => {
  it.each([
    [400, 'The agent refused the request.', undefined],
    [401, "The agent rejected the user's token.", 'Sign in again.'],
    [
      403,
      'The agent does not allow the signed-in user to do this.',
      'The account needs a role that allows it. If every account is refused, check "a2aUrl" in configureServer.',
    ],
    [404, 'The agent was not found at its address.', CHECK_AGENT],
    [405, 'The agent does not accept this method at this address.', CHECK_AGENT],
    [409, 'The request conflicts with the state of the agent.', undefined],
    [410, 'The agent was not found at its address.', CHECK_AGENT],
    [413, 'The request is too large for the agent.', undefined],
    [422, 'The agent refused the request.', undefined],
    [429, 'The agent is receiving too many requests.', 'Send the request again in a moment.'],
    [499, 'The agent refused the request.', undefined],
  ])('(%i) keeps its status and gets our own text', (status, detail, hint) => {
    const error = platformError(reply(status), AGENT, 'what it said');
    expect(error).toMatchObject({ code: 'upstream_error', detail, hint, upstreamStatus: status });
    expect(error.retryable).toBe(status === 429);
    expect(error.fields).toEqual(hint?.includes('a2aUrl') === true ? ['a2aUrl'] : []);
    expect(error.logDetail()).toBe('what it said');
  });

  it.each([
    [404, 'The platform does not have the requested resource.'],
    [405, 'The platform does not accept this method at this address.'],
  ])('(%i) mentions the address only as a possible cause when a request names a resource', (status, detail) => {
    expect(platformError(reply(status), PLATFORM, '')).toMatchObject({
      detail,
      hint: 'If no request succeeds, check "serviceApiUrl" in configureServer.',
      fields: ['serviceApiUrl'],
    });
  });

  it.each([
    'status 400 from the agent, text/html: <h1>400 Bad Request</h1> The plain HTTP request was sent to HTTPS port',
    'status 400 from the agent: Client sent an HTTP request to an HTTPS server.',
    "status 400 from the agent, text/html: Reason: You're speaking plain HTTP to an SSL-enabled server port.",
  ])('of a request without TLS suggests https: %s', (said) => {
    expect(platformError(reply(400), AGENT, said)).toMatchObject({
      detail: 'The address of the agent requires https.',
      hint: 'Use https in "a2aUrl".',
      fields: ['a2aUrl'],
    });
  });

  it.each<CredentialKind>(['service', 'api-key', 'session'])(
    'with a page (403) is reported as that of a firewall or proxy, not as a refused credential: %s',
    (kind) => {
      expect(
        platformError(reply(403, PAGE, kind), AGENT, 'status 403 from the agent, text/html: denied'),
      ).toMatchObject({
        code: 'upstream_error',
        detail: 'A page denies access to the agent, as that of a firewall or proxy in front of it.',
        hint: 'Have it admit this server. If the agent itself sends it, grant the credential its role, or check "a2aUrl" in configureServer: it must be the JSON-RPC endpoint of the agent.',
        block: 'configureServer',
        fields: ['a2aUrl'],
        upstreamStatus: 403,
      });
    },
  );

  it.each([400, 429, 500])('with an HTML page (%i) is not reported as a wrong address', (status) => {
    const error = platformError(reply(status, PAGE), AGENT, 'status 400: please log in');
    expect(error.detail).not.toMatch(/page/);
  });

  it('keeps only the listed header fields', () => {
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
  ])("of the site's credential (%s, %i) is reported as a fault for the operator", (kind, status) => {
    const error = platformError(reply(status, {}, kind), PLATFORM, 'no such key');
    expect(error).toMatchObject({ name: 'ServiceAuthError', code: 'service_token_rejected', block: 'idpA' });
    expect([error.upstreamStatus ?? 401, error.logDetail()]).toEqual([status, 'no such key']);
  });

  it.each([400, 404, 500])("with another status (%i) does not mention the site's credential", (status) => {
    expect(platformError(reply(status, {}, 'service'), PLATFORM, '').code).toBe('upstream_error');
  });
});

describe('a success response that is not from an agent', () => {
  it.each([
    [PAGE, 'status 200: <h1>Welcome</h1>', 'The address of the agent leads to a web page.', CHECK_AGENT],
    [
      { 'content-type': 'application/xhtml+xml' },
      'status 200: <form><input name=p type="password">',
      'The address of the agent leads to a sign-in page.',
      `${CHECK_AGENT} If the address is right, exempt requests with the credential of this site from the sign-in.`,
    ],
    [
      { 'content-type': 'text/plain' },
      'status 200: log in',
      'The response of the agent is not JSON or an event stream.',
      CHECK_AGENT,
    ],
    [{}, '', 'The response of the agent is not JSON or an event stream.', CHECK_AGENT],
    [
      PAGE,
      'status 200: <input type=password>',
      'The address of the agent leads to a sign-in page.',
      `${CHECK_AGENT} If the address is right, exempt requests with the credential of this site from the sign-in.`,
    ],
  ])('is reported according to its content: %j %s', (headers, said, detail, hint) => {
    const error = platformError(reply(200, headers), AGENT, said);
    expect(error).toMatchObject({
      code: 'upstream_invalid_response',
      detail,
      hint,
      fields: ['a2aUrl'],
      upstreamStatus: undefined,
    });
    expect(error.logDetail()).toBe(said);
  });

  it.each([300, 399])('is reported as a redirect when it redirects (%i)', (status) => {
    const error = platformError(reply(status), AGENT, 'what it said');
    expect(error).toMatchObject({
      code: 'upstream_redirect',
      detail: 'The agent responded with a redirect, and redirects are never followed.',
    });
    expect(error.logDetail()).toBe('what it said');
  });
});

describe('a response of the platform', () => {
  const JSON_TYPE = { 'content-type': 'application/json' };

  it.each<[number, HeaderFields, string | null, CredentialKind, string?]>([
    [399, PAGE, 'page', 'service'],
    [400, JSON_TYPE, '{}', 'service'],
    [401, JSON_TYPE, '{}', 'session'],
    [499, JSON_TYPE, '{}', 'session'],
    [404, {}, null, 'session'],
    [404, {}, 'text', 'session', 'upstream_error'],
    [404, PAGE, null, 'session', 'upstream_error'],
    [500, JSON_TYPE, '{}', 'session', 'upstream_error'],
    [500, {}, null, 'session', 'upstream_error'],
    [401, JSON_TYPE, '{}', 'service', 'service_token_rejected'],
  ])('(%i, %j, %j) for the credential of a %s is passed to the browser, or an error: %s', async (...row) => {
    const [status, headers, body, kind, code] = row;
    const { signal } = new AbortController();
    const errors = new PlatformErrors({ deadline: () => signal, conceal: (text) => text });
    const response = { status, headers, body };
    const passed = errors.toBrowserResponse({ response, counterpart: PLATFORM, credential: credentialOf(kind) });
    if (code === undefined) expect(await passed).toEqual(response);
    else await expect(passed).rejects.toMatchObject({ code });
  });
});

describe('a credential rejected by the platform', () => {
  const rejected = (block: string, status: number, headers: HeaderFields = {}): AgentBffError =>
    platformError({ response: { status, headers }, credential: credentialOf('service', block) }, AGENT, 'what it said');

  it('is reported with the address and the block when it led to a sign-in page', () => {
    expect(rejected('idpA', 401, PAGE)).toMatchObject({
      code: 'service_token_rejected',
      detail: 'The address of the agent leads to a sign-in page.',
      hint: expect.stringMatching(/^Check "a2aUrl" .* from the sign-in\. Check the "idpA" configuration block/),
      block: 'idpA',
    });
    const challenge = { ...PAGE, 'www-authenticate': 'Bearer realm="api"' };
    expect(rejected('idpA', 401, challenge).detail).toBe('The platform refused the service credential.');
  });

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
    ['serviceToken', 'Check "serviceToken" in configureServer, and the strategy in "serviceAuthStrategy".', []],
  ])('is reported with advice: %s', (block, hint, fields) => {
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

  it.each([401, 403])('is reported as missing when none is sent (%i)', (status) => {
    expect(rejected('serviceAuthStrategy', status)).toMatchObject({
      code: 'service_token_rejected',
      detail: 'The agent requires a credential, and none is sent.',
      hint: 'Set "serviceAuthStrategy" in configureServer to a strategy it accepts instead of "none", such as "static_token" with "serviceToken".',
      block: 'configureServer',
      fields: ['serviceAuthStrategy', 'serviceToken'],
    });
  });

  it.each([
    [
      'serviceAccount',
      'Check the "serviceAccount" configuration block: the platform must grant this client or key the required role. Some gateways respond like this to unknown paths too: then check "a2aUrl".',
    ],
    [
      'serviceApiKey',
      'Check what the platform allows for "serviceApiKey" in configureServer, and the strategy in "serviceAuthStrategy". Some gateways respond like this to unknown paths too: then check "a2aUrl".',
    ],
  ])('is reported with the missing role when it lacks permission: %s', (block, hint) => {
    expect(rejected(block, 403)).toMatchObject({
      code: 'service_token_rejected',
      detail: 'The platform does not allow the service credential to do this.',
      hint,
      block,
      fields: [],
      upstreamStatus: 403,
    });
  });
});

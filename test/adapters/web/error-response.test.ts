import { describe, expect, it } from 'vitest';
import {
  errorContext,
  errorResponse,
  methodNotAllowed,
  notFound,
  PROBLEMS,
  refusal,
  refusedForNow,
  REST_ERRORS,
  RPC_ERRORS,
  toAgentBffError,
  type ErrorContext,
} from '../../../src/adapters/web/error-response.js';
import type { SiteSettings } from '../../../src/adapters/web/door.js';
import { AgentBffError, type KnownCode } from '../../../src/domain/shared/errors.js';
import type { HttpResponse } from '../../../src/ports/http.js';
import { browserRequest, site } from './browser-request.js';

const rpcErrorText = (error: AgentBffError, id: string, requestId: string): string =>
  RPC_ERRORS.text(error, { requestId, id }, 200);
const problemResponse = (cause: unknown, of: ErrorContext): HttpResponse => errorResponse(cause, PROBLEMS, of);
const rpcErrorResponse = (cause: unknown, id: string, of: ErrorContext): HttpResponse =>
  errorResponse(cause, RPC_ERRORS, { ...of, id });

/** A change here changes what every site sees. */
const TABLE: Readonly<Record<KnownCode, readonly [number, string, number]>> = {
  configuration_invalid: [500, 'Configuration invalid', -32603],
  service_auth_failed: [401, 'Service authentication failed', -32603],
  identity_provider_unavailable: [401, 'Identity provider unavailable', -32603],
  service_token_rejected: [401, 'Service token rejected', -32603],
  session_required: [401, 'Session required', -32603],
  session_expired: [401, 'Session expired', -32603],
  interaction_required: [403, 'Interaction required', -32603],
  origin_refused: [403, 'Origin refused', -32603],
  host_refused: [421, 'Host refused', -32603],
  rate_limited: [429, 'Too many requests', -32603],
  body_invalid: [400, 'Body invalid', -32700],
  body_too_large: [413, 'Body too large', -32603],
  body_consumed: [500, 'Body already consumed', -32603],
  body_timeout: [408, 'Body timeout', -32603],
  content_type_unsupported: [400, 'Content type unsupported', -32005],
  content_encoding_unsupported: [415, 'Content encoding unsupported', -32603],
  method_denied: [200, 'Method denied', -32601],
  conversation_unknown: [200, 'Conversation unknown', -32603],
  method_not_allowed: [405, 'Method not allowed', -32603],
  not_found: [404, 'Not found', -32603],
  upgrade_unsupported: [501, 'Upgrade unsupported', -32603],
  upstream_unreachable: [502, 'Upstream unreachable', -32603],
  upstream_timeout: [504, 'Upstream timeout', -32603],
  upstream_redirect: [502, 'Upstream redirect', -32603],
  upstream_invalid_response: [502, 'Upstream response invalid', -32603],
  upstream_error: [502, 'Upstream error', -32603],
  agent_binding_unsupported: [502, 'Agent binding unsupported', -32603],
  server_busy: [503, 'Server busy', -32603],
  server_closing: [503, 'Server closing', -32603],
  internal_error: [500, 'Internal error', -32603],
};
const ROWS = (Object.keys(TABLE) as KnownCode[]).map((code) => [code, ...TABLE[code]] as const);

const context = (settings: SiteSettings = site()): ReturnType<typeof errorContext> => errorContext(settings, 'chat');

function json(response: HttpResponse): Record<string, unknown> {
  return JSON.parse(response.body as string) as Record<string, unknown>;
}

const REFUSAL = new AgentBffError('service_auth_failed', {
  detail: 'The identity provider refused the service user.',
  hint: 'Check the "idpAServiceUser" configuration block: username, password.',
  block: 'idpAServiceUser',
  fields: ['username', 'password'],
  log: 'invalid_grant from https://tenant.example',
});

describe('the status of an error', () => {
  it.each(ROWS)('for %s is %i, "%s" and %i', (code, status, title, rpcCode) => {
    const error = new AgentBffError(code, { detail: 'It broke.' });
    const problem = problemResponse(error, context());
    expect(problem.status).toBe(status);
    expect(json(problem)).toEqual({
      type: `urn:agent-bff:error:${code}`,
      title,
      status,
      code,
      detail: 'It broke.',
      retryable: false,
      requestId: 'req-1',
    });
    const rpc = rpcErrorResponse(error, '7', context());
    expect(rpc.status).toBe(status);
    expect(json(rpc)).toMatchObject({ id: 7, error: { code: rpcCode } });
  });

  it('of an identity provider that is down can be 503', () => {
    const outage = new AgentBffError('identity_provider_unavailable', { detail: 'It broke.' });
    const settings = site({ authUnavailableStatus: 503 });
    expect(problemResponse(outage, context(settings)).status).toBe(503);
    expect(problemResponse(REFUSAL, context(settings)).status).toBe(401);
  });

  it.each<[KnownCode, number]>([
    ['method_denied', 403],
    ['conversation_unknown', 404],
  ])('for %s is %i in the HTTP+JSON binding, whose clients read the status', (code, status) => {
    expect(errorResponse(new AgentBffError(code, { detail: 'It broke.' }), REST_ERRORS, context()).status).toBe(status);
  });

  it('is that of the platform', () => {
    const error = new AgentBffError('upstream_error', { detail: 'It broke.', upstreamStatus: 507 });
    expect(problemResponse(error, context()).status).toBe(507);
    expect(json(problemResponse(error, context()))['status']).toBe(507);
  });
});

describe('a problem document', () => {
  it('names block and fields and no internal detail', () => {
    const response = problemResponse(REFUSAL, context());
    expect(json(response)).toEqual({
      type: 'urn:agent-bff:error:service_auth_failed',
      title: 'Service authentication failed',
      status: 401,
      code: 'service_auth_failed',
      detail: 'The identity provider refused the service user.',
      hint: 'Check the "idpAServiceUser" configuration block: username, password.',
      block: 'idpAServiceUser',
      fields: ['username', 'password'],
      retryable: false,
      requestId: 'req-1',
    });
    expect(response.headers).toEqual({
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'www-authenticate': 'Bearer error="service_auth_failed"',
    });
  });

  it('has no challenge without a 401', () => {
    const response = problemResponse(new AgentBffError('not_found', { detail: 'No.' }), context());
    expect(response.headers['www-authenticate']).toBeUndefined();
  });

  it.each([
    [1, '1'],
    [1_000, '1'],
    [1_001, '2'],
    [90_000, '90'],
  ])('has Retry-After in whole seconds: %i ms are %s', (retryAfterMs, seconds) => {
    const error = new AgentBffError('identity_provider_unavailable', {
      detail: 'It broke.',
      retryable: true,
      retryAfterMs,
    });
    const response = problemResponse(error, context());
    expect(response.headers['retry-after']).toBe(seconds);
    expect(json(response)['retryable']).toBe(true);
  });

  it('keeps the text of an unexpected error for the log', () => {
    const settings = site();
    const response = problemResponse(new TypeError('cannot read /etc/key of undefined'), context(settings));
    expect([response.status, json(response)['code']]).toEqual([500, 'internal_error']);
    expect(json(response)['detail']).toBe('The server failed to handle the request.');
    expect(response.body).not.toContain('/etc/key');
    expect(settings.telemetry.of('error')).toMatchObject([{ detail: 'TypeError: cannot read /etc/key of undefined' }]);
  });

  it('keeps the text of a thrown value that is not an Error', () => {
    expect(toAgentBffError('a token').logDetail()).toBe('string');
    expect(toAgentBffError(REFUSAL)).toBe(REFUSAL);
  });
});

describe('a JSON-RPC error', () => {
  it('has the shape that A2A clients show', () => {
    const response = rpcErrorResponse(REFUSAL, '"call-1"', context());
    expect(json(response)).toEqual({
      jsonrpc: '2.0',
      id: 'call-1',
      error: {
        code: -32603,
        message:
          'The identity provider refused the service user. Check the "idpAServiceUser" configuration block: username, password.',
        data: [
          {
            '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
            reason: 'SERVICE_AUTH_FAILED',
            domain: 'agent-bff',
            metadata: {
              code: 'service_auth_failed',
              requestId: 'req-1',
              retryable: 'false',
              configBlock: 'idpAServiceUser',
              fields: 'username,password',
            },
          },
        ],
      },
    });
    expect(response.headers).toEqual({
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'www-authenticate': 'Bearer error="service_auth_failed"',
    });
  });

  it('has a null id for a request without one, and no unknown member', () => {
    const text = rpcErrorText(
      new AgentBffError('upstream_timeout', { detail: 'Late.', retryable: true }),
      'null',
      'req-9',
    );
    expect(JSON.parse(text)).toMatchObject({
      id: null,
      error: { message: 'Late.', data: [{ reason: 'UPSTREAM_TIMEOUT' }] },
    });
  });

  it.each(['12345678901234567890', '1.0', '"\\u00fc"'])('repeats the id %s as written', (id) => {
    const text = rpcErrorText(new AgentBffError('internal_error', { detail: 'It broke.' }), id, 'r');
    expect(text.startsWith(`{"jsonrpc":"2.0","id":${id},"error":{`)).toBe(true);
    expect(() => JSON.parse(text) as unknown).not.toThrow();
  });

  it('is one line whatever its hint holds', () => {
    expect(rpcErrorText(new AgentBffError('internal_error', { detail: 'a\nb\r\nc' }), 'null', 'r')).not.toMatch(
      /[\r\n]/,
    );
  });

  it('has the code of its own error', () => {
    const denied = new AgentBffError('method_denied', { detail: 'No.', rpcCode: -32003 });
    expect(json(rpcErrorResponse(denied, 'null', context()))).toMatchObject({ error: { code: -32003 } });
  });
});

describe('every error response', () => {
  it('has the given fields of the platform, except over its own', () => {
    const error = new AgentBffError('upstream_error', {
      detail: 'No.',
      upstreamStatus: 405,
      upstreamHeaders: { allow: 'GET', 'cache-control': 'public' },
    });
    expect(problemResponse(error, context())).toMatchObject({
      status: 405,
      headers: { allow: 'GET', 'cache-control': 'no-store', 'content-type': 'application/problem+json' },
    });
  });

  it('to a wrong method names the allowed ones', () => {
    const response = methodNotAllowed('GET, HEAD', context());
    expect([response.status, response.headers['allow']]).toEqual([405, 'GET, HEAD']);
    expect(json(response)).toMatchObject({
      detail: 'This address accepts GET, HEAD only.',
      hint: 'To check the chat in a browser, open "/config" below it.',
    });
  });

  it('to an unknown path is 404, with the path in the log', () => {
    const settings = site();
    const response = notFound(browserRequest({ method: 'GET', path: '/nowhere' }), errorContext(settings, 'chat'));
    expect(json(response)).toMatchObject({ status: 404, code: 'not_found', detail: 'There is no such route.' });
    expect(json(response)['hint']).toContain('mounted');
    expect(response.body).not.toContain('nowhere');
    expect(settings.telemetry.of('error')).toMatchObject([{ detail: 'GET /nowhere' }]);
  });
});

describe('an error of the HTTP+JSON binding', () => {
  it.each([
    [REFUSAL, 401, { configBlock: 'idpAServiceUser', fields: 'username,password' }],
    [new AgentBffError('body_invalid', { detail: 'It broke.', retryable: true }), 400, {}],
  ])('has the members of A2A 1.0: %s', (error, status, metadata) => {
    const response = errorResponse(error, REST_ERRORS, context());
    expect([response.status, response.headers['content-type']]).toEqual([status, 'application/json']);
    const facts = { code: error.code, requestId: 'req-1', retryable: String(error.retryable) };
    const reason = error.code.toUpperCase();
    const info = { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason, domain: 'agent-bff' };
    expect(json(response)).toEqual({
      error: {
        code: status,
        status: reason,
        message: error.message,
        details: [{ ...info, metadata: { ...facts, ...metadata } }],
      },
    });
  });
});

it('an error is reported with its block and fields, and without those that it lacks', () => {
  const settings = site();
  errorResponse(REFUSAL, PROBLEMS, context(settings));
  errorResponse(new AgentBffError('not_found', { detail: 'It broke.' }), PROBLEMS, context(settings));
  const event = { type: 'error', route: 'chat' };
  const [refused, lost] = settings.telemetry.of('error');
  expect(refused).toMatchObject({ ...event, block: 'idpAServiceUser', fields: ['username', 'password'] });
  expect(Object.keys(lost ?? {})).toEqual(['type', 'requestId', 'route', 'status', 'code', 'summary', 'detail']);
});

describe('a request that is refused unread', () => {
  it.each([
    ['chat', 'POST', '', true],
    ['chat', 'POST', '/', true],
    ['chat', 'POST', '/message:send', false],
    ['chat', 'GET', '', false],
    ['surface', 'POST', '', false],
  ])('at the route %s by %s "%s" gets a JSON-RPC error: %s', (route, method, path, isRpc) => {
    const error = new AgentBffError('server_closing', { detail: 'It stops.' });
    const response = refusal(error, browserRequest({ method, path }), errorContext(site(), route));
    expect([response.status, 'jsonrpc' in json(response)]).toEqual([503, isRpc]);
  });

  it.each<[...Parameters<typeof refusedForNow>, hint: string]>([
    ['server_busy', 'It is busy.', 'too many', 'Send the request again in a moment.'],
    ['server_closing', 'It stops.', undefined, 'Send the request again.'],
  ])('may be sent again after a second if the refusal is temporary: %s', (code, detail, log, hint) => {
    const error = refusedForNow(code, detail, log);
    expect(error).toMatchObject({ hint, retryable: true, retryAfterMs: 1_000 });
    expect(error.logDetail()).toBe(log ?? detail);
  });
});

describe("an error of the site's own", () => {
  const own = (changes: object): AgentBffError =>
    Object.assign(new AgentBffError('quota_used', { detail: 'No calls left.', upstreamStatus: 402 }), changes);

  it('keeps its code, its sentence and its status', () => {
    const response = problemResponse(own({}), context());
    expect(json(response)).toMatchObject({ status: 402, code: 'quota_used', detail: 'No calls left.' });
  });

  it.each([
    ['a code with a blank', { code: 'no quota' }],
    ['a code with a line break', { code: 'quota\nused' }],
    ['a code of 65 characters', { code: 'q'.repeat(65) }],
    ['a code that begins with a digit', { code: '4quota' }],
    ['a code that every object has', { code: 'constructor' }],
    ['a code of another type', { code: 7 }],
    ['a sentence of another type', { detail: 7 }],
    ['a hint of another type', { hint: {} }],
    ['fields of another type', { fields: 'quota' }],
    ['a log of another type', { logDetail: () => 7 }],
  ])('with %s is an internal error with its status', (_title, changes) => {
    const settings = site();
    const response = problemResponse(own(changes), context(settings));
    expect(json(response)).toMatchObject({ status: 402, code: 'internal_error' });
    expect(settings.telemetry.of('error')).toMatchObject([{ code: 'internal_error', detail: expect.any(String) }]);
  });

  it.each([
    [399, 500],
    [400, 400],
    [599, 599],
    [600, 500],
  ])('with the status %i is a %i', (upstreamStatus, status) => {
    const error = new AgentBffError('quota_used', { detail: 'No calls left.', upstreamStatus });
    expect(problemResponse(error, context()).status).toBe(status);
  });
});

describe('the claims that a user has to bring', () => {
  const error = (claims?: string): AgentBffError =>
    new AgentBffError('interaction_required', { detail: 'Sign in again.', ...(claims && { claims }) });

  it('are in the details of a chat error', () => {
    expect(rpcErrorText(error('{"a":1}'), 'null', 'r')).toContain(String.raw`"claims":"{\"a\":1}"`);
  });

  it('are not in it without any', () => {
    expect(rpcErrorText(error(), 'null', 'r')).not.toMatch(/claims|configBlock/);
  });
});

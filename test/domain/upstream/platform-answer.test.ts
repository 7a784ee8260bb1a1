import { describe, expect, it } from 'vitest';
import type { AgentBffError } from '../../../src/domain/shared/errors.js';
import {
  AGENT,
  type Counterpart,
  noResponse,
  PLATFORM,
  refuseRedirect,
} from '../../../src/domain/upstream/platform-error.js';
import type { HttpResponse, UpstreamFailureReason } from '../../../src/ports/http.js';
import { WatchedBody } from '../chat/chat-world.js';

function answer(status: number, headers: HttpResponse['headers'] = {}): HttpResponse & { readonly body: WatchedBody } {
  return { status, headers, body: new WatchedBody('unread') };
}

function redirectError(response: HttpResponse, counterpart: Counterpart): AgentBffError {
  try {
    refuseRedirect(response, counterpart);
  } catch (error) {
    return error as AgentBffError;
  }
  throw new Error('nothing was refused');
}

describe('a platform without a response', () => {
  const hint = 'If this lasts, check that the platform runs, and "serviceApiUrl" in configureServer';
  const reset = `${hint}: a server that expects https closes a plain connection.`;

  it.each<[UpstreamFailureReason, string, string, boolean, string?]>([
    [
      'timeout',
      'upstream_timeout',
      'The platform did not respond in time.',
      true,
      'If it needs longer, raise "headersMs" in the "timeouts" configuration block. If it never responds, check "serviceApiUrl" in configureServer.',
    ],
    ['unreachable', 'upstream_unreachable', 'The platform cannot be reached.', true, `${hint}.`],
    ['reset', 'upstream_unreachable', 'The platform cannot be reached.', true, reset],
    ['aborted', 'upstream_unreachable', 'The platform cannot be reached.', true],
    [
      'invalid',
      'upstream_invalid_response',
      'The platform sent a response that is not valid HTTP.',
      false,
      'Check scheme and port of "serviceApiUrl" in configureServer.',
    ],
  ])('is an error with its cause, and the host only in the log: %s', (reason, code, detail, retryable, advice) => {
    const thrown = noResponse({ kind: 'failure', reason, log: 'ECONNREFUSED 10.0.0.7' }, PLATFORM, true);
    // No caller waits for an aborted request, so there is no fix to name.
    const isMendable = advice !== undefined;
    const message = isMendable ? `${detail} ${advice}` : detail;
    const fields = isMendable ? ['serviceApiUrl'] : [];
    expect(thrown).toMatchObject({ name: 'UpstreamError', code, message, detail, hint: advice, fields, retryable });
    expect(thrown.logDetail()).toBe('ECONNREFUSED 10.0.0.7');
  });
});

describe('an idle connection that the agent closes as a message is sent', () => {
  it('is an error that lets the visitor send again, and blames neither the address nor its scheme', () => {
    const outcome = { kind: 'failure', reason: 'reset', log: 'ECONNRESET', sent: 'on-stale-connection' } as const;
    const error = noResponse(outcome, AGENT, false);
    expect(error).toMatchObject({
      code: 'upstream_unreachable',
      message:
        'The agent closed the connection as the request was sent. Send it again. If this lasts, have the agent keep idle connections open for longer.',
      fields: [],
      retryable: false,
    });
    expect(error.logDetail()).toBe('ECONNRESET');
  });
});

describe('a request that is not idempotent', () => {
  it.each<[UpstreamFailureReason, 'nothing' | 'on-stale-connection' | undefined, boolean]>([
    ['timeout', undefined, false],
    ['reset', undefined, false],
    ['reset', 'on-stale-connection', false],
    ['timeout', 'nothing', true],
    ['reset', 'nothing', true],
    ['unreachable', undefined, true],
  ])('is retryable only when nothing was sent: %s, sent %s', (reason, sent, retryable) => {
    const outcome = { kind: 'failure' as const, reason, log: '', ...(sent === undefined ? {} : { sent }) };
    expect(noResponse(outcome, PLATFORM, false)).toMatchObject({ retryable });
  });
});

describe('a redirect', () => {
  it.each([
    [AGENT, 'agent', 'a2aUrl'],
    [PLATFORM, 'platform', 'serviceApiUrl'],
  ] as const)('is not followed, and the error names the field to change: %j', (counterpart, name, field) => {
    const response = answer(307);
    const error = redirectError(response, counterpart);
    expect(error).toMatchObject({
      name: 'UpstreamError',
      code: 'upstream_redirect',
      detail: `The ${name} responded with a redirect, and redirects are never followed.`,
      hint: `Set "${field}" in configureServer to the final address of the ${name}; check its scheme and its trailing slash.`,
      block: 'configureServer',
      fields: [field],
      retryable: false,
    });
    expect(error.logDetail()).toBe(`status 307 from the ${name}`);
    expect(response.body.ended).toBe(true);
    const { hint } = redirectError(answer(307), { ...counterpart, fields: [field, 'other'] });
    expect(hint).toContain(`Set "${field}" and "other" in`);
  });

  it('is logged with its target without secrets, and not shown to visitors', () => {
    const location = 'https://elsewhere.example/a2a/?code=hunter2#s3cret';
    const error = redirectError(answer(308, { location }), AGENT);
    expect(error.logDetail()).toBe('status 308 from the agent, to https://elsewhere.example/a2a/');
    expect(error.message).not.toMatch(/elsewhere/);
  });

  it.each([
    'https://idp.example/login?next=%2Fa2a',
    '/sign-in',
    'https://idp.example/logon',
    'https://idp.example/oauth/start',
    'https://login.example/tenant/oauth2/v2.0/authorize',
    '/saml/sso',
  ])('to a sign-in page is reported as such: %s', (location) => {
    const error = redirectError(answer(302, { location }), AGENT);
    expect(error).toMatchObject({
      code: 'upstream_redirect',
      detail: 'The agent redirects to a sign-in page, and redirects are never followed.',
      hint: 'Check "a2aUrl" in configureServer: it must be the JSON-RPC endpoint of the agent. If the address is right, exempt requests with the credential of this site from the sign-in.',
      fields: ['a2aUrl'],
    });
  });

  it.each([300, 399])('includes a response with %i', (status) => {
    expect(redirectError(answer(status), PLATFORM)).toMatchObject({ code: 'upstream_redirect' });
  });

  it.each([200, 299, 400, 500])('does not include a response with %i', (status) => {
    const response = answer(status);
    refuseRedirect(response, PLATFORM);
    expect(response.body.ended).toBe(false);
  });
});

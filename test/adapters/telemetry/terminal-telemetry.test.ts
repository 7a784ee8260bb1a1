import { describe, expect, it } from 'vitest';
import { FaultLog, TerminalTelemetry } from '../../../src/adapters/telemetry/terminal-telemetry.js';
import { errorResponse, PROBLEMS } from '../../../src/adapters/web/error-response.js';
import { AgentBffError, type ErrorCode, type ErrorFacts } from '../../../src/domain/shared/errors.js';
import type { TelemetryEvent } from '../../../src/ports/telemetry.js';
import { telemetryContract } from '../../contracts/telemetry.contract.js';

const quiet = () => new FaultLog({ now: () => 0, write: () => undefined });
telemetryContract('what tells the terminal', () => new TerminalTelemetry(quiet(), { name: 'site', secrets: [] }));

function terminal(...secrets: string[]) {
  const lines: string[] = [];
  let now = 0;
  const log = new FaultLog({ now: () => now, write: (line) => lines.push(line) });
  const telemetry = new TerminalTelemetry(log, { name: 'site', secrets });
  let requests = 0;
  return {
    lines,
    passHour: () => {
      now += 3_600_000;
    },
    telemetry,
    /** Emits an error as a route does. */
    fail: (code: ErrorCode, facts: Partial<ErrorFacts> = {}, route = 'chat') => {
      requests += 1;
      const site = { telemetry, authUnavailableStatus: 401, newRequestId: () => '' };
      const error = new AgentBffError(code, { detail: 'It failed.', ...facts });
      errorResponse(error, PROBLEMS, { site, route, requestId: `r-${String(requests)}` });
    },
  };
}

const WORKS: TelemetryEvent = {
  type: 'request',
  requestId: 'r',
  route: 'surface',
  method: 'GET',
  status: 200,
  durationMs: 1,
};
const AGENT = { hint: 'Check "a2aUrl" in configureServer.', block: 'configureServer', fields: ['a2aUrl'] };

describe('the terminal', () => {
  it("shows the visitor's message, the reason and the request", () => {
    const { lines, fail } = terminal();
    fail('upstream_unreachable', { ...AGENT, log: 'ECONNREFUSED: connect ECONNREFUSED 10.0.0.7:443' });
    expect(lines).toEqual([
      'agent-bff: chat: It failed. Check "a2aUrl" in configureServer. (ECONNREFUSED: connect ECONNREFUSED 10.0.0.7:443; request r-1)',
    ]);
  });

  it('shows the failure of an agent in one line, with its words or without', () => {
    const { lines, telemetry } = terminal();
    const summary = 'The agent answered with an error of its own. Look at its log.';
    const detail = `${summary} status 500 from the agent, application/json: {"error":"no model"}`;
    telemetry.emit({ type: 'warning', code: 'agent_failed', summary, detail });
    telemetry.emit({
      type: 'warning',
      code: 'agent_failed',
      detail: 'The agent sent an empty event stream. Look at its log.',
    });
    expect(lines).toEqual([
      `agent-bff: ${summary} (status 500 from the agent, application/json: {"error":"no model"})`,
      'agent-bff: The agent sent an empty event stream. Look at its log.',
    ]);
  });

  it('has no label for a request outside the routes', () => {
    const { lines, fail } = terminal();
    fail('not_found', {}, 'none');
    expect(lines).toEqual(['agent-bff: It failed. (request r-1)']);
  });

  it('shows a reason once', () => {
    const { lines, fail } = terminal();
    fail('service_auth_failed', { hint: 'Set "serviceApiKey".', block: 'configureServer' });
    expect(lines).toEqual(['agent-bff: chat: It failed. Set "serviceApiKey". (request r-1)']);
  });

  it.each<[ErrorCode, Partial<ErrorFacts>]>([
    ['configuration_invalid', {}],
    ['service_auth_failed', { block: 'idpA' }],
    ['identity_provider_unavailable', { block: 'idpA' }],
    ['service_token_rejected', { block: 'idpA' }],
    ['body_consumed', {}],
    ['upstream_unreachable', AGENT],
    ['upstream_timeout', {}],
    ['upstream_redirect', AGENT],
    ['upstream_invalid_response', {}],
    ['upstream_error', { upstreamStatus: 500 }],
    ['upstream_error', { ...AGENT, upstreamStatus: 404 }],
    ['agent_binding_unsupported', {}],
    ['server_busy', {}],
    ['internal_error', {}],
  ])('shows %s', (code, facts) => {
    const { lines, fail } = terminal();
    fail(code, facts);
    expect(lines).toHaveLength(1);
  });

  it.each<[ErrorCode, Partial<ErrorFacts>]>([
    ['session_expired', { log: 'the refresh token was revoked' }],
    ['interaction_required', {}],
    ['rate_limited', {}],
    ['body_invalid', {}],
    ['body_too_large', {}],
    ['body_timeout', {}],
    ['content_encoding_unsupported', {}],
    ['method_denied', {}],
    ['upgrade_unsupported', {}],
    ['server_closing', {}],
    ['upstream_unreachable', { log: 'the browser left' }],
    ['upstream_error', { upstreamStatus: 409 }],
  ])('shows no fault of a visitor: %s', (code, facts) => {
    const { lines, fail } = terminal();
    fail(code, facts);
    expect(lines).toEqual([]);
  });

  it.each<[ErrorCode, string]>([
    ['session_required', '"getSessionToken"'],
    ['origin_refused', '"publicUrl"'],
    ['host_refused', '"allowedHosts"'],
    ['not_found', 'It failed.'],
    ['method_not_allowed', 'It failed.'],
    ['content_type_unsupported', 'It failed.'],
  ])('shows %s once with advice, and not after the route has served a visitor', (code, field) => {
    const first = terminal();
    first.telemetry.emit({ ...WORKS, route: 'chat', status: 400 });
    first.fail(code);
    first.passHour();
    first.fail(code);
    expect(first.lines).toEqual([expect.stringContaining(field)]);
    const later = terminal();
    later.telemetry.emit({ ...WORKS, route: 'chat' });
    later.fail(code);
    expect(later.lines).toEqual([]);
  });

  it('shows a fault with the ids of ten requests a minute, whatever visitors send', () => {
    const { lines, fail } = terminal();
    for (let visitor = 1; visitor <= 500; visitor += 1) {
      const log = `status 500 from the platform, text/plain: you sent ${String(visitor)}`;
      fail('upstream_error', { upstreamStatus: 500, log }, 'conversation');
    }
    const ids = Array.from({ length: 10 }, (_, index) => String(index + 1));
    expect(lines).toEqual(
      ids.map((id) => expect.stringMatching(`It failed\\. \\(status 500 .*you sent ${id}; request r-${id}\\)$`)),
    );
  });

  it('shows a warning, a cache fault and a fault without a request once a minute: no visitor sees its id', () => {
    const { lines, telemetry } = terminal();
    for (const requestId of ['r-1', 'r-2', 'r-3']) {
      telemetry.emit({ type: 'cache_fault', requestId, operation: 'get', detail: 'ECONNREFUSED' });
      telemetry.emit({ type: 'warning', requestId, code: 'clock_skew', detail: 'ten minutes late' });
      telemetry.emit({ type: 'stream_broken', route: 'chat', side: 'upstream', detail: 'reset' });
    }
    expect(lines).toHaveLength(3);
  });

  it('counts faults by route, field and reason', () => {
    const { lines, fail, telemetry } = terminal();
    for (let visitor = 0; visitor < 20; visitor += 1) {
      fail('upstream_unreachable', { ...AGENT, log: 'ECONNREFUSED: no' });
      fail('upstream_unreachable', { ...AGENT, log: 'ENOTFOUND: no' });
      fail('upstream_unreachable', { ...AGENT, log: 'ENOTFOUND: no' }, 'config');
      fail('upstream_unreachable', { ...AGENT, fields: ['serviceApiUrl'], log: 'ENOTFOUND: no' }, 'config');
      for (const route of ['chat', 'surface'])
        telemetry.emit({ type: 'stream_broken', requestId: 'r', route, side: 'upstream', detail: 'reset' });
      for (const detail of ['ECONNREFUSED', 'ETIMEDOUT'])
        telemetry.emit({ type: 'cache_fault', requestId: 'r', operation: 'get', detail });
      fail('not_found');
      fail('method_not_allowed');
    }
    expect(lines).toHaveLength(10 * (4 + 2) + 2 + 2);
  });

  it('shows a 404 of the platform until the route has worked once', () => {
    const { lines, fail, telemetry } = terminal();
    telemetry.emit(WORKS);
    fail('upstream_error', { ...AGENT, upstreamStatus: 404 }, 'surface');
    expect(lines).toEqual([]);
    // Another configuration may have another address.
    telemetry.learn({ name: 'site', secrets: [] });
    fail('upstream_error', { ...AGENT, upstreamStatus: 404 }, 'surface');
    expect(lines).toHaveLength(1);
    // The path of the chat is known from the configuration only.
    telemetry.emit({ ...WORKS, route: 'chat' });
    fail('upstream_error', { ...AGENT, upstreamStatus: 404 });
    expect(lines).toHaveLength(2);
  });

  it('shows faults of the shared cache, streams broken by the platform and warnings', () => {
    const { lines, telemetry } = terminal();
    telemetry.emit({ type: 'cache_fault', operation: 'get', detail: 'Error ECONNREFUSED' });
    telemetry.emit({ type: 'cache_fault', operation: 'set', detail: 'Error ECONNREFUSED' });
    telemetry.emit({
      type: 'stream_broken',
      requestId: 'r-1',
      route: 'chat',
      side: 'upstream',
      detail: 'other side closed',
    });
    telemetry.emit({ type: 'stream_broken', requestId: 'r-2', route: 'chat', side: 'browser', detail: 'it left' });
    telemetry.emit({ type: 'warning', code: 'clock_skew', detail: 'the clock is 40 s ahead' });
    const summary = 'Nothing is found there. Check "serviceApiUrl" in configureServer.';
    const reason = 'status 404 from the platform, text/html';
    telemetry.emit({ type: 'warning', code: 'project_unavailable', summary, detail: `${summary} ${reason}` });
    telemetry.emit({ type: 'warning', code: 'brand_unavailable', summary, detail: reason });
    expect(lines).toEqual([
      'agent-bff: The shared cache fails; visitors are served without it. Check "cacheStore" in configureServer. (Error ECONNREFUSED)',
      'agent-bff: chat: A stream from the platform broke before its end. (other side closed; request r-1)',
      'agent-bff: the clock is 40 s ahead',
      `agent-bff: ${summary} (${reason})`,
      `agent-bff: ${summary} (${reason})`,
    ]);
  });

  it('shows no success, backoff or retry', () => {
    const { lines, telemetry } = terminal();
    telemetry.emit({ type: 'token', outcome: 'backoff', block: 'idpA', detail: 'refused' });
    telemetry.emit({ type: 'retry', method: 'GET', cause: 'stale_connection', detail: 'reset' });
    telemetry.emit({ type: 'cache', route: 'surface', outcome: 'miss' });
    expect(lines).toEqual([]);
  });

  it('shows no secret, on one line', () => {
    const { lines, fail, telemetry } = terminal('hunter2-hunter2');
    telemetry.learn({ name: 'site', secrets: ['swordfish-swordfish'] });
    fail('internal_error', {
      log: 'Error: hunter2-hunter2, swordfish-swordfish\nBearer abcdefgh1234 and eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln',
    });
    expect(lines).toEqual([
      'agent-bff: chat: It failed. (Error: [redacted], [redacted] Bearer [redacted] and [redacted]; request r-1)',
    ]);
  });
});

import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import {
  AgentBffError,
  ConfigurationError,
  isAgentBffError,
  RequestError,
  ServiceAuthError,
  SessionError,
  UpstreamError,
} from '../../../src/domain/shared/errors.js';

describe('an error of this package', () => {
  it('has the detail and the hint in its message', () => {
    const error = new AgentBffError('internal_error', { detail: 'It broke.', hint: 'Repair it.' });
    expect(error.message).toBe('It broke. Repair it.');
    expect(String(error)).toBe('AgentBffError: It broke. Repair it.');
  });

  it('has every property of its cause', () => {
    const facts = {
      detail: 'It broke.',
      hint: 'Repair it.',
      block: 'idpA',
      fields: ['clientId'],
      retryable: true,
      retryAfterMs: 5,
      rpcCode: -32003,
      upstreamStatus: 503,
    };
    expect(new AgentBffError('upstream_error', facts)).toMatchObject({ code: 'upstream_error', ...facts });
  });

  it('with a detail alone has it as message and text for the log, no fields, and is not retryable', () => {
    const error = new AgentBffError('internal_error', { detail: 'It broke.' });
    expect(error).toMatchObject({ message: 'It broke.', retryable: false, fields: [] });
    expect(error.logDetail()).toBe('It broke.');
  });

  it('can have a text for the log only', () => {
    const error = new AgentBffError('internal_error', { detail: 'It broke.', log: 'at idp.internal' });
    expect(error.logDetail()).toBe('at idp.internal');
    const shown = [
      inspect(error, { depth: 12, showHidden: true }),
      JSON.stringify(error),
      String(error),
      JSON.stringify(Object.assign({}, error)),
    ];
    expect(shown.join('\n')).not.toContain('idp.internal');
  });

  it.each([
    [new ConfigurationError({ detail: 'd' }), 'ConfigurationError', 'configuration_invalid'],
    [new ServiceAuthError('service_auth_failed', { detail: 'd' }), 'ServiceAuthError', 'service_auth_failed'],
    [new SessionError('session_expired', { detail: 'd' }), 'SessionError', 'session_expired'],
    [new RequestError('body_invalid', { detail: 'd' }), 'RequestError', 'body_invalid'],
    [new UpstreamError('upstream_timeout', { detail: 'd' }), 'UpstreamError', 'upstream_timeout'],
  ])('has the name of its class: %s', (error, name, code) => {
    expect([error.name, error.code]).toEqual([name, code]);
    expect(error).toBeInstanceOf(AgentBffError);
    expect(error).toBeInstanceOf(Error);
  });

  it('is recognized from another copy of the package', () => {
    const mark = Symbol.for('agent-bff/error@1');
    expect(isAgentBffError(new RequestError('body_invalid', { detail: 'd' }))).toBe(true);
    expect(isAgentBffError({ [mark]: true })).toBe(true);
    expect(Object.keys(new AgentBffError('internal_error', { detail: 'd' }))).not.toContain(String(mark));
  });

  it.each([undefined, null, 'internal_error', 7, {}, { code: 'internal_error' }, new Error('no')])(
    'is not recognized in %s',
    (value) => {
      expect(isAgentBffError(value)).toBe(false);
    },
  );
});

import { describe, expect, it } from 'vitest';
import { checkVisitor } from '../../../src/adapters/web/admission.js';
import type { RouteAuth } from '../../../src/domain/credentials/route-auth.js';
import type { SessionToken } from '../../../src/ports/session-token-source.js';
import type { AgentBffError } from '../../../src/domain/shared/errors.js';
import type { LimitVerdict, VisitorLimit } from '../../../src/ports/visitor-limit.js';
import { SERVICE, sessionPlan } from '../../domain/credentials/broker-fixture.js';
import { site } from './browser-request.js';

const NATIVE = { ip: '192.0.2.1' };

/** One request on a site that limits visitors and users. Returns the limiter's calls. */
async function count(auth: RouteAuth, kind: 'message' | 'reading' = 'message', verdict?: LimitVerdict) {
  const { telemetry } = site();
  const calls: unknown[][] = [];
  const limit = (name: string) => {
    const call =
      (method: string) =>
      (...asked: unknown[]): Promise<LimitVerdict> => {
        calls.push([name, method, ...asked]);
        return Promise.resolve(verdict ?? { kind: 'admitted' });
      };
    return { admit: call('admit'), admitReading: call('admitReading') };
  };
  const policy = { chatLimit: limit('chatLimit'), userLimit: limit('userLimit'), telemetry };
  await checkVisitor({ headers: {}, native: { request: NATIVE } }, policy, auth, kind);
  return { calls, telemetry };
}

const signedIn = (names: object): RouteAuth =>
  sessionPlan({ getToken: () => Promise.resolve({ kind: 'token', accessToken: 't', ...names } as SessionToken) });
const signedOut = sessionPlan({ getToken: () => Promise.resolve({ kind: 'no-session' }) });

describe('a limit of visitors', () => {
  it.each<[string, RouteAuth, 'message' | 'reading', unknown[][]]>([
    ['a message of a visitor', SERVICE, 'message', [['chatLimit', 'admit', NATIVE, undefined]]],
    ['a request for a task of a visitor', SERVICE, 'reading', [['chatLimit', 'admitReading', NATIVE, undefined]]],
    [
      'a message of a user',
      signedIn({ subject: 'ada' }),
      'message',
      [['userLimit', 'admit', NATIVE, '["","subject","ada"]']],
    ],
    [
      'a message of a user with a tenant',
      signedIn({ subject: 'ada', tenant: 't' }),
      'message',
      [['userLimit', 'admit', NATIVE, '["t","subject","ada"]']],
    ],
    ['a message of a user without a name', signedIn({}), 'message', [['userLimit', 'admit', NATIVE, '']]],
    ['nothing without a session', signedOut, 'message', []],
  ])('counts %s', async (_what, auth, kind, calls) => {
    expect((await count(auth, kind)).calls).toEqual(calls);
  });

  it.each<[number, 'message' | 'reading', string, string]>([
    [0, 'message', 'Too many messages in a short time.', 'Try again in 1 second.'],
    [1_000, 'reading', 'Too many requests in a short time.', 'Try again in 1 second.'],
    [1_001, 'message', 'Too many messages in a short time.', 'Try again in 2 seconds.'],
  ])('refuses for %i ms, in whole seconds: %s', async (retryAfterMs, kind, detail, hint) => {
    await expect(count(SERVICE, kind, { kind: 'refused', retryAfterMs })).rejects.toMatchObject({
      code: 'rate_limited',
      detail,
      hint,
      retryable: true,
      retryAfterMs: retryAfterMs > 1_000 ? 2_000 : 1_000,
    });
  });

  it.each([
    ['chatLimit', SERVICE],
    ['userLimit', signedIn({})],
  ])('admits with a warning that names %s when the limiter does not know', async (option, auth) => {
    const { telemetry } = await count(auth, 'message', { kind: 'unknown', log: 'late' });
    const summary = `A visitor was admitted without being counted. Check "${option}" in configureServer.`;
    const detail = `${summary} late`;
    expect(telemetry.of('warning')).toEqual([{ type: 'warning', code: 'limit_unknown', summary, detail }]);
  });

  it.each<[string, () => unknown, RegExp]>([
    ['throws', () => (undefined as unknown as Date).getTime(), /^it threw TypeError at .*visitor-limit\.test\.ts:\d+/],
    [
      'rejects',
      () => Promise.reject(new RangeError('token=s3cr3t')),
      /^it threw RangeError at .*visitor-limit\.test\.ts:\d+/,
    ],
    ['returns nothing', () => undefined, /^it returned no verdict\.$/],
    ['returns true', () => Promise.resolve(true), /^it returned no verdict\.$/],
  ])("that %s is named in the log, without the error's message", async (_what, admit, reason) => {
    const limit = { admit, admitReading: admit } as Required<VisitorLimit>;
    const request = { headers: {}, native: { request: NATIVE } };
    for (const [option, auth] of [
      ['chatLimit', SERVICE],
      ['userLimit', signedIn({ subject: 'ada' })],
    ] as const) {
      const counted = checkVisitor(request, { [option]: limit, telemetry: site().telemetry }, auth);
      const error = (await counted.catch((thrown: unknown) => thrown)) as AgentBffError;
      expect(error).toMatchObject({ code: 'internal_error', block: option });
      const [named, log = ''] = error.logDetail().split(`"${option}" failed: `);
      expect(named).toBe('The function in ');
      expect(log).toMatch(reason);
      expect(log).not.toContain('s3cr3t');
    }
  });
});

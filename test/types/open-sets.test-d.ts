import {
  createToolkit,
  type ErrorCode,
  type ExchangeOutcome,
  fromFunction,
  type IssueOutcome,
  type LimitVerdict,
  type SessionToken,
  type TelemetryEvent,
  type UpstreamOutcome,
} from 'agent-bff';
import { createA2ARouter } from 'agent-bff/express';
import express from 'express';
import { describe, it } from 'vitest';

describe('codes of errors and types of events', () => {
  it('are open: code that handles all of today needs an answer to the others', () => {
    const code: ErrorCode = 'a_code_of_the_site';
    const event = {} as TelemetryEvent;
    // @ts-expect-error not all codes are known
    if (code !== 'internal_error') code satisfies never;
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check
    switch (event.type) {
      case 'request':
      case 'chat':
      case 'stream_ended':
      case 'error':
      case 'upstream':
      case 'retry':
      case 'token':
      case 'cache':
      case 'stream_broken':
      case 'cache_fault':
      case 'warning':
        break;
      default:
        // @ts-expect-error a minor version may add types
        event satisfies never;
    }
  });

  it('are still told apart by name', () => {
    const event = {} as TelemetryEvent;
    if (event.type === 'error') event.summary satisfies string;
    if (event.type === 'chat') event.bytes satisfies number;
  });
});

describe('texts for the log', () => {
  it('are "log" in outcomes, refusals, verdicts and sessions', () => {
    const failure = { kind: 'failure', reason: 'refused', block: 'okta', fields: [], advice: '' } as const;
    ({ ...failure, log: '' }) satisfies IssueOutcome;
    ({ kind: 'user-refused', reason: 'expired', log: '' }) satisfies ExchangeOutcome;
    ({ kind: 'unknown', log: '' }) satisfies LimitVerdict;
    ({ kind: 'failure', reason: 'reset', log: '' }) satisfies UpstreamOutcome;
    ({ kind: 'expired', log: '' }) satisfies SessionToken;
    // @ts-expect-error no detail
    ({ ...failure, detail: '' }) satisfies IssueOutcome;
    // @ts-expect-error no detail
    ({ kind: 'user-refused', reason: 'expired', detail: '' }) satisfies ExchangeOutcome;
    // @ts-expect-error no detail
    ({ kind: 'unknown', detail: '' }) satisfies LimitVerdict;
    // @ts-expect-error no detail
    ({ kind: 'failure', reason: 'reset', detail: '' }) satisfies UpstreamOutcome;
    // @ts-expect-error no detail
    ({ kind: 'expired', detail: '' }) satisfies SessionToken;
    // @ts-expect-error no detail, also in a function
    fromFunction(() => ({ kind: 'expired', detail: '' }));
  });
});

describe('a wrong use', () => {
  it('does not compile: a Date for milliseconds, or the functions of Auth.js for a session', () => {
    // @ts-expect-error seconds are no Date, and a Date no milliseconds
    fromFunction(() => ({ kind: 'token', accessToken: 't', expiresAt: new Date() }));
    // @ts-expect-error for `auth` of Auth.js, pass authJsSession(auth)
    createA2ARouter(express, { auth: async () => Promise.resolve({ user: { name: 'Ada' }, expires: '2026' }) });
    // @ts-expect-error a Response is no token
    createA2ARouter(express, { auth: async () => Promise.resolve(new Response()) });
    // @ts-expect-error bounds nothing
    createA2ARouter(express, { cache: { maxEntries: 1 } });
    // @ts-expect-error not a server
    void createToolkit({}).shutDown({ graceMs: 1 });
  });
});

import { expect, it } from 'vitest';
import { RecordingTelemetry } from '../../../src/adapters/fakes/fakes.js';
import { checkedSession } from '../../../src/domain/credentials/site-results.js';
import type { SessionToken } from '../../../src/ports/session-token-source.js';

// `expires_in * 1000` where the provider names none; the ISO text of a session; a column of a database.
it.each([Number.NaN, '2026-11-27T12:00:00Z', null])(
  'a token whose expiry is %s is one of unknown lifetime',
  (expiresAt) => {
    const found = { kind: 'token', accessToken: 'token-1', expiresAt } as SessionToken;
    expect(checkedSession(found, new RecordingTelemetry())).toEqual({ kind: 'token', accessToken: 'token-1' });
  },
);

it.each([undefined, 0, Date.UTC(2026, 10, 27)])('a token whose expiry is %s keeps it', (expiresAt) => {
  const found = { kind: 'token', accessToken: 'token-1', expiresAt } as SessionToken;
  expect(checkedSession(found, new RecordingTelemetry())).toBe(found);
});

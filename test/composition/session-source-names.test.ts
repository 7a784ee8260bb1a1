import { expect, it } from 'vitest';
import { FakeClock } from '../../src/adapters/fakes/fakes.js';
import { fromFunction } from '../../src/adapters/sessions/stored-token.js';
import { redactingSessionSource } from '../../src/adapters/telemetry/request-scope.js';
import { CoalescingSessionSource } from '../../src/domain/credentials/coalescing-session-source.js';
import type { SessionTokenSource } from '../../src/ports/session-token-source.js';
import { routeCredentials } from './route-credentials.js';
import { memoryOf } from '../support/memory.js';

const redacting = (source: SessionTokenSource): SessionTokenSource => redactingSessionSource(source, (work) => work);
const coalescing = (source: SessionTokenSource): SessionTokenSource =>
  new CoalescingSessionSource({
    source,
    clock: new FakeClock(),
    hash: (text) => text,
    hide: () => undefined,
    memory: memoryOf(new FakeClock()),
  });

it.each<[string, (source: SessionTokenSource) => SessionTokenSource]>([
  ['to redact its failures', redacting],
  ['to share calls between the requests of a session', coalescing],
  ['by a route', (getSessionToken) => routeCredentials().session(getSessionToken, {}).source],
])('a session source keeps its name when wrapped %s', (_what, wrapped) => {
  expect(wrapped(fromFunction(() => null, { name: 'staff' })).name).toBe('staff');
  expect(wrapped(fromFunction(() => null)).name).toBeUndefined();
});

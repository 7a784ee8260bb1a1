import type { Container, ContainerModuleLoadOptions } from 'inversify';
import { describe, expectTypeOf, it } from 'vitest';
import { provide, rebind } from '../../src/composition/toolkit/container.js';
import { ChatForwarder } from '../../src/domain/chat/chat-forwarder.js';
import type { PlatformCall } from '../../src/domain/upstream/platform-call.js';
import type { Clock } from '../../src/ports/clock.js';
import type { HttpUpstream } from '../../src/ports/http.js';
import type { Telemetry } from '../../src/ports/telemetry.js';

declare const bind: ContainerModuleLoadOptions['bind'];
declare const container: Container;

/** Never called: the compiler is the test. */
function forwarder(parts: { readonly call: PlatformCall; readonly telemetry: Telemetry }): ChatForwarder {
  const card = (): Promise<never> => Promise.reject(new Error());
  const timeouts = { headersMs: 0, bodyIdleMs: 0 };
  return new ChatForwarder({ ...parts, agent: undefined, timeouts, card, nextTurn: () => Promise.resolve() });
}

describe('a binding', () => {
  it('compiles with the parts that its function requires', () => {
    provide(bind, 'forwarder', ['call', 'telemetry'], forwarder);
    provide(bind, 'clock', [], () => ({ now: () => 0 }));
  });

  it('has the exact types of its parts', () => {
    provide(bind, 'clock', ['clock', 'upstream'], (parts) => {
      expectTypeOf(parts).toEqualTypeOf<{ readonly clock: Clock; readonly upstream: HttpUpstream }>();
      return parts.clock;
    });
  });

  it('does not compile with a part missing', () => {
    // @ts-expect-error the function also requires the telemetry
    provide(bind, 'forwarder', ['call'], forwarder);
  });

  it('does not compile with a part that is not bound', () => {
    // @ts-expect-error no part has this name
    provide(bind, 'forwarder', ['call', 'telemetry', 'chat'], forwarder);
  });

  it('does not compile when it creates another type', () => {
    // @ts-expect-error a clock is not a chat forwarder
    provide(bind, 'forwarder', ['clock'], ({ clock }) => clock);
  });

  it('does not compile when it is replaced by another type', () => {
    // @ts-expect-error a clock is not an upstream
    rebind(container, 'upstream', { now: () => 0 });
  });
});

import type { ContainerModuleLoadOptions } from 'inversify';
import { describe, expectTypeOf, it } from 'vitest';
import { provide, type Token, TOKENS } from '../../src/composition/toolkit/container.js';
import { ChatForwarder } from '../../src/domain/chat/chat-forwarder.js';
import type { PlatformCall } from '../../src/domain/upstream/platform-call.js';
import type { Clock } from '../../src/ports/clock.js';
import type { HttpUpstream } from '../../src/ports/http.js';
import type { Telemetry } from '../../src/ports/telemetry.js';

declare const bind: ContainerModuleLoadOptions['bind'];

/** Never called: the compiler is the test. */
function forwarder(call: PlatformCall, telemetry: Telemetry): ChatForwarder {
  return new ChatForwarder({ call, telemetry, agent: undefined, timeouts: { headersMs: 0, bodyIdleMs: 0 } });
}

describe('a binding', () => {
  it('compiles with the dependencies its function takes, in their order', () => {
    provide(bind, TOKENS.ChatForwarder, [TOKENS.PlatformCall, TOKENS.Telemetry], forwarder);
    provide(bind, TOKENS.Clock, [], () => ({ now: () => 0 }));
  });

  it('knows the types of its dependencies', () => {
    provide(bind, TOKENS.Clock, [TOKENS.Clock, TOKENS.Upstream], (clock, upstream) => {
      expectTypeOf(clock).toEqualTypeOf<Clock>();
      expectTypeOf(upstream).toEqualTypeOf<HttpUpstream>();
      return clock;
    });
  });

  it('does not compile with dependencies swapped', () => {
    // @ts-expect-error the function takes the call first
    provide(bind, TOKENS.ChatForwarder, [TOKENS.Telemetry, TOKENS.PlatformCall], forwarder);
  });

  it('does not compile with a dependency missing', () => {
    // @ts-expect-error the function takes the telemetry too
    provide(bind, TOKENS.ChatForwarder, [TOKENS.PlatformCall], forwarder);
  });

  it('does not compile when it makes something else', () => {
    // @ts-expect-error a clock is no chat forwarder
    provide(bind, TOKENS.ChatForwarder, [TOKENS.Clock], (clock) => clock);
  });
});

describe('a token', () => {
  it('is told from a token of another type', () => {
    expectTypeOf<Token<Clock>>().not.toExtend<Token<HttpUpstream>>();
    expectTypeOf(TOKENS.Clock).toEqualTypeOf<Token<Clock>>();
  });
});

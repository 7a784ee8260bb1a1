import { ContainerModule } from 'inversify';
import { ChatForwarder } from '../domain/chat/chat-forwarder.js';
import { provide } from './provide.js';
import type { ResolvedConfig } from './resolve-config.js';
import { TOKENS } from './tokens.js';

/** Binds the domain: what the routes call. */
export function domainModule({ agent, timeouts }: ResolvedConfig): ContainerModule {
  return new ContainerModule(({ bind }) => {
    provide(
      bind,
      TOKENS.ChatForwarder,
      [TOKENS.Upstream, TOKENS.CredentialBroker],
      (upstream, credentials) =>
        new ChatForwarder({
          upstream,
          credentials,
          agent,
          headersMs: timeouts.headersMs,
          bodyIdleMs: timeouts.bodyIdleMs,
        }),
    );
  });
}

import { type SessionTokenLike, asSessionTokenSource } from '../../adapters/sessions/as-session-token-source.js';
import { sha256 } from '../../adapters/system/sha256.js';
import { redactingSessionSource } from '../../adapters/telemetry/redacting-session-source.js';
import { hideToken } from '../../adapters/telemetry/request-scope.js';
import { inTime } from '../../adapters/system/timed-ports.js';
import type { CredentialAuth } from '../../domain/credentials/credential-broker.js';
import { ExchangedTokens } from '../../domain/credentials/exchanged-tokens.js';
import { CoalescingSessionSource } from '../../domain/credentials/coalescing-session-source.js';
import type { TokenCache } from '../../domain/credentials/token-cache.js';
import type { Clock } from '../../ports/clock.js';
import type { SessionTokenSource } from '../../ports/session-token-source.js';
import type { TokenExchange } from '../../ports/token-exchange.js';
import { headerSecret } from '../config/header-secret.js';

const MAX_SESSIONS = 10_000;

/** What the auth of session routes is made with. */
export interface SessionAuthsDependencies {
  readonly clock: Clock;
  readonly tokens: TokenCache;
  readonly exchange: TokenExchange;
  /** Whether every session route exchanges. */
  readonly alwaysExchange: boolean;
  /** Milliseconds for one answer of a session library; 0 waits for ever. */
  readonly sessionMs: number;
}

/** What every route of signed-in users may be told. */
interface UserOptions {
  readonly audience?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly exchange?: 'on_behalf_of' | undefined;
}

type UserAuth<Required extends boolean> = Extract<CredentialAuth, { kind: 'session' }> & {
  readonly required: Required;
};

/** Makes the auth of routes for signed-in users: one set of coalesced refreshes for each session library, whichever route uses it. */
export class SessionAuths {
  readonly #deps: SessionAuthsDependencies;
  readonly #exchanged: ExchangedTokens;
  readonly #sources = new Map<SessionTokenSource, SessionTokenSource>();

  constructor(dependencies: SessionAuthsDependencies) {
    const { clock, tokens, exchange } = dependencies;
    this.#deps = dependencies;
    this.#exchanged = new ExchangedTokens({ exchange, tokens, clock, hash: sha256, block: 'onBehalfOf' });
  }

  authFor<Required extends boolean>(
    like: SessionTokenLike,
    { required, audience = '', apiKey, exchange }: UserOptions & { readonly required: Required },
  ): UserAuth<Required> {
    return {
      kind: 'session',
      required,
      apiKey: headerSecret(apiKey),
      source: this.#coalesced(asSessionTokenSource(like)),
      audience,
      exchange: exchange !== undefined || this.#deps.alwaysExchange ? this.#exchanged : undefined,
    };
  }

  #coalesced(source: SessionTokenSource): SessionTokenSource {
    let tokens = this.#sources.get(source);
    if (tokens === undefined) {
      const { clock, sessionMs } = this.#deps;
      // Inside the shared flight: an answer that never comes would keep a whole session waiting.
      const safe = redactingSessionSource(source, (work) => inTime(work, sessionMs, 'the session library'));
      tokens = new CoalescingSessionSource({
        source: safe,
        clock,
        hash: sha256,
        hide: hideToken,
        maxEntries: MAX_SESSIONS,
      });
      this.#sources.set(source, tokens);
    }
    return tokens;
  }
}

import type { Secret } from '../domain/shared/secret.js';
import type { AnySettings, Rows, Setting } from '../domain/shared/setting.js';
import type { Clock } from './clock.js';
import type { Telemetry } from './telemetry.js';

/**
 * The result of asking an identity provider: a token for calls to the platform, or a failure that names the fields to
 * check.
 *
 * @public
 */
export type IssueOutcome =
  | {
      readonly kind: 'token';
      readonly token: {
        /** The token without `Bearer`. */
        readonly value: string;
        /** Milliseconds since the epoch. */
        readonly expiresAt: number;
      };
    }
  | {
      readonly kind: 'failure';
      /**
       * - `incomplete`: the configuration lacks a field; no request was sent
       * - `refused`: the provider rejected the request, or the key is unusable; retrying does not help
       * - `unavailable`: the provider was unreachable or out of order
       */
      readonly reason: 'incomplete' | 'refused' | 'unavailable';
      /** The configuration block to check, such as `idpAServiceUser`. */
      readonly block: string;
      /** The fields of that block to check. */
      readonly fields: readonly string[];
      /** One sentence of advice. Public, so it names blocks and fields only. */
      readonly advice: string;
      /** For the server's log only: provider messages, paths and codes, without secrets. */
      readonly log: string;
      /** The pause the provider requested, in milliseconds. */
      readonly retryAfterMs?: number;
    };

export type AccessToken = Extract<IssueOutcome, { readonly kind: 'token' }>['token'];

export type IssueFailure = Extract<IssueOutcome, { readonly kind: 'failure' }>;

/**
 * Issues tokens for the site's own calls to the platform. Callers cache and coalesce; each call sends one request to
 * the provider.
 *
 * @public
 */
export interface IdentityProvider {
  /** The configuration block that hints name when no better one is known, such as `serviceAccount`. */
  readonly block: string;
  /** @internal True if `issue` signs locally, so that the caller's `now` ends up in the token. Default: false. */
  readonly signsLocally?: boolean;
  /** @internal True if wrong secrets lock an account, so that processes ask one after the other. Default: false. */
  readonly takesTurns?: boolean;
  /** @internal Called when the platform rejects a token: reads the credentials, such as a key file, again. */
  recheck?(): void;
  /**
   * The owner of its tokens, and the proof it obtains them with. Called before a token is requested, never for a cached
   * one; may read a key file again.
   */
  identity(): Identity | Promise<Identity>;
  /** Requests a token. Never throws when the provider refuses. `now` is milliseconds since the epoch. */
  issue(now: number): Promise<IssueOutcome>;
}

/**
 * The two sides of an identity: the secret can be rotated while the owner stays the same.
 *
 * @public
 */
export interface Identity {
  /**
   * The owner: account, claims, domain, tenant, client, user name, audience, scope. Contains no secret, is not empty,
   * and is the same text in every process of the site. It is the cache key of renders and agent cards, so two owners
   * must never share one.
   */
  readonly principal: string;
  /**
   * A text that changes with the secret, key or certificate without revealing it; empty if there is none. Tokens are
   * cached by principal and proof.
   */
  readonly proof: string;
}

/**
 * The outcome of an exchange: that of an identity provider, or a step the user has to take first, which no change to
 * the configuration can replace.
 *
 * @public
 */
export type ExchangeOutcome =
  | IssueOutcome
  | {
      readonly kind: 'user-refused';
      /** `expired`: sign in again; `interaction`: consent or a second factor is needed. */
      readonly reason: 'expired' | 'interaction';
      /** The claims that the provider requests for an interaction, as JSON text. Passed to the page. Default: none. */
      readonly claims?: string;
      /** For the server's log only. */
      readonly log: string;
    };

export type ExchangeRefusal = Extract<ExchangeOutcome, { readonly kind: 'user-refused' }>;

/**
 * A user's token, and the target of its exchange.
 *
 * @public
 */
export interface TokenExchangeRequest {
  /** The signed-in user's token. */
  readonly assertion: string;
  /** The API the new token is for. Default: the configured one. */
  readonly audience?: string;
  /** The scope of the new token. Default: the configured one. */
  readonly scope?: string;
}

/**
 * Exchanges a user's token for one the platform accepts (On-Behalf-Of, RFC 8693).
 *
 * @public
 */
export interface TokenExchange {
  /** The application that exchanges tokens, its defaults, and its proof. Called for each request of a user, so it should be cheap. */
  identity(): Identity | Promise<Identity>;
  /** Sends one request to the provider. `now` is milliseconds since the epoch. */
  exchange(request: TokenExchangeRequest, now: number): Promise<ExchangeOutcome>;
}

/** The settings of the block `onBehalfOf`. */
export interface ExchangeSettings {
  readonly provider: Setting;
  readonly scope: Setting;
  readonly audience: Setting;
  readonly subjectTokenType: Setting;
  readonly clientId: Setting;
  readonly tenantId: Setting;
  readonly clientSecret: Setting<Secret>;
  readonly certificatePath: Setting;
  readonly privateKeyPath: Setting;
}

/** Everything a provider needs besides its settings. */
export interface ProviderContext {
  /** Milliseconds for one call, discovery included. */
  readonly timeoutMs: number;
  /** Default: the global `fetch`. */
  readonly fetch: typeof fetch | undefined;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  /** The identity derived from these settings; `material` is the content of key files. */
  readonly identityOf: (flow: string, settings: AnySettings, material?: () => string) => () => Promise<Identity>;
}

/** A key or certificate as `doctor` found it. */
export interface KeyFact {
  readonly check: 'private key' | 'certificate';
  readonly block: string;
  readonly fields: readonly string[];
  readonly isUsable: boolean;
  /** Its digest, or the fault. */
  readonly detail: string;
  /** The fix for a fault, or for a usable key that is configured twice. */
  readonly advice?: string;
  /** The validity of a certificate, in milliseconds since the epoch. */
  readonly validity?: { readonly notBefore: number; readonly notAfter: number };
}

/** The address of a provider's public metadata (OpenID Connect Discovery 1.0 §4), and the setting to correct if it is wrong. */
export interface ProviderAddress {
  readonly setting: Setting;
  /** The setting of its host; absent if none is set. */
  readonly host?: Setting;
  /** Absent if the setting is empty or wrong. */
  readonly url?: string;
  readonly fault?: string;
}

/** The claims that a token must have, as far as the configuration specifies them. */
export interface ExpectedClaims {
  readonly audience: readonly string[];
  /** The setting of the audience. */
  readonly setting: Setting<unknown>;
  readonly scopes: readonly string[];
}

/** Facts about the configuration of a provider. `doctor` turns them into findings. */
export interface ProviderFacts {
  readonly keys: readonly KeyFact[];
  /** Absent if no server is needed. */
  readonly address?: ProviderAddress;
  /** Default: no claims are compared. */
  readonly expected?: ExpectedClaims;
}

/** A block, and fields in it. */
type Suspects<Blocks> = {
  readonly [Block in keyof Blocks & string]: {
    readonly block: Block;
    readonly fields: readonly (keyof Blocks[Block] & string)[];
  };
}[keyof Blocks & string];

/** An identity provider of this package, without its library. `Blocks` are its settings by configuration block. */
export interface ProviderDescriptor<Blocks> {
  /** Its configuration blocks, with a row for each field. */
  readonly blocks: { readonly [Block in keyof Blocks]: Rows<Blocks[Block]> };
  /** Names by which operators know such providers, in lower case. */
  readonly vendors: readonly string[];
  /** The prefix of its environment variables. */
  readonly prefix: string;
  /** Its flows by strategy; the first is the provider's default. */
  readonly flows: Readonly<Partial<Record<string, string>>>;
  /** The block and the fields to check when the platform rejects its tokens. */
  readonly suspects: Suspects<Blocks>;
  /** Facts about the service's own tokens. */
  examine(blocks: Blocks, clock: Clock): ProviderFacts;
  /** Facts about the exchange of users' tokens; absent if the provider cannot exchange them. */
  examineExchange?(blocks: Blocks & ExchangeBlock, clock: Clock): ProviderFacts;
}

/** The adapter of a provider: a module loaded with its library on first use. */
export interface ProviderAdapter<Blocks> {
  readonly provider: (flow: string, blocks: Blocks & ExchangeBlock, context: ProviderContext) => IdentityProvider;
  /** Absent if it cannot exchange users' tokens. */
  readonly exchange?: (blocks: Blocks & ExchangeBlock, context: ProviderContext) => TokenExchange;
}

/** The block that configures an exchange, in addition to those of its provider. */
export interface ExchangeBlock {
  readonly onBehalfOf: ExchangeSettings;
}

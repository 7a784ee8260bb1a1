import type { Secret } from '../domain/shared/secret.js';
import type { AnySettings, Rows, Setting } from '../domain/shared/setting.js';
import type { Clock } from './clock.js';
import type { Telemetry } from './telemetry.js';

/**
 * What an identity provider gives: a token for calls to the platform, or a failure that names the fields to check.
 *
 * @public
 */
export type IssueOutcome =
  | {
      readonly kind: 'token';
      readonly token: {
        /** The token as it is sent, without `Bearer`. */
        readonly value: string;
        /** Milliseconds since the epoch. */
        readonly expiresAt: number;
      };
    }
  | {
      readonly kind: 'failure';
      /**
       * - `incomplete`: the configuration lacks a field; nobody was asked
       * - `refused`: the provider, or the key, said no; asking again changes nothing
       * - `unavailable`: the provider could not be reached or was out of order
       */
      readonly reason: 'incomplete' | 'refused' | 'unavailable';
      /** The configuration block to check, such as `idpAServiceUser`. */
      readonly block: string;
      /** The fields of that block to check. */
      readonly fields: readonly string[];
      /** What the reader should do, in one sentence; public, so it names blocks and fields only. */
      readonly advice: string;
      /** For the server's log only: provider texts, paths and codes, without secrets. */
      readonly detail: string;
      /** How long the provider asked to be left alone, in milliseconds. */
      readonly retryAfterMs?: number;
    };

export type AccessToken = Extract<IssueOutcome, { readonly kind: 'token' }>['token'];

export type IssueFailure = Extract<IssueOutcome, { readonly kind: 'failure' }>;

/**
 * Gives tokens for the site's own calls to the platform.
 * Callers cache and coalesce; a provider answers every call by asking once.
 *
 * @public
 */
export interface IdentityProvider {
  /** The configuration block named in hints when nothing closer is known, such as `serviceAccount`. */
  readonly block: string;
  /** Whether `issue` signs by itself, so that the caller's `now` ends up in the token. Default: false. */
  readonly signsLocally?: boolean;
  /** The platform refused a token: look again at whatever credentials are read from, such as a key file. */
  recheck?(): void;
  /** Whose tokens it gives, and the proof it gives them by. Called before a token is requested, never for a cached one; may look at a key file again. */
  identity(): Identity | Promise<Identity>;
  /** Never throws for a refusal. `now` is milliseconds since the epoch. */
  issue(now: number): Promise<IssueOutcome>;
}

/**
 * The two sides of an identity: a secret can be rotated while its owner stays the same.
 *
 * @public
 */
export interface Identity {
  /**
   * The owner: account, claims, domain, tenant, client, user name, audience, scope. Holds no secret, is not empty, and is the same text in every process of the site.
   * Renders and agent cards are cached by it, so two owners must never share one.
   */
  readonly principal: string;
  /** A text that changes with the secret, key or certificate and reveals nothing of it; empty where there is none. Tokens are cached by principal and proof. */
  readonly proof: string;
}

/**
 * What an exchange gives: what an identity provider gives, or that the user has to do something first, which no change of the configuration mends.
 *
 * @public
 */
export type ExchangeOutcome =
  | IssueOutcome
  | {
      readonly kind: 'user-refused';
      /** `expired`: sign in again; `interaction`: consent or a second factor is needed. */
      readonly reason: 'expired' | 'interaction';
      /** For the server's log only. */
      readonly detail: string;
    };

export type ExchangeRefusal = Extract<ExchangeOutcome, { readonly kind: 'user-refused' }>;

/**
 * A user's token, and what it is to be exchanged for.
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
  /** The application that exchanges, with its defaults, and its proof. Called for each request of a user, so it should be cheap. */
  identity(): Identity | Promise<Identity>;
  /** Asks the provider once. `now` is milliseconds since the epoch. */
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
  /** Default: the global one. */
  readonly fetch: typeof fetch | undefined;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  /** The identity that these settings state; `material` names the content of key files. */
  readonly identityOf: (
    flow: string,
    settings: AnySettings,
    material?: () => Promise<string>,
  ) => () => Promise<Identity>;
}

/** A key or a certificate as it was read for `doctor`. */
export interface KeyFact {
  readonly check: 'private key' | 'certificate';
  readonly block: string;
  readonly fields: readonly string[];
  readonly isUsable: boolean;
  /** Its digest, or the fault. */
  readonly detail: string;
  /** The remedy of a fault, or of a usable key that is configured twice. */
  readonly advice?: string;
  /** The validity of a certificate, in milliseconds since the epoch. */
  readonly validity?: { readonly notBefore: number; readonly notAfter: number };
}

/** The address where a provider describes itself in public (OpenID Connect Discovery 1.0 §4), and the setting to correct where it is wrong. */
export interface ProviderAddress {
  readonly setting: Setting;
  /** Absent while the setting is empty, or wrong. */
  readonly url?: string;
  readonly fault?: string;
}

/** The claims that a token must have, as far as the configuration says. */
export interface ExpectedClaims {
  readonly audience: readonly string[];
  /** The setting that the audience comes from. */
  readonly setting: Setting<unknown>;
  readonly scopes: readonly string[];
}

/** Facts about the configuration of a provider. `doctor` turns them into findings. */
export interface ProviderFacts {
  readonly keys: readonly KeyFact[];
  /** Absent where no server has to be reached. */
  readonly address?: ProviderAddress;
  /** Default: nothing is compared. */
  readonly expected?: ExpectedClaims;
}

/** A block, and fields of it. */
type Suspects<Blocks> = {
  readonly [Block in keyof Blocks & string]: {
    readonly block: Block;
    readonly fields: readonly (keyof Blocks[Block] & string)[];
  };
}[keyof Blocks & string];

/** An identity provider of this package, without its library. `Blocks`: its settings, by configuration block. */
export interface ProviderDescriptor<Blocks> {
  /** Its configuration blocks, with a row for each field. */
  readonly blocks: { readonly [Block in keyof Blocks]: Rows<Blocks[Block]> };
  /** The start of its environment variables. */
  readonly prefix: string;
  /** Its flows, by the strategy that asks for them; the first is the provider's own. */
  readonly flows: Readonly<Partial<Record<string, string>>>;
  /** The block and the fields to check when the platform rejects its tokens. */
  readonly suspects: Suspects<Blocks>;
  /** The facts that concern the service's own tokens. */
  examine(blocks: Blocks, clock: Clock): Promise<ProviderFacts>;
  /** The facts that concern the exchange of users' tokens; absent where it cannot exchange them. */
  examineExchange?(blocks: Blocks & ExchangeBlock, clock: Clock): Promise<ProviderFacts>;
}

/** The adapter of a provider: a module that comes with its library when it is first needed. */
export interface ProviderAdapter<Blocks> {
  readonly provider: (flow: string, blocks: Blocks & ExchangeBlock, context: ProviderContext) => IdentityProvider;
  /** Absent where it cannot exchange users' tokens. */
  readonly exchange?: (blocks: Blocks & ExchangeBlock, context: ProviderContext) => TokenExchange;
}

/** The block that configures an exchange, beside those of its provider. */
export interface ExchangeBlock {
  readonly onBehalfOf: ExchangeSettings;
}

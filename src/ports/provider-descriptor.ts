import type { Secret } from '../domain/shared/secret.js';
import type { AnySettings, Rows, Setting } from '../domain/shared/setting.js';
import type { Clock } from './clock.js';
import type { Identity } from './identity.js';
import type { IdentityProvider } from './identity-provider.js';
import type { Telemetry } from './telemetry.js';
import type { TokenExchange } from './token-exchange.js';

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

/** An identity provider of this package, without its library. `Blocks`: its settings, by configuration block. */
export interface ProviderDescriptor<Blocks> {
  /** Its configuration blocks, with a row for each field. */
  readonly blocks: { readonly [Block in keyof Blocks]: Rows<Blocks[Block]> };
  /** The start of its environment variables. */
  readonly prefix: string;
  /** Its flows, by the strategy that asks for them; the first is the provider's own. */
  readonly flows: Readonly<Partial<Record<string, string>>>;
  /** The block and the fields to check when the platform rejects its tokens. */
  readonly suspects: { readonly block: string; readonly fields: readonly string[] };
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

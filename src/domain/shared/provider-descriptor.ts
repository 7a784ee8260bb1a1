import type { Clock } from '../../ports/clock.js';
import type { Identity, IdentityProvider, TokenExchange } from '../../ports/identity-provider.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { Secret } from './secret.js';
import type { AnySettings, Rows, Setting } from './setting.js';

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

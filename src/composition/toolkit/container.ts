import { type Container, ContainerModule, type ContainerModuleLoadOptions } from 'inversify';
import type { KeyvStore } from '../../adapters/keyv/keyv-store.js';
import type { SessionTokenLike } from '../../adapters/sessions/session-like.js';
import type { SiteSettings } from '../../adapters/web/door.js';
import type { CredentialBroker } from '../../domain/credentials/credential-broker.js';
import type { TokenCache } from '../../domain/credentials/token-cache.js';
import type { RenderCacheDependencies } from '../../domain/surfaces/render-cache.js';
import type { PlatformErrors } from '../../domain/upstream/platform-error.js';
import type { PlatformCall } from '../../domain/upstream/platform-call.js';
import type { PlatformDirectory } from '../../domain/upstream/platform-directory.js';
import type { PlatformStyles } from '../../domain/upstream/platform-styles.js';
import type { HttpUpstream } from '../../ports/http.js';
import type { Memory } from '../../ports/memory.js';
import type { ProviderContext } from '../../domain/shared/provider-descriptor.js';
import type { IdentityProvider, TokenExchange } from '../../ports/identity-provider.js';
import type { Telemetry } from '../../ports/telemetry.js';
import type { ResolvedConfig } from '../config/resolve-config.js';
import type { RouteCredentials } from '../routes/route-credentials.js';
import type { ProcessMemories } from './process-wide.js';
import type { SiteHandlers, SiteParts } from './site-handlers.js';

/** The parts that survive a change of the configuration that does not affect them. */
export type LastingParts = Pick<Parts, 'listeners' | 'telemetry' | 'connections' | 'stores' | 'memory' | 'gate'>;

/** Creates the connections to the platform. */
export interface UpstreamSource {
  /** The settings they depend on: connections stay while they are unchanged. */
  readonly key: readonly unknown[];
  readonly connect: () => HttpUpstream;
}

/** The connections to the platform. */
export interface Connections {
  readonly key: readonly unknown[];
  readonly upstream: HttpUpstream;
  /** Upstreams of earlier configurations whose last responses are still running. */
  readonly retired: Set<HttpUpstream>;
}

/** The parts of a toolkit in the memory of its process. `close` drops what they hold. */
export interface ToolkitMemory {
  /** Renders and look-ups. */
  readonly data: Memory & { close(): void };
  /** Bounded apart, so that tokens never give way to renders. */
  readonly tokens: Memory & { close(): void };
}

/** The store of renders, and the effects of this process's actions on all its caches. */
export type Renders = Pick<RenderCacheDependencies, 'renders' | 'generations'>;

/** Tokens and renders, and the connection to their shared store. */
export interface CacheStores {
  /** The settings these stores depend on, those of the in-memory stores first. */
  readonly settings: readonly unknown[];
  /** The shared store, if one is configured. */
  readonly store: KeyvStore | undefined;
  /** Made with the first cache of renders. */
  readonly renders: () => Renders;
  readonly tokens: TokenCache;
  /** The in-memory variants, even if a shared store is used. */
  readonly inMemory: { readonly renders: () => Renders; readonly tokens: () => TokenCache };
  /** Keys the digests that distinguish proofs without revealing them. */
  readonly proofKey: Uint8Array;
  /** Closes the connection to the shared store, and stops listening to a Keyv of the site. */
  readonly close: () => Promise<void>;
}

/** Returns the identity provider of a flow; its library is loaded on first use. */
export type ProviderLoader = (name: string) => Promise<IdentityProvider> | undefined;

/** The parts behind a result of `createShared`. */
export interface SharedParts {
  readonly upstream: HttpUpstream;
  readonly store: KeyvStore | undefined;
  readonly memory: ProcessMemories;
  /** The open toolkits, by name. */
  readonly toolkits: Map<object, string>;
  isClosed: boolean;
}

/** The configuration of a toolkit, and everything else its parts are built from. */
export interface ToolkitSource {
  readonly config: ResolvedConfig;
  /** The parts of the toolkit that it replaces. */
  readonly previous: LastingParts | undefined;
  /** The session libraries of its routes. */
  readonly sessions: Set<SessionTokenLike>;
  /** The parts it shares with other toolkits. */
  readonly shared: SharedParts | undefined;
}

/** Everything a toolkit consists of, by the name it is bound to. */
export interface Parts extends SiteParts, ToolkitSource {
  readonly random: () => number;
  /** The receivers of events; undefined if faults are written to the terminal. */
  readonly listeners: readonly Telemetry[] | undefined;
  /** Passes events to the listeners, without secrets. */
  readonly telemetry: Telemetry;
  readonly upstreamSource: UpstreamSource;
  readonly connections: Connections;
  readonly upstream: HttpUpstream;
  readonly errors: PlatformErrors;
  readonly memory: ToolkitMemory;
  readonly stores: CacheStores;
  readonly fetch: typeof fetch | undefined;
  readonly context: ProviderContext;
  readonly provider: ProviderLoader;
  readonly exchange: TokenExchange;
  readonly credentials: CredentialBroker;
  readonly routeCredentials: RouteCredentials;
  readonly call: PlatformCall;
  readonly styles: PlatformStyles;
  readonly directory: PlatformDirectory;
  readonly site: SiteSettings;
  readonly handlers: SiteHandlers;
  /** The parts that a toolkit uses directly. */
  readonly built: Built;
}

/** The parts that a toolkit uses directly. */
export type Built = LastingParts & Pick<Parts, 'handlers' | 'credentials' | 'directory'>;

/** Binds a part to a function of other parts. Unlike inversify's own types, a missing part, or one of the wrong type, does not compile. */
export function provide<Name extends keyof Parts, const Need extends keyof Parts>(
  bind: ContainerModuleLoadOptions['bind'],
  name: Name,
  needs: readonly Need[],
  make: (parts: Pick<Parts, Need>) => NoInfer<Parts[Name]>,
): void {
  const part = (...values: unknown[]): Parts[Name] => {
    const parts: Partial<Record<Need, unknown>> = {};
    needs.forEach((need, index) => (parts[need] = values[index]));
    return make(parts as Pick<Parts, Need>);
  };
  bind<Parts[Name]>(name)
    .toResolvedValue(part, [...needs])
    .inRequestScope();
}

/** Replaces a part in the container of one toolkit. */
export function rebind<Name extends keyof Parts>(container: Container, name: Name, part: Parts[Name]): void {
  container.bind<Parts[Name]>(name).toConstantValue(part);
}

/** The toolkit that is being built. Building is synchronous, so there is one at a time. */
let building: ToolkitSource | undefined;

/** Binds what is given for each toolkit. */
export function givenModule(): ContainerModule {
  return new ContainerModule(({ bind }) => {
    for (const name of ['config', 'previous', 'sessions', 'shared'] as const)
      bind(name).toDynamicValue(() => building?.[name]);
    const names = ['handlers', 'gate', 'credentials', 'directory', 'listeners', 'telemetry'] as const;
    provide(bind, 'built', [...names, 'connections', 'stores', 'memory'], (parts) => parts);
  });
}

/** Builds a toolkit. No part is a singleton of the container, which all toolkits share: each toolkit has its own. */
export function build(container: Container, given: ToolkitSource): Built {
  building = given;
  try {
    return container.get<Built>('built');
  } finally {
    building = undefined;
  }
}

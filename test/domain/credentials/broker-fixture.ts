import { FakeIdentityProvider, RecordingTelemetry } from '../../../src/adapters/fakes/fakes.js';
import {
  CredentialBroker,
  type CredentialBrokerDependencies,
} from '../../../src/domain/credentials/credential-broker.js';
import type { RouteAuth } from '../../../src/domain/credentials/route-auth.js';
import type { CredentialOwner } from '../../../src/domain/credentials/credential.js';
import { redactor } from '../../../src/domain/shared/redaction.js';
import { FLOWS } from '../../../src/composition/config/providers.js';
import { PlatformErrors } from '../../../src/domain/upstream/platform-error.js';
import { VirtualTime } from '../../support/virtual-time.js';
import { FakeDeadlines } from '../upstream/fake-deadlines.js';
import { TokenCache } from '../../../src/domain/credentials/token-cache.js';
import { secret } from '../../../src/domain/shared/secret.js';
import { PlatformCall } from '../../../src/domain/upstream/platform-call.js';
import type { HttpUpstream, RequestContext } from '../../../src/ports/http.js';
import type { SessionTokenSource } from '../../../src/ports/session-token-source.js';
import { memoryOf } from '../../support/memory.js';

/** An ordinary request. */
export const REQUEST: RequestContext = { headers: {}, native: { request: undefined } };

/** The configured service strategy and key. */
export const SERVICE: RouteAuth<'service'> = {
  kind: 'service',
  strategy: '',
  apiKey: undefined,
};

/** A route that requires a session and sends the user's token. */
export function sessionPlan(source: SessionTokenSource, audience = ''): RouteAuth<'session'> {
  return { kind: 'session', source, nameOf, audience, exchange: undefined, required: true, apiKey: undefined };
}

/** The principal of a subject in a toolkit with one session source. */
export function nameOf({ subject }: { readonly subject?: string }): readonly string[] | undefined {
  return subject === undefined ? undefined : ['subject', subject];
}

/** The owner of a credential with default values. */
export const ownedBy = (principal?: string) => (): CredentialOwner => ({ principal, reader: principal ?? 'nameless' });

/** A broker with fake providers that issue unique tokens. */
export class BrokerWorld {
  readonly clock: VirtualTime = new VirtualTime();
  readonly telemetry: RecordingTelemetry = new RecordingTelemetry();
  readonly account: FakeIdentityProvider = new FakeIdentityProvider('account', 'serviceAccount');
  readonly password: FakeIdentityProvider = new FakeIdentityProvider('password', 'idpAServiceUser');
  /** Names of the providers that the broker loaded, oldest first. */
  readonly loads: string[] = [];
  readonly tokens: TokenCache = new TokenCache({
    clock: this.clock,
    telemetry: this.telemetry,
    random: () => 0,
    sleep: this.clock.sleep,
    newId: () => crypto.randomUUID(),
    memory: memoryOf(this.clock),
  });
  /** The time limit for reading the platform's error texts. */
  readonly excerptDeadlines: FakeDeadlines = new FakeDeadlines();
  readonly errors: PlatformErrors = new PlatformErrors({
    deadline: this.excerptDeadlines.start,
    conceal: redactor([]),
  });
  readonly broker: CredentialBroker;

  constructor(settings: Partial<CredentialBrokerDependencies> = {}) {
    const providers = new Map([
      ['service_account', this.account],
      ['idp_a.password', this.password],
    ]);
    this.broker = new CredentialBroker({
      clock: this.clock,
      telemetry: this.telemetry,
      tokens: this.tokens,
      flows: FLOWS,
      provider: (name) => {
        this.loads.push(name);
        const found = providers.get(name);
        return found === undefined ? undefined : Promise.resolve(found);
      },
      strategy: 'service_account',
      authProvider: '',
      hasServiceAccount: true,
      customProviders: new Set(),
      apiKey: secret('site-key'),
      serviceToken: undefined,
      apiKeyHeader: 'x-api-key',
      hash: (text) => `hash(${text})`,
      ...settings,
    });
  }

  /** Calls the platform with this broker's credentials. */
  callThrough(upstream: HttpUpstream): PlatformCall {
    const { broker: credentials, errors, telemetry } = this;
    const pause = (): Promise<void> => Promise.resolve();
    return new PlatformCall({ upstream, credentials, errors, telemetry, pause });
  }
}

/** Typical time limits of a site. */
export const TIMEOUTS = { headersMs: 60_000, bodyIdleMs: 30_000 };

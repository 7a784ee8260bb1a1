import { type AuthenticationResult, ConfidentialClientApplication } from '@azure/msal-node';
import type { IssueFailure } from '../../ports/identity-provider.js';
import { credentialFingerprint } from '../oauth/credential-fingerprint.js';
import { BLOCK } from './block.js';
import { type ClientCredential, clientCredential, type ClientCredentialOptions } from './client-credential.js';
import type { Fetch } from './fetch.js';
import { MetadataCache } from './metadata-cache.js';
import { missingFields } from './missing-fields.js';
import { type ProviderError, thrownError } from './provider-error.js';
import { type TenantAddress, tenantAddress } from './tenant-address.js';
import { TokenNetwork } from './token-network.js';

/** Where to ask, and as which application; an empty string is a value not supplied. */
export interface TokenClientOptions extends ClientCredentialOptions {
  /** Identifier or domain of the tenant. */
  readonly tenantId: string;
  readonly clientId: string;
  /** Address of the cloud, without the tenant. Default: `https://login.microsoftonline.com`. */
  readonly authority?: string | undefined;
  /** Milliseconds for one call as a whole, discovery included. */
  readonly timeoutMs: number;
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: Fetch | undefined;
  /** Key of the credential fingerprint; processes that share a cache share it. Default: random for this process. */
  readonly fingerprintKey?: string | Uint8Array | undefined;
}

/** What the provider answered, if it was asked. */
export type TokenAnswer =
  | { readonly kind: 'token'; readonly value: string; readonly expiresInSeconds: number | undefined }
  | {
      readonly kind: 'error';
      readonly error: ProviderError;
      readonly credential: ClientCredential['kind'];
      /** Texts to keep out of the log. */
      readonly secrets: readonly string[];
    }
  | IssueFailure;

/** Asks msal-node for one token. */
export type Ask = (
  application: ConfidentialClientApplication,
  scopes: string[],
) => Promise<Pick<AuthenticationResult, 'accessToken'> | null>;

/** Asks one tenant for tokens. It keeps nothing between calls but the addresses of the tenant, and never throws. */
export class TokenClient {
  readonly #options: TokenClientOptions;
  readonly #address: TenantAddress;
  readonly #clientId: string;
  readonly #fetch: Fetch;
  readonly #metadata = new MetadataCache();

  constructor(options: TokenClientOptions) {
    this.#options = options;
    this.#address = tenantAddress(options.tenantId.trim(), options.authority ?? '');
    this.#clientId = options.clientId.trim();
    this.#fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
  }

  /** Tenant, application and credential, without a secret in it. */
  async identity(): Promise<readonly string[]> {
    const { clientSecret, certificate, fingerprintKey } = this.#options;
    const reading = await certificate?.read();
    const credential =
      reading === undefined
        ? clientSecret.reveal()
        : // By its advice: another fault is another failure, so a back-off must not repeat the words of the last one.
          reading.kind === 'certificate'
          ? reading.thumbprintSha256
          : reading.advice;
    return [
      this.#address.kind === 'address' ? this.#address.authority : '',
      this.#clientId,
      reading?.kind ?? 'secret',
      credentialFingerprint([credential], fingerprintKey),
    ];
  }

  /** Asks once, for a list of scopes separated by spaces; `now` is milliseconds since the epoch. */
  async request(ask: Ask, scope: string, now: number): Promise<TokenAnswer> {
    const { tenantId, clientId, clientSecret, certificate } = this.#options;
    const hasCredential = certificate !== undefined || clientSecret.reveal().trim() !== '';
    const missing = missingFields({ tenantId, clientId, scope }, hasCredential);
    if (missing !== undefined) return missing;
    if (this.#address.kind === 'unusable') return wrongTenant(this.#address.note);
    const credential = await clientCredential({ clientSecret, certificate }, now);
    if (credential.kind === 'failure') return credential;

    const { timeoutMs } = this.#options;
    const network = new TokenNetwork({
      fetch: this.#fetch,
      deadline: AbortSignal.timeout(timeoutMs),
      timeoutMs,
      metadata: this.#metadata,
      now,
    });
    try {
      const application = this.#application(this.#address, credential, network);
      const result = await ask(application, scope.trim().split(/\s+/));
      if (result === null) throw new Error('no result');
      return { kind: 'token', value: result.accessToken, expiresInSeconds: network.expiresInSeconds };
    } catch (thrown) {
      // Also what came with status 200 and is no metadata.
      if (network.stage === 'metadata') this.#metadata.forget();
      const error = network.failure ?? thrownError(thrown, 'local');
      return { kind: 'error', error, credential: credential.kind, secrets: secretsOf(credential) };
    }
  }

  // One for each call: the cache of msal-node mixes up users and replays failures, and an application prints its credential.
  #application(
    { authority, host }: Extract<TenantAddress, { kind: 'address' }>,
    credential: ClientCredential,
    networkClient: TokenNetwork,
  ): ConfidentialClientApplication {
    return new ConfidentialClientApplication({
      auth: {
        clientId: this.#clientId,
        authority,
        // Else msal-node asks a public address of Microsoft whether to trust a host it has not in its list.
        knownAuthorities: [host],
        // It refuses two credentials.
        ...(credential.kind === 'secret'
          ? { clientSecret: credential.value.reveal() }
          : {
              clientCertificate: {
                thumbprintSha256: credential.thumbprintSha256,
                privateKey: credential.privateKeyPem.reveal(),
              },
            }),
      },
      system: { networkClient, disableInternalRetries: true },
    });
  }
}

function wrongTenant(note: string): IssueFailure {
  return {
    kind: 'failure',
    reason: 'refused',
    block: BLOCK,
    fields: ['tenantId'],
    advice: `Check "tenantId" in the "${BLOCK}" configuration block: it ${note}.`,
    detail: `tenantId ${note}`,
  };
}

function secretsOf(credential: ClientCredential): string[] {
  return [(credential.kind === 'secret' ? credential.value : credential.privateKeyPem).reveal()];
}

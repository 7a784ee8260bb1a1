import { randomUUID } from 'node:crypto';
// Individual modules: the whole package takes twice as long to load, and the first message waits for it.
import type { CryptoKey } from 'jose';
import { SignJWT } from 'jose/jwt/sign';
import { importPKCS8 } from 'jose/key/import';
import { quoted, type ValuesOf, valuesOf } from '../../domain/shared/setting.js';
import type { ProviderContext } from '../../domain/shared/provider-descriptor.js';
import type { Identity, IdentityProvider, IssueFailure, IssueOutcome } from '../../ports/identity-provider.js';
import type { PrivateKeyReading, PrivateKeySource } from '../keys/private-key.js';
import { hasUnusedFile, keyOf, type ServiceAccountBlocks, type ServiceAccountSettings } from './descriptor.js';

const ALGORITHM = 'RS256';
const LIFETIME_SECONDS = 300;

/** The values of a service account. An empty string, or `false` for the audience, omits the claim. */
export interface ServiceAccountOptions extends Omit<
  ValuesOf<ServiceAccountSettings>,
  'privateKeyPem' | 'privateKeyPath'
> {
  /** The source of the key; `undefined` if neither `privateKeyPem` nor `privateKeyPath` is set. */
  readonly key: PrivateKeySource | undefined;
  /** The owner of the tokens, and its proof. */
  readonly identity: () => Promise<Identity>;
}

type Key = Extract<PrivateKeyReading, { kind: 'key' }>;

/** Signs the server's own tokens with the key of a service account: RS256, valid for five minutes. */
export class ServiceAccountProvider implements IdentityProvider {
  readonly block: string = 'serviceAccount';
  readonly signsLocally: boolean = true;
  readonly #options: ServiceAccountOptions;
  /** As text, so that the caller cannot change them between an identity and its token. */
  readonly #claims: string;
  #signingKey: { readonly fingerprint: string; readonly key: Promise<CryptoKey> } | undefined;

  constructor(options: ServiceAccountOptions) {
    this.#options = options;
    this.#claims = JSON.stringify(options.claims);
  }

  identity(): Promise<Identity> {
    return this.#options.identity();
  }

  recheck(): void {
    this.#options.key?.recheck?.();
  }

  async issue(now: number): Promise<IssueOutcome> {
    const { serviceAccountId, key } = this.#options;
    if (serviceAccountId === '') return this.#incomplete(['serviceAccountId'], 'serviceAccountId is empty');
    if (key === undefined) return this.#incomplete(['privateKeyPem', 'privateKeyPath'], 'no key is configured');
    const reading = key.read();
    if (reading.kind === 'unusable') return { ...reading, kind: 'failure', block: this.block };
    return this.#sign(reading, Math.floor(now / 1000));
  }

  async #sign(key: Key, issuedAt: number): Promise<IssueOutcome> {
    const { keyId, audience, subject, issuer } = this.#options;
    const expiresAt = issuedAt + LIFETIME_SECONDS;
    const value = await new SignJWT({
      ...(JSON.parse(this.#claims) as Record<string, unknown>),
      ...(issuer !== '' && { iss: issuer }),
      ...(subject !== '' && { sub: subject }),
      ...(audience !== false &&
        audience.length > 0 && { aud: typeof audience === 'string' ? audience : [...audience] }),
      iat: issuedAt,
      exp: expiresAt,
      jti: randomUUID(),
    })
      .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT', ...(keyId !== '' && { kid: keyId }) })
      .sign(await this.#import(key));
    return { kind: 'token', token: { value, expiresAt: expiresAt * 1000 } };
  }

  #import(reading: Key): Promise<CryptoKey> {
    if (this.#signingKey?.fingerprint !== reading.fingerprint) {
      const key = importPKCS8(reading.pem.reveal(), ALGORITHM);
      this.#signingKey = { fingerprint: reading.fingerprint, key };
    }
    return this.#signingKey.key;
  }

  #incomplete(fields: readonly string[], log: string): IssueFailure {
    const advice = `Set ${quoted(fields, ' or ')} in the "${this.block}" configuration block.`;
    return { kind: 'failure', reason: 'incomplete', block: this.block, fields, advice, log };
  }
}

/** The provider of a service account. */
export function provider(
  flow: string,
  { serviceAccount }: ServiceAccountBlocks,
  { telemetry, clock, identityOf }: ProviderContext,
): ServiceAccountProvider {
  if (hasUnusedFile(serviceAccount)) {
    const detail = 'serviceAccount has both privateKeyPem and privateKeyPath; the file is not read';
    telemetry.emit({ type: 'warning', code: 'second_key_unused', detail });
  }
  const key = keyOf(serviceAccount, clock);
  const identity = identityOf(flow, { ...serviceAccount }, () => {
    const reading = key?.read();
    // The advice distinguishes failures, so that a back-off does not repeat the message of another failure.
    return reading?.kind === 'key' ? reading.fingerprint : (reading?.advice ?? '');
  });
  return new ServiceAccountProvider({ ...valuesOf(serviceAccount), key, identity });
}

import { accept, text } from '../../domain/shared/options.js';
import { optionalSecret, type Secret } from '../../domain/shared/secret.js';
import { hasFields, row, type SettingsOf, textRow } from '../../domain/shared/setting.js';
import type { Clock } from '../../ports/clock.js';
import type { KeyFact, ProviderDescriptor } from '../../domain/shared/provider-descriptor.js';
import { keyFile, keyText, type PrivateKeySource } from '../keys/private-key.js';

/**
 * The service account whose key signs the server's own tokens (docs/authentication/service-account.md).
 *
 * @public
 */
export interface ServiceAccountConfig {
  /** Identifier of the service account at the platform; issuer and subject of each token. */
  readonly serviceAccountId?: string | undefined;
  /** Identifier of the registered public key; the `kid` of each token, left out when empty. */
  readonly keyId?: string | undefined;
  /**
   * The private key in PEM form; `\n` escapes, quotes, base64 and PKCS#1 are understood. Takes precedence over a
   * `privateKeyPath` set in the same call; across calls, the last one set replaces the other.
   */
  readonly privateKeyPem?: string | undefined;
  /** Path of the private key file; read again when the file changes. */
  readonly privateKeyPath?: string | undefined;
  /** Audience of each token; `false` leaves it out. Default: `serviceApiUrl` without a trailing slash. */
  readonly audience?: string | readonly string[] | false | undefined;
  /** Subject of each token. Default: `serviceAccountId`. */
  readonly subject?: string | undefined;
  /** Issuer of each token. Default: `serviceAccountId`. */
  readonly issuer?: string | undefined;
  /** Additional claims, none of `iss`, `sub`, `aud`, `iat`, `exp` and `jti`. */
  readonly claims?: Readonly<Record<string, unknown>> | undefined;
}

const SET_CLAIMS = ['iss', 'sub', 'aud', 'iat', 'exp', 'jti'];

/** The settings of a service account. */
export type ServiceAccountSettings = SettingsOf<ServiceAccountConfig, { readonly privateKeyPem: Secret | undefined }>;

/** The settings of a service account, by block. */
export interface ServiceAccountBlocks {
  readonly serviceAccount: ServiceAccountSettings;
}

const otherClaims = accept(
  (value) => hasFields(value) && isJson(value) && !SET_CLAIMS.some((name) => Object.hasOwn(value, name)),
  `an object of JSON values without ${SET_CLAIMS.join(', ')}, which each token has: "issuer", "subject" and "audience" set theirs`,
);

function isJson(value: object): boolean {
  try {
    return JSON.stringify(value) !== '';
  } catch {
    return false;
  }
}

/** The server as its own identity provider. */
export const SERVICE_ACCOUNT: ProviderDescriptor<ServiceAccountBlocks> = {
  blocks: {
    serviceAccount: {
      serviceAccountId: textRow('principal', 'SERVICE_ACCOUNT_ID'),
      keyId: textRow('proof', 'SERVICE_ACCOUNT_KEY_ID'),
      privateKeyPem: {
        ...row('proof', text, optionalSecret, 'SERVICE_ACCOUNT_PRIVATE_KEY'),
        replaces: ['privateKeyPath'],
      },
      privateKeyPath: { ...textRow('proof', 'SERVICE_ACCOUNT_PRIVATE_KEY_PATH'), replaces: ['privateKeyPem'] },
      audience: row(
        'principal',
        accept(
          (value) => value === false || [value].flat().every((one) => typeof one === 'string'),
          'a string, a list of strings, or false',
        ),
        (audience: string | readonly string[] | false = '') => audience,
        'SERVICE_ACCOUNT_AUDIENCE',
      ),
      subject: textRow('principal'),
      issuer: textRow('principal'),
      claims: row('principal', otherClaims, (claims: Readonly<Record<string, unknown>> = {}) => claims),
    },
  },
  vendors: [],
  prefix: 'SERVICE_ACCOUNT_',
  flows: { service_account: 'service_account' },
  suspects: { block: 'serviceAccount', fields: ['serviceAccountId', 'keyId', 'audience'] },

  examine({ serviceAccount }, clock) {
    const { audience } = serviceAccount;
    const expected = audience.value === false ? [] : [audience.value].flat();
    return {
      keys: [keyFact(serviceAccount, clock)],
      expected: { audience: expected, setting: audience, scopes: [] },
    };
  },
};

/** The source of the key, with text before the file; undefined if none is configured. */
export function keyOf(
  { privateKeyPem: { value: text, block }, privateKeyPath: { value: path } }: ServiceAccountSettings,
  clock: Clock,
): PrivateKeySource | undefined {
  if (text !== undefined) return keyText(text.reveal(), block);
  return path === '' ? undefined : keyFile(path, block, clock);
}

/** True if a key is configured both as text and as a file, in which case the file is not read. */
export function hasUnusedFile({ privateKeyPem, privateKeyPath }: ServiceAccountSettings): boolean {
  return privateKeyPem.value !== undefined && privateKeyPath.value !== '';
}

function keyFact(account: ServiceAccountSettings, clock: Clock): KeyFact {
  const { block } = account.privateKeyPem;
  const both = { check: 'private key', block, fields: ['privateKeyPem', 'privateKeyPath'] } as const;
  const reading = keyOf(account, clock)?.read();
  if (reading === undefined) {
    const advice = `Set "privateKeyPem" or "privateKeyPath" in the "${block}" configuration block.`;
    return { ...both, isUsable: false, detail: 'none is configured', advice };
  }
  if (reading.kind === 'unusable') {
    const { fields, advice, log } = reading;
    return { ...both, fields, isUsable: false, detail: log, advice };
  }
  if (!hasUnusedFile(account)) {
    return { ...both, isUsable: true, detail: `RSA, public half SHA-256 ${reading.fingerprint}` };
  }
  const advice = `Leave one of "privateKeyPem" and "privateKeyPath" out of the "${block}" configuration block.`;
  return { ...both, isUsable: true, detail: 'the text is used and the file is ignored', advice };
}

import { createPrivateKey } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import type { CertificateReading, CertificateSource } from './certificate.js';
import type { Clock } from '../../ports/clock.js';
import type { PrivateKeyReading } from './private-key.js';
import {
  certificateAdvice,
  certificateFileAdvice,
  mismatchAdvice,
  missingPathAdvice,
  pathExpectedAdvice,
} from './certificate-advice.js';
import { type CertificateList, readCertificates } from './certificate-pem.js';
import { KeyFile } from './key-file.js';

const RECHECK_MS = 30_000;

// Two files never change in one instant: in between, a new certificate stands beside the old key.
const LAST_PAIR_MS = 300_000;

const DAY_MS = 86_400_000;
const EXPIRES_SOON_MS = 30 * DAY_MS;

const MAX_FILE_BYTES = 65_536;

/** What an operator should hear about a certificate that still works. */
export interface CertificateWarning {
  readonly code: 'certificate_expires_soon';
  readonly detail: string;
}

/** Where a certificate and its key come from; an empty string is a path not supplied. */
export interface CertificateFileOptions {
  /** The value of `certificatePath`. */
  readonly certificatePath: string;
  /** The value of `privateKeyPath`. */
  readonly privateKeyPath: string;
  /** The configuration block named in advice, such as `idpBService`. */
  readonly block: string;
  readonly clock: Clock;
  /** Called at most once a day while a certificate in use has less than 30 days left; must not throw. Default: nobody is told. */
  readonly onWarning?: ((warning: CertificateWarning) => void) | undefined;
}

type Field = 'certificatePath' | 'privateKeyPath';
type Pair = Extract<CertificateReading, { kind: 'certificate' }>;
type Unusable = Extract<CertificateReading, { kind: 'unusable' }>;
type Certificates = Extract<CertificateList, { kind: 'certificates' }>;
type Key = Extract<PrivateKeyReading, { kind: 'key' }>;

/**
 * A certificate and its private key in two files, or in one that both paths name. The files are looked at when they were
 * not for 30 seconds, and read again when they changed. A pair that breaks after a good read stays in use for five minutes.
 */
export class CertificateFile implements CertificateSource {
  readonly #options: CertificateFileOptions;
  readonly #key: KeyFile;
  #checking: Promise<CertificateReading> | undefined;
  #checkedAt = 0;
  #latest: CertificateReading | undefined;
  #seen: { readonly stamp: string; readonly list: CertificateList } | undefined;
  #matched: { readonly list: Certificates; readonly key: Key; readonly reading: CertificateReading } | undefined;
  #lastPair: Pair | undefined;
  #brokenSince = 0;
  #warned: { readonly thumbprint: string; readonly at: number } | undefined;

  constructor(options: CertificateFileOptions) {
    this.#options = options;
    const { privateKeyPath: path, block, clock } = options;
    this.#key = new KeyFile({ path, block, clock });
  }

  async read(): Promise<CertificateReading> {
    const known = this.#checking === undefined && this.#isFresh() ? this.#latest : undefined;
    const reading = this.#choose(known ?? (await this.#check()));
    if (reading.kind === 'certificate') this.#warn(reading);
    return reading;
  }

  #isFresh(): boolean {
    const age = this.#options.clock.now() - this.#checkedAt;
    // A clock set back makes the age negative, and must not put the next look off by as much.
    return age >= 0 && age < RECHECK_MS;
  }

  #check(): Promise<CertificateReading> {
    this.#checking ??= this.#look().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #look(): Promise<CertificateReading> {
    this.#checkedAt = this.#options.clock.now();
    const reading = await this.#load();
    if (reading.kind === 'certificate') this.#lastPair = reading;
    else if (this.#latest?.kind === 'certificate') this.#brokenSince = this.#options.clock.now();
    this.#latest = reading;
    return reading;
  }

  #choose(latest: CertificateReading): CertificateReading {
    if (latest.kind === 'certificate' || this.#lastPair === undefined) return latest;
    if (this.#options.clock.now() - this.#brokenSince < LAST_PAIR_MS) return this.#lastPair;
    this.#lastPair = undefined;
    return latest;
  }

  async #load(): Promise<CertificateReading> {
    const { certificatePath, privateKeyPath, block } = this.#options;
    const paths = { certificatePath, privateKeyPath };
    const fields = Object.keys(paths) as Field[];
    const missing = fields.filter((field) => paths[field].trim() === '');
    if (missing.length > 0) {
      const advice = missingPathAdvice(block, missing);
      return {
        kind: 'unusable',
        reason: 'incomplete',
        fields: missing,
        advice,
        detail: `${missing.join(', ')}: empty`,
      };
    }
    for (const field of fields) {
      if (!paths[field].includes('-----BEGIN')) continue;
      return unusable([field], pathExpectedAdvice(block, field), 'the value is a PEM text');
    }
    const certificates = await this.#certificates();
    if (certificates.kind === 'unusable') return certificates;
    // Both files are looked at in the same moment, or a rotation would look like a mismatch for longer than it is one.
    this.#key.recheck();
    const key = await this.#key.read();
    if (key.kind === 'key') return this.#match(certificates, key);
    // The key file has given its last key for five minutes already.
    this.#lastPair = undefined;
    const { advice, detail } = key;
    return { kind: 'unusable', reason: 'refused', fields: ['privateKeyPath'], advice, detail };
  }

  async #certificates(): Promise<Certificates | Unusable> {
    const { certificatePath: path, block } = this.#options;
    // A key or a certificate given as a path by mistake is longer than any path worth logging.
    const place = path.length > 255 ? 'a value that is no path' : path;
    const unreadable = (code: string): Unusable =>
      unusable(['certificatePath'], certificateFileAdvice(block, code), `${code}: ${place}`);
    try {
      // Before the read: a change in between gives another stamp, and so another read, the next time.
      const found = await stat(path);
      if (!found.isFile()) return unreadable('EISDIR');
      if (found.size > MAX_FILE_BYTES) return unreadable('EFBIG');
      const stamp = `${found.ino} ${found.size} ${found.mtimeMs}`;
      if (this.#seen?.stamp !== stamp) this.#seen = { stamp, list: readCertificates(await readFile(path)) };
    } catch (error) {
      return unreadable(String((error as NodeJS.ErrnoException).code ?? 'UNKNOWN'));
    }
    const { list } = this.#seen;
    if (list.kind === 'certificates') return list;
    return unusable(['certificatePath'], certificateAdvice(block, list.fault), `${list.fault}: ${place}`);
  }

  #match(list: Certificates, key: Key): CertificateReading {
    if (this.#matched?.list !== list || this.#matched.key !== key) {
      this.#matched = { list, key, reading: this.#pair(list, key) };
    }
    return this.#matched.reading;
  }

  #pair({ certificates }: Certificates, { pem: privateKeyPem }: Key): CertificateReading {
    const privateKey = createPrivateKey(privateKeyPem.reveal());
    // A chain may come in any order; the certificate of the key is the one meant.
    const certificate = certificates.find((one) => one.checkPrivateKey(privateKey));
    if (certificate === undefined) {
      const { certificatePath, privateKeyPath, block } = this.#options;
      const detail = `the key does not belong to the certificate: ${privateKeyPath}, ${certificatePath}`;
      return unusable(['certificatePath', 'privateKeyPath'], mismatchAdvice(block), detail);
    }
    return {
      kind: 'certificate',
      certificatePem: certificate.toString(),
      privateKeyPem,
      thumbprintSha256: certificate.fingerprint256.replaceAll(':', '').toLowerCase(),
      notBefore: Date.parse(certificate.validFrom),
      notAfter: Date.parse(certificate.validTo),
    };
  }

  #warn({ thumbprintSha256: thumbprint, notAfter }: Pair): void {
    const { onWarning, block, clock } = this.#options;
    const now = clock.now();
    const left = notAfter - now;
    if (onWarning === undefined || left > EXPIRES_SOON_MS || left <= 0) return;
    if (this.#warned?.thumbprint === thumbprint && Math.abs(now - this.#warned.at) < DAY_MS) return;
    this.#warned = { thumbprint, at: now };
    const detail = `the certificate of ${block}.certificatePath expires on ${new Date(notAfter).toISOString()}, in ${Math.floor(left / DAY_MS)} days`;
    onWarning({ code: 'certificate_expires_soon', detail });
  }
}

function unusable(fields: readonly Field[], advice: string, reason: string): Unusable {
  return { kind: 'unusable', reason: 'refused', fields, advice, detail: `${fields.join(', ')}: ${reason}` };
}

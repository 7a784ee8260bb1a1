import { createHash, createPrivateKey, createPublicKey } from 'node:crypto';
import { inspect } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import type { PrivateKeyReading, PrivateKeySource } from '../../src/adapters/keys/private-key.js';

/** Sources to test against the contract. */
export interface PrivateKeySourceCases {
  /** Reads a usable key. */
  readonly usable: PrivateKeySource;
  /** Reads another usable key. */
  readonly other: PrivateKeySource;
  /** The public key of `usable` as SPKI PEM. */
  readonly publicKeyPem: string;
  /** Sources without a usable key, by their fault. */
  readonly unusable: Readonly<Record<string, PrivateKeySource>>;
  readonly field: 'privateKeyPem' | 'privateKeyPath';
  /** Key material that must never be shown. */
  readonly secrets: readonly string[];
  /** Texts for the server's log only, such as paths. */
  readonly internal: readonly string[];
}

/** The contract of every `PrivateKeySource`, including the fakes. */
export function privateKeySourceContract(name: string, make: () => Promise<PrivateKeySourceCases>): void {
  describe(`${name} as a private key source`, () => {
    let cases: PrivateKeySourceCases;
    beforeAll(async () => {
      cases = await make();
    });

    const usableKey = (): Extract<PrivateKeyReading, { kind: 'key' }> => {
      const reading = cases.usable.read();
      if (reading.kind !== 'key') throw new Error(`unusable: ${reading.log}`);
      return reading;
    };

    it('returns the configured key as PKCS#8', () => {
      const pem = usableKey().pem.reveal();
      expect(pem).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
      expect(createPublicKey(createPrivateKey(pem)).equals(createPublicKey(cases.publicKeyPem))).toBe(true);
    });

    it('returns the SHA-256 of the public key as fingerprint', () => {
      const spki = createPublicKey(cases.publicKeyPem).export({ type: 'spki', format: 'der' });
      expect(usableKey().fingerprint).toBe(createHash('sha256').update(spki).digest('base64url'));
    });

    it('returns different fingerprints for different keys', () => {
      expect(cases.other.read()).not.toMatchObject({ fingerprint: usableKey().fingerprint });
    });

    it('parses an unchanged key once', () => {
      const readings = Array.from({ length: 20 }, () => cases.usable.read());
      expect(new Set([...readings, cases.usable.read()]).size).toBe(1);
    });

    it('returns the field of an unusable key without throwing', () => {
      expect(Object.keys(cases.unusable)).not.toEqual([]);
      for (const [fault, source] of Object.entries(cases.unusable)) {
        const reading = source.read();
        expect(reading, fault).toMatchObject({ kind: 'unusable', fields: [cases.field] });
        if (reading.kind !== 'unusable') continue;
        expect(reading.advice, fault).toContain(`"${cases.field}"`);
        expect(reading.log, fault).not.toBe('');
      }
    });

    it('gives advice without the details meant for the log', () => {
      for (const [fault, source] of Object.entries(cases.unusable)) {
        const reading = source.read();
        if (reading.kind !== 'unusable') throw new Error(`${fault} gave a key`);
        for (const text of cases.internal) expect(reading.advice, fault).not.toContain(text);
      }
    });

    it('never prints a key', () => {
      for (const source of [cases.usable, ...Object.values(cases.unusable)]) {
        const shown: readonly unknown[] = [source, source.read()];
        for (const value of shown) {
          const prints = [inspect(value, { depth: 12, showHidden: true }), JSON.stringify(value), String(value)];
          for (const secret of cases.secrets) expect(prints.join('\n')).not.toContain(secret);
        }
      }
      const fields = inspect(Object.values(usableKey().pem));
      for (const secret of cases.secrets) expect(fields).not.toContain(secret);
      expect(String(usableKey().pem)).toBe('[redacted]');
      expect(JSON.stringify(usableKey())).toContain('"pem":"[redacted]"');
      expect(inspect({ reading: usableKey() }, { depth: 12 })).toContain('pem: [redacted]');
    });
  });
}

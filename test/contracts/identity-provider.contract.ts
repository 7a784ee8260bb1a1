import { inspect } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import type { IdentityProvider, IssueFailure, IssueOutcome } from '../../src/ports/identity-provider.js';

/** A provider that cannot issue a token, with its expected failure. */
export interface FailingProvider {
  readonly provider: IdentityProvider;
  readonly reason: IssueFailure['reason'];
  readonly fields: readonly string[];
}

/** Providers to test against the contract. */
export interface IdentityProviderCases {
  /** The provider's current time, in milliseconds since the epoch. */
  readonly now: number;
  /** Fully configured; issues tokens. */
  readonly working: IdentityProvider;
  /** A second instance with the settings of `working`. */
  readonly again: IdentityProvider;
  /** Each differs from all others in one setting that is part of the principal, by the name of that setting. */
  readonly otherPrincipal: Readonly<Record<string, IdentityProvider>>;
  /** Each differs from all others in one secret or key, by the name of that setting. */
  readonly otherProof: Readonly<Record<string, IdentityProvider>>;
  /** Providers that fail, by their fault. */
  readonly failing: Readonly<Record<string, FailingProvider>>;
  /** Values that must never be shown: keys, passwords, client secrets. */
  readonly secrets: readonly string[];
}

/** The contract of every `IdentityProvider`, including the fakes. */
export function identityProviderContract(name: string, make: () => Promise<IdentityProviderCases>): void {
  describe(`${name} as an identity provider`, () => {
    let cases: IdentityProviderCases;
    beforeAll(async () => {
      cases = await make();
    });

    const issued = async (): Promise<Extract<IssueOutcome, { kind: 'token' }>['token']> => {
      const outcome = await cases.working.issue(cases.now);
      if (outcome.kind !== 'token') throw new Error(`no token: ${outcome.log}`);
      return outcome.token;
    };

    const failures = async (): Promise<readonly (FailingProvider & { fault: string; failure: IssueFailure })[]> => {
      expect(Object.keys(cases.failing)).not.toEqual([]);
      return Promise.all(
        Object.entries(cases.failing).map(async ([fault, expected]) => {
          const failure = await expected.provider.issue(cases.now);
          if (failure.kind !== 'failure') throw new Error(`${fault}: a token`);
          return { ...expected, fault, failure };
        }),
      );
    };

    it('issues a token that expires in the future', async () => {
      const token = await issued();
      expect(token.value).not.toBe('');
      expect(token.expiresAt).toBeGreaterThan(cases.now);
    });

    it('has the same identity for the same settings, before and after issuing a token', async () => {
      const before = await cases.working.identity();
      await issued();
      expect(await cases.working.identity()).toEqual(before);
      expect(await cases.again.identity()).toEqual(before);
    });

    it('has a different principal for each setting that is part of it', async () => {
      expect(Object.keys(cases.otherPrincipal)).not.toEqual([]);
      const settingOf = new Map([[(await cases.working.identity()).principal, 'nothing']]);
      for (const [setting, provider] of Object.entries(cases.otherPrincipal)) {
        const { principal } = await provider.identity();
        expect(settingOf.get(principal), `"${setting}" changes the principal`).toBeUndefined();
        settingOf.set(principal, setting);
      }
    });

    it('has a different proof and the same principal for another secret or key', async () => {
      expect(Object.keys(cases.otherProof)).not.toEqual([]);
      const { principal, proof } = await cases.working.identity();
      const settingOf = new Map([[proof, 'nothing']]);
      for (const [setting, provider] of Object.entries(cases.otherProof)) {
        const other = await provider.identity();
        expect(other.principal, `"${setting}" keeps the principal`).toBe(principal);
        expect(settingOf.get(other.proof), `"${setting}" changes the proof`).toBeUndefined();
        settingOf.set(other.proof, setting);
      }
    });

    it('returns a failure that names the block and the fields to check', async () => {
      for (const { fault, provider, reason, fields, failure } of await failures()) {
        expect(failure, fault).toMatchObject({ reason, block: provider.block, fields });
        expect(failure.fields, fault).not.toEqual([]);
        expect(failure.log, fault).not.toBe('');
      }
    });

    it('gives advice in one sentence that names the block and a field', async () => {
      for (const { fault, failure } of await failures()) {
        expect(failure.advice, fault).toMatch(/^[A-Z][^\n]*[^.]\.$/);
        expect(failure.advice, fault).toContain(`"${failure.block}"`);
        expect(
          failure.fields.some((field) => failure.advice.includes(`"${field}"`)),
          fault,
        ).toBe(true);
      }
    });

    it('has a principal even when it cannot issue a token', async () => {
      for (const { provider } of await failures()) expect((await provider.identity()).principal).not.toBe('');
    });

    it('never shows a secret or a token in an identity, a failure or a print', async () => {
      const failing = Object.values(cases.failing).map(({ provider }) => provider);
      const providers = [cases.working, ...Object.values(cases.otherProof), ...failing];
      const hidden = [...cases.secrets, (await issued()).value];
      const shown: unknown[] = (await failures()).map(({ failure }) => failure);
      for (const provider of providers) shown.push(provider, await provider.identity());

      for (const value of shown) {
        const prints = [inspect(value, { depth: 12, showHidden: true }), JSON.stringify(value), String(value)].join(
          '\n',
        );
        for (const text of hidden) expect(prints).not.toContain(text);
      }
    });
  });
}

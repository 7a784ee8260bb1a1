import { inspect } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import type { IdentityProvider, IssueFailure, IssueOutcome } from '../../src/ports/identity-provider.js';

/** A provider that cannot give a token, and what it must say. */
export interface FailingProvider {
  readonly provider: IdentityProvider;
  readonly reason: IssueFailure['reason'];
  readonly fields: readonly string[];
}

/** Providers to hold against the contract of the port. */
export interface IdentityProviderCases {
  /** Milliseconds since the epoch, as the provider's own side sees them. */
  readonly now: number;
  /** Has complete settings, and gives tokens. */
  readonly working: IdentityProvider;
  /** A second object with the settings of `working`. */
  readonly again: IdentityProvider;
  /** Each differs from `working`, and from the others, in one setting its tokens depend on; by the name of that setting. */
  readonly different: Readonly<Record<string, IdentityProvider>>;
  /** By what is wrong with each. */
  readonly failing: Readonly<Record<string, FailingProvider>>;
  /** Texts that must show nowhere: keys, passwords, client secrets. */
  readonly secrets: readonly string[];
}

/** What every `IdentityProvider` promises, fakes included. */
export function identityProviderContract(name: string, make: () => Promise<IdentityProviderCases>): void {
  describe(`${name} keeps the promises of an identity provider:`, () => {
    let cases: IdentityProviderCases;
    beforeAll(async () => {
      cases = await make();
    });

    const issued = async (): Promise<Extract<IssueOutcome, { kind: 'token' }>['token']> => {
      const outcome = await cases.working.issue(cases.now);
      if (outcome.kind !== 'token') throw new Error(`no token: ${outcome.detail}`);
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

    it('a token is good for some time to come', async () => {
      const token = await issued();
      expect(token.value).not.toBe('');
      expect(token.expiresAt).toBeGreaterThan(cases.now);
    });

    it('the same settings have the same fingerprint, before and after a token', async () => {
      const before = await cases.working.fingerprint();
      await issued();
      expect(await cases.working.fingerprint()).toBe(before);
      expect(await cases.again.fingerprint()).toBe(before);
    });

    it('different settings have different fingerprints', async () => {
      expect(Object.keys(cases.different)).not.toEqual([]);
      const settingOf = new Map([[await cases.working.fingerprint(), 'nothing']]);
      for (const [setting, provider] of Object.entries(cases.different)) {
        const fingerprint = await provider.fingerprint();
        expect(settingOf.get(fingerprint), `"${setting}" changes the fingerprint`).toBeUndefined();
        settingOf.set(fingerprint, setting);
      }
    });

    it('a refusal is an answer that names the block and the fields to check', async () => {
      for (const { fault, provider, reason, fields, failure } of await failures()) {
        expect(failure, fault).toMatchObject({ reason, block: provider.block, fields });
        expect(failure.fields, fault).not.toEqual([]);
        expect(failure.detail, fault).not.toBe('');
      }
    });

    it('advice is one sentence with the block and a field in it', async () => {
      for (const { fault, failure } of await failures()) {
        expect(failure.advice, fault).toMatch(/^[A-Z][^\n]*[^.]\.$/);
        expect(failure.advice, fault).toContain(`"${failure.block}"`);
        expect(
          failure.fields.some((field) => failure.advice.includes(`"${field}"`)),
          fault,
        ).toBe(true);
      }
    });

    it('a provider that cannot give a token still has a fingerprint', async () => {
      for (const { provider } of await failures()) expect(await provider.fingerprint()).not.toBe('');
    });

    it('no fingerprint, failure or print shows a secret or a token', async () => {
      const providers = [cases.working, ...Object.values(cases.failing).map(({ provider }) => provider)];
      const hidden = [...cases.secrets, (await issued()).value];
      const shown: unknown[] = (await failures()).map(({ failure }) => failure);
      for (const provider of providers) shown.push(provider, await provider.fingerprint());

      for (const value of shown) {
        const prints = [inspect(value, { depth: 12, showHidden: true }), JSON.stringify(value), String(value)].join(
          '\n',
        );
        for (const text of hidden) expect(prints).not.toContain(text);
      }
    });
  });
}

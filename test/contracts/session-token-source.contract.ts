import { describe, expect, it } from 'vitest';
import type { RequestContext } from '../../src/ports/http.js';
import type { SessionTokenSource } from '../../src/ports/session-token-source.js';

/** A source, and the requests of two visitors. */
export interface SessionTokenSourceCase {
  readonly source: SessionTokenSource;
  readonly signedIn: RequestContext;
  readonly accessToken: string;
  readonly signedOut: RequestContext;
}

/** What every `SessionTokenSource` promises, fakes included. */
export function sessionTokenSourceContract(name: string, make: () => SessionTokenSourceCase): void {
  describe(`${name} keeps the promises of a session token source:`, () => {
    it('a visitor who is signed in has his token', async () => {
      const { source, signedIn, accessToken } = make();
      expect(await source.getToken(signedIn, {})).toMatchObject({ kind: 'token', accessToken });
      expect(await source.getToken(signedIn, { audience: 'https://platform.example' })).toMatchObject({ accessToken });
    });

    it('a visitor who is not is an answer, not an error', async () => {
      const { source, signedOut } = make();
      expect(await source.getToken(signedOut, {})).toEqual({ kind: 'no-session' });
    });
  });
}

import { describe, expect, it } from 'vitest';
import type { RequestContext } from '../../src/ports/http.js';
import type { SessionTokenSource } from '../../src/ports/session-token-source.js';

/** A source, and the requests of a signed-in and a signed-out visitor. */
export interface SessionTokenSourceCase {
  readonly source: SessionTokenSource;
  readonly signedIn: RequestContext;
  readonly accessToken: string;
  readonly signedOut: RequestContext;
}

/** The contract of every `SessionTokenSource`, including the fakes. */
export function sessionTokenSourceContract(name: string, make: () => SessionTokenSourceCase): void {
  describe(`${name} as a session token source`, () => {
    it('returns the token of a signed-in visitor', async () => {
      const { source, signedIn, accessToken } = make();
      expect(await source.getToken(signedIn, {})).toMatchObject({ kind: 'token', accessToken });
      expect(await source.getToken(signedIn, { audience: 'https://platform.example' })).toMatchObject({ accessToken });
    });

    it('returns "no-session" for a signed-out visitor without throwing', async () => {
      const { source, signedOut } = make();
      expect(await source.getToken(signedOut, {})).toEqual({ kind: 'no-session' });
    });
  });
}

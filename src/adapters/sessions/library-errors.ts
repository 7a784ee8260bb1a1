import type { SessionToken } from '../../ports/session-token-source.js';

const REASONS: ReadonlyMap<unknown, 'expired' | 'interaction'> = new Map([
  ['invalid_grant', 'expired'],
  ['invalid_token', 'expired'],
  ['login_required', 'expired'],
  ['interaction_required', 'interaction'],
  ['consent_required', 'interaction'],
  ['mfa_required', 'interaction'],
]);

/**
 * What the OAuth error code of a failed refresh says about the session; absent when it says nothing:
 * a provider that is down and a wrong client secret end no session.
 */
export function refreshRefusal(code: unknown): SessionToken | undefined {
  const reason = REASONS.get(code);
  return reason === undefined ? undefined : { kind: 'expired', reason, detail: `the refresh failed: ${String(code)}` };
}

/**
 * What a failed session library call becomes: its name and code.
 * The library's own error stays behind, because it may hold tokens and the provider's response.
 */
export function sanitizeLibraryError(library: string, error: unknown): Error {
  const { name, code } = Object(error) as { name?: unknown; code?: unknown };
  const words = [name, code].filter((word) => typeof word === 'string' && /^[\w.-]{1,64}$/.test(word));
  return new Error(
    [`${library} could not give the token:`, ...(words.length > 0 ? words : ['unknown error'])].join(' '),
  );
}

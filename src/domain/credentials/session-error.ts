import { SessionError } from '../errors.js';

/** What the user has to do before the session can be used again; `log` is for the server alone. */
export function sessionError(reason: 'expired' | 'interaction', log: string): SessionError {
  return reason === 'expired'
    ? new SessionError('session_expired', { detail: 'The session has expired.', hint: 'Sign in again.', log })
    : new SessionError('interaction_required', {
        detail: 'The identity provider asks for consent or a second factor.',
        hint: 'Sign in again and complete what the identity provider asks for.',
        log,
      });
}

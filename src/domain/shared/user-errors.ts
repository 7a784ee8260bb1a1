/** OAuth errors that the user has to resolve, by signing in again, or by consent or a second factor. */
export const USER_ERRORS: ReadonlyMap<unknown, 'expired' | 'interaction'> = new Map([
  ['invalid_grant', 'expired'],
  ['invalid_token', 'expired'],
  ['bad_token', 'expired'],
  ['login_required', 'expired'],
  ['consent_required', 'interaction'],
  ['interaction_required', 'interaction'],
  ['mfa_required', 'interaction'],
  ['mfa_registration_required', 'interaction'],
]);

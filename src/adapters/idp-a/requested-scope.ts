/**
 * The scope to ask for. `openid` is left out because an id_token is of no use here and a bad one spoils the response,
 * `offline_access` because asking anew is simpler than rotating refresh tokens across processes.
 */
export function requestedScope(scope: string): string {
  return scope
    .split(/\s+/)
    .filter((one) => one !== '' && one !== 'openid' && one !== 'offline_access')
    .join(' ');
}

import { fromBase64Url, isObject, parsedJson } from '../shared/json.js';

/** Longer requests are not passed to a page. */
const MAX_BYTES = 4_096;
const MEMBERS = ['access_token', 'id_token'];

/**
 * The claims that a provider requests for the next sign-in (OpenID Connect Core 1.0 §5.5), serialised again; `undefined`
 * if the text is anything else.
 */
export function claimsRequest(text: string | undefined): string | undefined {
  const claims = text === undefined || text.length > MAX_BYTES ? undefined : parsedJson(text);
  if (!isObject(claims)) return undefined;
  const names = Object.keys(claims);
  if (names.length === 0 || !names.every((name) => MEMBERS.includes(name) && isObject(claims[name]))) return undefined;
  const written = JSON.stringify(claims);
  return new TextEncoder().encode(written).length > MAX_BYTES ? undefined : written;
}

/** The claims that a challenge requests, as text or in base64, as Entra's APIs send them with `insufficient_claims`. */
export function challengedClaims(field: string | readonly string[] | undefined): string | undefined {
  const written = /\bclaims="((?:[^"\\]|\\.)*)"/.exec(String(field))?.[1]?.replaceAll(/\\(.)/g, '$1');
  return claimsRequest(written?.startsWith('{') === false ? fromBase64Url(written) : written);
}

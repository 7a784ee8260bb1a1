import { type AbuseFamily, PASSES, ROADS, slug, step } from './abuse-case.js';

const UNDERSCORE = 'CVE-2025-64484';
const OWN = 'OWASP ASVS 5.0 4.1.3';
const VALUE = 'attackers-credential';

const NAMES: readonly (readonly [name: string, fact: string])[] = [
  ['Authorization', OWN],
  ['authorization', OWN],
  ['AUTHORIZATION', OWN],
  ['X-Api-Key', OWN],
  ['x_api_key', UNDERSCORE],
  ['X_API_KEY', UNDERSCORE],
  ['X-Api_Key', UNDERSCORE],
  ['X-API-KEY', OWN],
  ['ApiKey', OWN],
  ['Api-Key', OWN],
  ['Api_Key', UNDERSCORE],
  ['X-Project-Id', OWN],
  ['X_Project_Id', UNDERSCORE],
  ['Authorization_', UNDERSCORE],
  ['_Authorization', UNDERSCORE],
  ['HTTP_AUTHORIZATION', UNDERSCORE],
  ['X-Authorization', OWN],
  ['X_Authorization', UNDERSCORE],
  ['Proxy-Authorization', 'RFC 9110 §11.7.2'],
  ['Proxy_Authorization', UNDERSCORE],
  ['X-Access-Token', OWN],
  ['X-Auth-Token', OWN],
  ['X-Auth-Request-Access-Token', UNDERSCORE],
  ['X-Forwarded-Access-Token', UNDERSCORE],
  ['X-Forwarded-Authorization', UNDERSCORE],
  ['X-Original-Authorization', OWN],
  ['X-Ms-Token-Aad-Access-Token', OWN],
  ['X-Amz-Security-Token', OWN],
  ['Authentication', OWN],
  ['Cookie2', 'RFC 6265 §1'],
  ['DPoP', 'RFC 9449 §4'],
  ['Client-Cert', 'RFC 9440 §4'],
];

/** Credentials of a browser's own, under every name a platform could take them from. */
export const credentialFields: AbuseFamily = {
  name: 'credential fields',
  cases: ROADS.flatMap(({ name, make }) =>
    NAMES.map(([field, fact], index) => ({
      id: `cred-${name}-${String(index)}-${slug(field)}`,
      tries: `bring a credential of its own to a ${name} as ${field}`,
      fact,
      steps: [step(make([`${field}: Bearer ${VALUE}`]))],
      safe: { ...PASSES, notUpstream: [VALUE] },
    })),
  ),
};

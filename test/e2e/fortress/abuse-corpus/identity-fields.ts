import { type AbuseFamily, PASSES, ROADS, slug, step } from './abuse-case.js';

const USER = 'CVE-2026-39858 / GHSA-5m6w-wvh7-57vm';
const URI = 'CVE-2026-40575 / GHSA-7x63-xv5r-3p2x';
const HOST = 'CVE-2026-3635';
const ADDRESS = 'OWASP ASVS 5.0 15.3.4';
const VALUE = 'attackers-claim';

const NAMES: readonly (readonly [name: string, fact: string])[] = [
  ['X-Forwarded-User', USER],
  ['X_Forwarded_User', USER],
  ['X-Forwarded-Email', USER],
  ['X_Forwarded_Email', 'CVE-2025-64484'],
  ['X-Forwarded-Groups', USER],
  ['X-Forwarded-Preferred-Username', USER],
  ['X-Auth-Request-User', USER],
  ['X-Auth-Request-Email', USER],
  ['Remote-User', USER],
  ['Remote_User', 'CVE-2025-64484'],
  ['X-Remote-User', USER],
  ['X-User-Id', USER],
  ['X-Tenant-Id', USER],
  ['X-Webauth-User', USER],
  ['X-Ms-Client-Principal', USER],
  ['X-Ms-Client-Principal-Id', USER],
  ['X-Goog-Authenticated-User-Email', USER],
  ['Tailscale-User-Login', USER],
  ['Forwarded', 'RFC 7239 §8.1'],
  ['X-Forwarded-For', ADDRESS],
  ['X_Forwarded_For', ADDRESS],
  ['X-Forwarded-Host', HOST],
  ['X_Forwarded_Host', HOST],
  ['X-Forwarded-Proto', HOST],
  ['X-Forwarded-Port', HOST],
  ['X-Forwarded-Prefix', HOST],
  ['X-Forwarded-Server', HOST],
  ['X-Forwarded-Uri', URI],
  ['X-Original-Url', URI],
  ['X-Original-Uri', URI],
  ['X-Rewrite-Url', URI],
  ['X-Original-Host', HOST],
  ['X-Host', HOST],
  ['X-Real-Ip', ADDRESS],
  ['X_Real_Ip', ADDRESS],
  ['True-Client-Ip', ADDRESS],
  ['Cf-Connecting-Ip', ADDRESS],
  ['X-Client-Ip', ADDRESS],
  ['X-Cluster-Client-Ip', ADDRESS],
  ['Fastly-Client-Ip', ADDRESS],
  ['Via', 'RFC 9110 §7.6.3'],
  ['Max-Forwards', 'RFC 9110 §7.6.2'],
];

/** Claims about who asks, from where, and for what, that only a proxy of the platform's own may make. */
export const identityFields: AbuseFamily = {
  name: 'identity and forwarding fields',
  cases: ROADS.filter(({ name }) => name !== 'render').flatMap(({ name, make }) =>
    NAMES.map(([field, fact]) => ({
      id: `ident-${name}-${slug(field)}`,
      tries: `claim something by ${field} on a ${name}`,
      fact,
      steps: [step(make([`${field}: ${VALUE}`]))],
      safe: { ...PASSES, notUpstream: [VALUE], notAnswered: [VALUE] },
    })),
  ),
};

import { expect, it } from 'vitest';
import { networkFix, topLevel } from '../../src/composition/cli/finding.js';

it.each([
  ['ECONNREFUSED', /^Start the server/],
  ['ENOTFOUND', /^Correct the host name in/],
  ['EAI_AGAIN', /^Configure a working name server/],
  ['ETIMEDOUT', /^Allow this machine to reach the host/],
  ['UND_ERR_CONNECT_TIMEOUT', /^Allow this machine to reach the host/],
  ['EHOSTUNREACH', /^Allow this machine to reach the host/],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', /NODE_EXTRA_CA_CERTS/],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', /NODE_EXTRA_CA_CERTS/],
  ['CERT_HAS_EXPIRED', /^Have the certificate of this server renewed/],
  ['CERT_NOT_YET_VALID', /^Set the clock of this machine/],
  ['ERR_TLS_CERT_ALTNAME_INVALID', /^Use a host name of the certificate/],
  ['ERR_SSL_WRONG_VERSION_NUMBER', /^Use http instead of https/],
  ['EPROTO', /^Use http instead of https/],
  ['HPE_INVALID_CONSTANT', /^Use https instead of http/],
  ['ECONNRESET', /^Use https instead of http/],
  ['UND_ERR_SOCKET', /^Use https instead of http/],
])('the doctor has advice for %s: %s', (code, advice) => {
  const fix = networkFix(`${code}: something else`, topLevel('a2aUrl'));
  expect(fix).toMatch(advice);
  expect(fix).toMatch(/ "a2aUrl" in configureServer\.$/);
});

it('the doctor has no advice for an unknown code', () => {
  expect(networkFix('EWHATEVER: something else', topLevel('a2aUrl'))).toBeUndefined();
});

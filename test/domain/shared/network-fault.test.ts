import { expect, it } from 'vitest';
import { networkFault } from '../../../src/domain/shared/network-fault.js';

it.each([
  ['ECONNREFUSED', 'no server listens on this port'],
  [
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'its certificate is not signed by an authority this process trusts; NODE_EXTRA_CA_CERTS adds one',
  ],
  ['EWHATEVER', undefined],
])('the meaning of the error code %s is: %s', (code, meaning) => {
  expect(networkFault(code)).toBe(meaning);
});

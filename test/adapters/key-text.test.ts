import { describe, expect, it } from 'vitest';
import { generateKeyPair } from '../../src/adapters/keys/pem.js';
import { keyText } from '../../src/adapters/keys/private-key.js';
import { privateKeySourceContract } from '../contracts/private-key-source.contract.js';

const block = 'serviceAccount';

privateKeySourceContract('keyText', async () => {
  const [first, second] = await Promise.all([generateKeyPair(), generateKeyPair()]);
  const [text, otherText] = [first.privateKeyPem.reveal(), second.privateKeyPem.reveal()];
  return {
    usable: keyText(text, block),
    other: keyText(otherText, block),
    publicKeyPem: first.publicKeyPem,
    unusable: {
      empty: keyText('', block),
      placeholder: keyText('<PRIVATE_KEY>', block),
      'cut off': keyText(text.slice(0, 900), block),
    },
    field: 'privateKeyPem',
    secrets: [text.slice(100, 150), otherText.slice(100, 150)],
    internal: ['<PRIVATE_KEY>', 'ERR_'],
  };
});

describe('a key given as text', () => {
  it('reports block, field and reason when it is unusable', () => {
    expect(keyText('<PRIVATE_KEY>', block).read()).toEqual({
      kind: 'unusable',
      reason: 'refused',
      fields: ['privateKeyPem'],
      advice:
        'Put an unencrypted RSA private key of at least 2,048 bits in PEM form into "privateKeyPem" in the "serviceAccount" configuration block: it holds a placeholder.',
      log: 'privateKeyPem: holds a placeholder',
    });
  });
});

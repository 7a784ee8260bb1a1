import { createHmac } from 'node:crypto';
import type { Identity } from '../../ports/identity-provider.js';
import { principalOf, proofsOf } from '../config/identity-fields.js';
import type { AnyRows, Values } from '../config/schema.js';

/** The inputs of a built-in provider's identity. */
export interface IdentityFacts {
  /** The flow, such as `idp_a.password`. */
  readonly flow: string;
  /** The fields its tokens depend on, as the table of the configuration has them. */
  readonly rows: AnyRows;
  readonly values: Values;
  /** Keys the proof: a bare digest of a weak password in a shared store could be guessed. */
  readonly proofKey: Uint8Array;
  /** Names what the files of a key hold now. Default: there are none. */
  readonly material?: () => Promise<string>;
}

/** The identity of a built-in provider: each field of its blocks is on the side that the table of the configuration says. */
export function configuredIdentity({ flow, rows, values, proofKey, material }: IdentityFacts): () => Promise<Identity> {
  const principal = `${flow} ${principalOf(rows, values)}`;
  const proofs = proofsOf(rows, values);
  let last: { readonly held: string; readonly identity: Identity } | undefined;
  return async () => {
    const held = (await material?.()) ?? '';
    if (last?.held !== held) {
      const proof = createHmac('sha256', proofKey)
        .update(JSON.stringify([...proofs, held]))
        .digest('base64url');
      last = { held, identity: { principal, proof } };
    }
    return last.identity;
  };
}

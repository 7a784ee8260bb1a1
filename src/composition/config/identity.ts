import { createHmac } from 'node:crypto';
import { sha256 } from '../../adapters/system/sha256.js';
import { type AnySettings, revealed, type Setting, type Side } from '../../domain/shared/setting.js';
import { canonicalJson } from '../../domain/surfaces/canonical-json.js';
import type { Identity } from '../../ports/identity.js';

/** The inputs of a built-in provider's identity. */
export interface IdentityFacts {
  /** The flow, such as `idp_a.password`. */
  readonly flow: string;
  /** The settings its tokens depend on. */
  readonly settings: AnySettings;
  /** Keys the proof: a bare digest of a weak password in a shared store could be guessed. */
  readonly proofKey: Uint8Array;
  /** Names the present content of key files. Default: there are none. */
  readonly material?: (() => Promise<string>) | undefined;
}

/** The identity of a built-in provider: each of its settings is on the side that its row says. */
export function configuredIdentity({ flow, settings, proofKey, material }: IdentityFacts): () => Promise<Identity> {
  const principal = `${flow} ${principalOf(settings)}`;
  const proofs = onSide('proof', settings).map(([, setting]) => revealed(setting));
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

/**
 * The principal that these settings state. A digest: claims may hold what their owner would not want to see in a cache, and any field a secret that belongs into another.
 * Blocks inside are not part of it, nor is a secret, which nothing can write.
 */
export function principalOf(settings: object): string {
  const named = onSide('principal', settings as AnySettings).map(([name, { value }]) => [name, spelled(value)]);
  return sha256(JSON.stringify(named));
}

function onSide(side: Side, settings: AnySettings): readonly (readonly [name: string, setting: Setting<unknown>])[] {
  return Object.entries(settings).filter(([, setting]) => setting.side === side);
}

/** One text for one value, in whatever order its members are written. */
function spelled(value: unknown): string {
  try {
    const json = JSON.stringify(value ?? null);
    return canonicalJson(json) ?? json;
  } catch {
    return 'not JSON';
  }
}

import type { Identity } from '../../ports/identity.js';

/**
 * The identity a provider or an exchange states.
 *
 * @throws TypeError when it states none: under an empty principal, strangers would share what is cached.
 */
export async function statedIdentity(stating: { identity(): Identity | Promise<Identity> }): Promise<Identity> {
  const stated: unknown = await stating.identity();
  const { principal, proof } = (stated ?? {}) as Partial<Record<keyof Identity, unknown>>;
  if (typeof principal === 'string' && principal !== '' && typeof proof === 'string') return { principal, proof };
  throw new TypeError('"identity" has to give a "principal" that is not empty and a "proof", both strings');
}

import { createHmac, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';

/**
 * Digests of 64 bits for `chat` events. With a key they are the same in every process that has it; without one, in this
 * process only. The key is derived (RFC 5869), so that a digest says nothing about other uses of it.
 */
export function chatDigest(shared: KeyObject | undefined): (text: string) => string {
  const key = shared === undefined ? randomBytes(32) : hkdfSync('sha256', shared, '', 'agent-bff telemetry', 32);
  const bytes = new Uint8Array(key);
  return (text) => createHmac('sha256', bytes).update(text).digest('hex').slice(0, 16);
}

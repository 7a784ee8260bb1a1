import type { Clock } from '../../ports/clock.js';
import { fileAdvice, type KeyField, pemAdvice, type Unusable, unusable } from './advice.js';
import { type PemReading, readPem } from './pem.js';
import { ParsedFile, locationOf, WatchedReading } from './watched-file.js';

/**
 * The result of reading a private key: the key, or the reason, without values.
 *
 * @public
 */
export type PrivateKeyReading = Extract<PemReading, { kind: 'key' }> | Unusable;

/**
 * Reads a private key from the configuration or a file, and notices when the file changes.
 *
 * @public
 */
export interface PrivateKeySource {
  /** Makes the next `read` check the file again, even if it was checked recently. */
  recheck?(): void;
  /** Reads again only if the file changed; cheap to call before each signature. */
  read(): PrivateKeyReading;
}

/** A private key in the configuration; advice names the configuration block `block`. */
export function keyText(text: string, block: string): PrivateKeySource {
  const reading = parse(text, 'privateKeyPem', block);
  return { read: () => reading };
}

/** A private key in a file; advice names the configuration block `block`. */
export function keyFile(path: string, block: string, clock: Clock): WatchedReading<PrivateKeyReading> {
  return new WatchedReading(clock, keyFileReader(path, block));
}

/** Reads the key in a file, and parses it again only if the file changed. */
export function keyFileReader(path: string, block: string): () => PrivateKeyReading {
  const location = `: ${locationOf(path)}`;
  const file = new ParsedFile(path, (content) => parse(content.toString(), 'privateKeyPath', block, location));
  return () => {
    if (path.includes('-----BEGIN')) {
      const advice = `Move the key to "privateKeyPem" in the "${block}" configuration block: "privateKeyPath" takes the path of a file.`;
      return unusable(['privateKeyPath'], advice, `the value is a PEM text${location}`);
    }
    const found = file.read();
    if (found.kind !== 'unreadable') return found;
    return unusable(['privateKeyPath'], fileAdvice('privateKeyPath', block, found.code), `${found.code}${location}`);
  };
}

function parse(text: string, field: KeyField, block: string, location = ''): PrivateKeyReading {
  const pem = readPem(text);
  if (pem.kind === 'key') return pem;
  return unusable([field], pemAdvice(field, block, pem.fault), `${pem.fault} ${pem.code}`.trimEnd() + location);
}

import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { KeyvLike } from '../../src/adapters/keyv/keyv-store.js';

/** The constructor that both versions of Keyv share. */
export type KeyvClass = new (store: object) => KeyvLike;

// `.ci/run` installs Keyv 6 here. It requires a newer Node than we support, so as a devDependency it would print a warning on every install.
const FOLDER =
  process.env['KEYV6_PATH'] ?? fileURLToPath(new URL('../../temp/keyv6/node_modules/keyv', import.meta.url));

/** Keyv 6, or `undefined` if it is not installed. */
export async function loadKeyv6(): Promise<KeyvClass | undefined> {
  const entry = `${FOLDER}/dist/index.mjs`;
  if (process.env['KEYV6_PATH'] === undefined && !existsSync(entry)) return undefined;
  const module = (await import(pathToFileURL(entry).href)) as { Keyv: KeyvClass };
  return module.Keyv;
}

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The page's own files: beside this file in the sources, two folders up from the compiled one. */
export const publicDirectory: string =
  ['./public', '../../site/public']
    .map((path) => fileURLToPath(new URL(path, import.meta.url)))
    .find((path) => existsSync(path)) ?? missing();

/** The event stream parser as its package ships it: browsers load it as it is. */
export const eventSourceParserDirectory: string = dirname(
  createRequire(import.meta.url).resolve('eventsource-parser/stream'),
);

function missing(): never {
  throw new Error('The folder "public" of the example site is missing.');
}

import { createRequire } from 'node:module';

/** Loads a framework that is installed for the rivals only: this package is known by its own name here, and not there. */
export const peer = createRequire(new URL('../rivals/package.json', import.meta.url));

import { goReaders } from './go-readers.js';
import { nodeReaders } from './node-readers.js';
import { pythonReaders } from './python-readers.js';
import type { ReaderFamily } from './reading.js';

/** Programs other than this package that read A2A messages. */
export const READER_FAMILIES: readonly ReaderFamily[] = [nodeReaders, goReaders, pythonReaders];

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { readByProgram } from './reading-program.js';
import type { ReaderFamily } from './reading.js';

const PROGRAM = fileURLToPath(new URL('python/readers.py', import.meta.url));
const DESCRIPTORS = fileURLToPath(new URL('a2a-messages.descriptor.json', import.meta.url));

/** `PYTHON3_PATH`, else the system's own. A Python earlier on the `PATH` may lack the packages. */
const PYTHON = process.env['PYTHON3_PATH'] ?? '/usr/bin/python3';

/** `json` with the charset guessed and declared, pydantic, and the JSON parser of protobuf. */
export const pythonReaders: ReaderFamily = {
  name: 'Python',
  installed:
    process.env['PYTHON3_PATH'] !== undefined ||
    spawnSync(PYTHON, ['-c', 'import pydantic, google.protobuf']).status === 0,
  read: (messages) => readByProgram(PYTHON, [PROGRAM, DESCRIPTORS], messages),
};

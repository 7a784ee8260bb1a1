import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readByProgram } from './reading-program.js';
import type { ReaderFamily } from './reading.js';

const FOLDER = fileURLToPath(new URL('go', import.meta.url));
const DESCRIPTORS = fileURLToPath(new URL('a2a-messages.descriptor.json', import.meta.url));
/** Debian's folder of Go packages, such as `golang-google-protobuf-dev`. */
const GO_PACKAGES = '/usr/share/gocode';

/** The compiler: `GO_BINARY_PATH`, else the first on the `PATH`; undefined if not found. */
const GO: string | undefined =
  process.env['GO_BINARY_PATH'] ??
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'go'))
    .find((path) => existsSync(path));

/** `encoding/json` into structs and maps, and `protojson`. */
export const goReaders: ReaderFamily = {
  name: 'Go',
  installed:
    process.env['GO_BINARY_PATH'] !== undefined ||
    (GO !== undefined && existsSync(join(GO_PACKAGES, 'src/google.golang.org/protobuf'))),
  read: async (messages) => {
    const folder = mkdtempSync(join(tmpdir(), 'agent-bff-go-'));
    try {
      return await readByProgram(built(folder), [DESCRIPTORS], messages);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** Compiles offline. The compiler's cache makes later runs fast. */
function built(folder: string): string {
  if (GO === undefined) throw new Error('there is no go');
  const program = join(folder, 'readers');
  const sources = readdirSync(FOLDER).map((name) => join(FOLDER, name));
  const env = { GO111MODULE: 'off', GOPATH: `${folder}${delimiter}${GO_PACKAGES}`, GOFLAGS: '', CGO_ENABLED: '0' };
  execFileSync(GO, ['build', '-o', program, ...sources], { stdio: 'inherit', env: { ...process.env, ...env } });
  return program;
}

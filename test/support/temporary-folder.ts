import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/** A folder for one caller. It is removed at the end of the run, even if tests fail or are skipped. */
export function temporaryFolder(name: string): string {
  return mkdtempSync(join(tmpdir(), `${name}-`));
}

/** Vitest's global set-up. All temporary files of a run, including those of child processes, share one folder that is removed at the end. */
export default function setUp(): (() => void) | undefined {
  // Vitest calls this once per project. Nested folders would make socket paths too long.
  if (basename(tmpdir()).startsWith('agent-bff-tests-')) return undefined;
  const folder = temporaryFolder('agent-bff-tests');
  for (const variable of ['TMPDIR', 'TEMP', 'TMP']) process.env[variable] = folder;
  // Browsers and servers that have just stopped may still write.
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/** A folder for the caller alone; the end of the run removes it, also when tests fail or are skipped. */
export function temporaryFolder(name: string): string {
  return mkdtempSync(join(tmpdir(), `${name}-`));
}

/** Vitest's global set-up: every temporary file of this run, child processes included, lies in one folder, and goes with it. */
export default function setUp(): (() => void) | undefined {
  // Vitest calls this once for each of its projects, and sockets below nested folders would have names that are too long.
  if (basename(tmpdir()).startsWith('agent-bff-tests-')) return undefined;
  const folder = temporaryFolder('agent-bff-tests');
  for (const variable of ['TMPDIR', 'TEMP', 'TMP']) process.env[variable] = folder;
  // Browsers and servers that were just ended may still write.
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * The path of a program: the variable unchanged (a wrong one must fail, not skip the tests), else the first of the names
 * on the `PATH`; undefined if not found.
 */
export function programPath(variable: string, names: readonly string[]): string | undefined {
  if (process.env[variable]) return process.env[variable];
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/**
 * Where a program is: the variable as it stands (a wrong one shall fail, not skip the tests), else the first of the names
 * on the `PATH`; undefined when there is none.
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

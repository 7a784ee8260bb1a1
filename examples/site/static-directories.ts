import { fileURLToPath } from 'node:url';

/** This file runs from the sources in tests, and compiled in `examples/dist/site`. */
const isCompiled = import.meta.url.endsWith('.js');

/** The page as Vite built it: `examples/dist/web`. */
export const pageDirectory: string = folder(isCompiled ? '../web' : '../dist/web');

/** Pictures of the users, which are not part of the build: `examples/site/people`. */
export const peopleDirectory: string = folder(isCompiled ? '../../site/people' : './people');

function folder(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}

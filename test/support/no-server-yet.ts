import { afterAll, vi } from 'vitest';

/** Runs before every test file. Resets the configured server and the printed faults, which files in one process would share. */
for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
  if (symbol.description?.startsWith('agent-bff/')) Reflect.deleteProperty(globalThis, symbol);
}

// Each test resets what the one before it replaced; the last one of a file leaves it to the hooks of the next file.
afterAll(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

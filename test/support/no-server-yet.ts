/** Runs before every test file. Resets the configured server and the printed faults, which files in one process would share. */
for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
  if (symbol.description?.startsWith('agent-bff/')) Reflect.deleteProperty(globalThis, symbol);
}

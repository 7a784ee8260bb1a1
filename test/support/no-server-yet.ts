/** Run before every test file: files that share a process do not share a configured server, nor what was already told. */
for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
  if (symbol.description?.startsWith('agent-bff/')) Reflect.deleteProperty(globalThis, symbol);
}

// oidc-provider prints advice for operators when it loads and starts, which does not apply to a local demo. Import this
// file before `oidc-provider`.
for (const level of ['info', 'warn'] as const) {
  const print = console[level].bind(console);
  console[level] = (...line: unknown[]): void => {
    if (typeof line[0] === 'string' && line[0].includes('oidc-provider ')) return;
    print(...line);
  };
}

export {};

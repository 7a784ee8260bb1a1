// oidc-provider prints development notices while it loads and starts. They would clutter test reports.
// Import this file before `oidc-provider`.
for (const level of ['info', 'warn'] as const) {
  const print = console[level].bind(console);
  console[level] = (...line: unknown[]): void => {
    if (typeof line[0] === 'string' && line[0].includes('oidc-provider ')) return;
    print(...line);
  };
}

export {};

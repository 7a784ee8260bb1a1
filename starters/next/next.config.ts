import type { NextConfig } from 'next';

const config: NextConfig = {
  // Not bundled, so that the routes and instrumentation.ts share one copy.
  serverExternalPackages: ['agent-bff'],
  // The chat is served at `/api/a2a/` too; without this, Next redirects there.
  skipTrailingSlashRedirect: true,
};

export default config;

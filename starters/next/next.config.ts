import type { NextConfig } from 'next';

const config: NextConfig = {
  // Loaded by Node as it is: the routes and instrumentation.ts then share one copy.
  serverExternalPackages: ['agent-bff'],
  // The chat is served at `/api/a2a/` too; without this, Next redirects there.
  skipTrailingSlashRedirect: true,
};

export default config;

import type { NextConfig } from 'next';

const config: NextConfig = {
  // The chat is served at `/api/a2a/` too; without this, Next redirects there.
  skipTrailingSlashRedirect: true,
};

export default config;

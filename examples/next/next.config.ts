import { fileURLToPath } from 'node:url';
import type { NextConfig } from 'next';

// `agent-bff` is the folder two levels up (see `paths` in tsconfig.json). A site that installs it from the registry needs neither line.
const repository = fileURLToPath(new URL('../..', import.meta.url));

const config: NextConfig = {
  turbopack: { root: repository },
  outputFileTracingRoot: repository,
  // The chat is served at `/api/a2a/` too; without this, Next redirects there.
  skipTrailingSlashRedirect: true,
};

export default config;

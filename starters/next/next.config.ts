import type { NextConfig } from 'next';

const config: NextConfig = {
  // The page is a plain file until there is an app/page.tsx.
  rewrites: async () => [{ source: '/', destination: '/index.html' }],
  // The chat answers at /api/a2a/ too, where some A2A clients look for its card; without this, Next redirects there.
  skipTrailingSlashRedirect: true,
};

export default config;

import { defineConfig } from 'vite';

/** In development the front end has its own server, which proxies everything except the page to the site's. */
const site = process.env['SITE_URL'] ?? 'http://localhost:3000';

export default defineConfig({
  root: import.meta.dirname,
  server: { proxy: Object.fromEntries(['/api', '/auth', '/demo', '/people'].map((path) => [path, site])) },
  build: {
    outDir: '../../dist/web',
    emptyOutDir: true,
    // 'use client' in the components is for frameworks that render on the server.
    rolldownOptions: { checks: { moduleLevelDirective: false } },
  },
});

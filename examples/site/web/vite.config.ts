import { defineConfig } from 'vite';

/** In development the front end has its own server, which proxies everything except the page to the site's. */
const site = process.env['SITE_URL'] ?? 'http://localhost:3000';

export default defineConfig({
  root: import.meta.dirname,
  server: {
    proxy: Object.fromEntries(
      // The site then sees the name in the browser, and accepts its pages.
      ['/api', '/auth', '/demo', '/people'].map((path) => [path, { target: site, changeOrigin: false }]),
    ),
  },
  build: {
    outDir: '../../dist/web',
    emptyOutDir: true,
    // The package contains the page with third-party code; scripts/notices.mjs creates LICENSES.txt from these notices.
    license: { fileName: 'licences.json' },
    // 'use client' in the components is for frameworks that render on the server.
    rolldownOptions: { checks: { moduleLevelDirective: false } },
  },
});

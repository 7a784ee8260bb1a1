import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { rolldown } from 'rolldown';

const fromRoot = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** The strictest policy: no inline style or script, no eval, and markup only through the sanitiser. */
export const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "require-trusted-types-for 'script'",
  'trusted-types dompurify',
].join('; ');

const PAGE = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A page</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<script src="/page/violations.js"></script>
<link rel="icon" href="/page/icon"><link rel="stylesheet" href="/page/style.css"><link rel="stylesheet" href="/page/own.css">
</head><body><div id="root"></div><script type="module" src="/page/entry.js"></script></body></html>`;
const OWN_STYLE = 'html, body, #root { height: 100%; margin: 0; } .own-button { background: rgb(1, 2, 3); }';

/** Records what the page's Content-Security-Policy reports. */
const VIOLATIONS = `globalThis.violations = [];
document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) =>
  violations.push([violatedDirective, blockedURI, sample].join(' ')));`;

let files: Promise<ReadonlyMap<string, string>> | undefined;

/** The files of the test page, by their names below `/page/`, for every suite of a process; the components are built first. */
export function componentFiles(): Promise<ReadonlyMap<string, string>> {
  return (files ??= builtFiles());
}

async function builtFiles(): Promise<ReadonlyMap<string, string>> {
  await promisify(execFile)(process.execPath, [fromRoot('scripts/build.mjs'), 'react', '--if-needed']);
  return new Map([
    ['', PAGE],
    ['violations.js', VIOLATIONS],
    ['own.css', OWN_STYLE],
    ['style.css', readFileSync(fromRoot('react/dist/style.css'), 'utf8')],
    ...(await bundledPage()),
  ]);
}

/** The media type of a file of the test page. */
export function mediaTypeOf(name: string): string {
  const type = name.endsWith('.js') ? 'text/javascript' : name.endsWith('.css') ? 'text/css' : 'text/html';
  return `${type}; charset=utf-8`;
}

/** The page's script, split into chunks like a site's bundle. */
export async function bundledPage(
  mode: 'production' | 'development' = 'production',
): Promise<readonly (readonly [string, string])[]> {
  const bundled = await rolldown({
    input: { entry: fromRoot('test/support/component-page.ts') },
    platform: 'browser',
    checks: { moduleLevelDirective: false },
    transform: { define: { 'process.env.NODE_ENV': JSON.stringify(mode) } },
  });
  const { output } = await bundled.generate({
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
  });
  await bundled.close();
  return output.flatMap((file) => (file.type === 'chunk' ? [[file.fileName, file.code] as const] : []));
}

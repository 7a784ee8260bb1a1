import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const fromRoot = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** The folder of the Next example. */
export const NEXT_EXAMPLE: string = fromRoot('examples/next');

/** True if its packages are installed: `npm ci --prefix examples/next`. */
export const nextIsInstalled: boolean = existsSync(`${NEXT_EXAMPLE}/node_modules/next/package.json`);

/** Time limit for compiling the example on a busy machine. */
export const A_BUILD_MS = 300_000;

/** Compiles the example with Next if it is not compiled yet. */
export async function buildNextExample(): Promise<void> {
  await promisify(execFile)(process.execPath, [fromRoot('scripts/build.mjs'), 'next', '--if-needed']);
}

/** The example's environment variables for signing in. No server listens at this address. */
export const SIGN_IN: Readonly<Record<string, string>> = {
  AUTH0_DOMAIN: 'http://localhost:9/',
  AUTH0_CLIENT_ID: 'website',
  AUTH0_CLIENT_SECRET: 'secret-of-the-website-0123456789',
  AUTH0_SECRET: '0123456789abcdef'.repeat(4),
  AUTH0_AUDIENCE: 'https://platform.example/api',
  APP_BASE_URL: 'http://localhost:9',
};

/** The part of Next's own server that is used. */
interface NextServer {
  prepare(): Promise<void>;
  getRequestHandler(): RequestListener;
}

/** The built example as a custom server in this process. Only one can run. */
export async function startNextHere(environment: Readonly<Record<string, string>> = {}): Promise<RequestListener> {
  Object.assign(process.env, { ...SIGN_IN, NODE_ENV: 'production', ...environment });
  const next = createRequire(`${NEXT_EXAMPLE}/package.json`)('next') as (options: object) => NextServer;
  const app = next({ dir: NEXT_EXAMPLE, dev: false, quiet: true });
  await app.prepare();
  return app.getRequestHandler();
}

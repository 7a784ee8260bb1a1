import { type Finding, passed, skipped, warning } from './finding.js';

const CHECK = 'error page';
/** The default mount path; a parser for the whole site runs before any path. */
const PATH = '/api/a2a';
const DEADLINE_MS = 5_000;
const FIX =
  'Mount an error handler behind all other middleware of the site, as the recipe for Express in docs/frameworks.md does, and set NODE_ENV to production.';

/**
 * Sends the running site a body that no parser takes. A parser runs before the routes of this package, and what it throws is shown
 * on the framework's own page: with the stack, on a site without an error handler.
 */
export async function errorPage(publicUrl: string): Promise<Finding> {
  let status: number;
  let page: string;
  try {
    const response = await fetch(publicUrl + PATH, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{',
      redirect: 'manual',
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    ({ status } = response);
    page = await response.text();
  } catch {
    return skipped(CHECK, `${new URL(publicUrl).origin} does not respond; try again when the site runs`);
  }
  if (!hasStack(page)) return passed(CHECK, `shows no stack (status ${String(status)} for a broken body)`);
  const place = { block: 'environment', fields: ['NODE_ENV'] };
  return warning(CHECK, 'shows visitors the stack of an error, for a broken body', place, FIX);
}

/** True for a text, or a page of Express, with a line of a stack such as `at JSON.parse (server.js:1:2)`. */
function hasStack(page: string): boolean {
  const lines = page.replaceAll('&nbsp;', ' ').replaceAll('<br>', '\n').split('\n');
  return lines.some((line) => line.trimStart().startsWith('at ') && /:\d+:\d/.test(line));
}

import express from 'express';
import express4 from 'express4';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { listeningSite } from '../../site/frameworks/listening-site.js';
import { plainReading, type SameName } from './reading.js';
import type { ReadingServer } from './reading-server.js';

/** Express, with its own parser and with what sites write instead of it. */
export const expressReaders: readonly ReadingServer[] = [
  expressReader('express-5-json', express, express.json({ limit: '4mb' })),
  expressReader('express-4-json', express4, express4.json({ limit: '4mb' })),
  expressReader('express-5-json-any-type', express, express.json({ limit: '4mb', strict: false, type: () => true })),
  expressReader('express-5-json-without-case', express, express.json({ limit: '4mb' }), plainly, withoutCase),
  expressReader('express-5-json-camelized', express, express.json({ limit: '4mb' }), plainly, camelized),
  expressReader('express-5-text', express, express.text({ limit: '4mb', type: () => true }), parseText),
  expressReader('express-5-raw', express, express.raw({ limit: '4mb', type: () => true }), parseText),
];

function expressReader(
  reader: string,
  framework: typeof express,
  parser: RequestHandler,
  value: (body: unknown) => unknown = plainly,
  same?: SameName,
): ReadingServer {
  return {
    reader,
    start: (report) => {
      const app = framework();
      app.use(parser);
      app.use((request, response) => {
        report(plainReading(value(request.body), same));
        response.end();
      });
      app.use(quiet);
      return listeningSite(app);
    },
  };
}

function plainly(body: unknown): unknown {
  return body;
}

/** As Java's `equalsIgnoreCase` and its like: capitals first, which take ſ for s and ı for i, and then small letters, which take K for k. */
function withoutCase(found: string, name: string): boolean {
  return found.toUpperCase() === name.toUpperCase() || found.toLowerCase() === name.toLowerCase();
}

/** As middleware that turns all names into camelCase. */
function camelized(found: string, name: string): boolean {
  const camel = found.replaceAll(/[-_\s]+(.)?/g, (_separator, letter: string = '') => letter.toUpperCase());
  return camel.charAt(0).toLowerCase() + camel.slice(1) === name;
}

function parseText(body: unknown): unknown {
  return JSON.parse(String(body)) as unknown;
}

/** Express's own error handler would print every refusal. */
const quiet: ErrorRequestHandler = (_error, _request, response, _next) => {
  response.status(400).end();
};

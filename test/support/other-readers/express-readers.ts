import express from 'express';
import express4 from 'express4';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { listeningSite } from '../../site/frameworks/listening-site.js';
import { plainReading, type SameName } from './reading.js';
import type { ReadingServer } from './reading-server.js';

/** Express with its own parser, and with common replacements. */
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

/** Compares like Java's `equalsIgnoreCase`: in upper case, where ſ equals s and ı equals i, then in lower case, where K equals k. */
function withoutCase(found: string, name: string): boolean {
  return found.toUpperCase() === name.toUpperCase() || found.toLowerCase() === name.toLowerCase();
}

/** Compares like middleware that converts all names to camelCase. */
function camelized(found: string, name: string): boolean {
  const camel = found.replaceAll(/[-_\s]+(.)?/g, (_separator, letter: string = '') => letter.toUpperCase());
  return camel.charAt(0).toLowerCase() + camel.slice(1) === name;
}

function parseText(body: unknown): unknown {
  return JSON.parse(String(body)) as unknown;
}

/** Replaces Express's error handler, which would print every rejection. */
const quiet: ErrorRequestHandler = (_error, _request, response, _next) => {
  response.status(400).end();
};

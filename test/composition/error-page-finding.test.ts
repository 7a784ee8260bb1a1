import express, { type ErrorRequestHandler } from 'express';
import { expect, it, onTestFinished, vi } from 'vitest';
import { siteFindings } from '../../src/composition/cli/deployment-findings.js';
import { listeningSite } from '../site/frameworks/listening-site.js';

const answerError: ErrorRequestHandler = (error: { status: number }, _request, response, _next) => {
  response.sendStatus(error.status);
};

it.each([
  ['a site that shows the stack of an error', undefined, 'warning', /^shows visitors a stack trace/],
  ['a site with an error handler', answerError, 'ok', /^shows no stack trace \(status 400 for an invalid body\)$/],
])('the doctor sends an invalid body to %s and reports what visitors see', async (_site, handler, result, message) => {
  vi.stubEnv('NODE_ENV', 'development');
  const app = express().use(express.json());
  if (handler !== undefined) app.use(handler);
  const { url, close } = await listeningSite(app);
  onTestFinished(close);
  const found = { check: 'error page', result, message: expect.stringMatching(message) as string };
  expect(await siteFindings(url)).toContainEqual(expect.objectContaining(found));
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from './support/documents.js';

/** Parts that once did by private members of Node, or by pushing, what a counter, a timer, shared bytes and iterators do. */
const GONE = [
  'BodySink',
  'FlowingBody',
  'NodeExchange',
  'Pipeline',
  'PulledBody',
  'processExchange',
  'provideExchange',
  'ReadableFlow',
  'SendBudget',
  'SendShare',
  'SendWatch',
  'serveFirst',
  'StallCounter',
  'StallWatch',
  'tellsProgress',
  'unsentBytes',
];
const GONE_FILES = ['node/send-budget', 'node/stall-watch', 'shared/stall-counter'];

/** Private members of Node, and methods of its objects that were replaced or called by hand. */
const PRIVATE = [
  /\b_(?:handle|httpMessage|read: )/,
  /\bdestroySoon\b/,
  /\bwriteQueueSize\b/,
  /\bObject\.assign\((?:request|response|socket)\b/,
  /\.emit\(/,
];
const INBOUND = ['express', 'fetch', 'koa', 'next', 'node'].map((folder) => `adapters/${folder}/`);

const SOURCES = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.ts'));
const naming = (name: RegExp, paths = SOURCES): readonly string[] =>
  paths.filter((path) => name.test(readFileSync(join(ROOT, 'src', path), 'utf8')));

it('requests are served by what Node documents, so none of the former parts may come back', () => {
  for (const name of GONE) expect(naming(new RegExp(String.raw`\b${name}\b`)), name).toEqual([]);
  expect(SOURCES.filter((path) => GONE_FILES.some((name) => path.endsWith(`${name}.ts`)))).toEqual([]);
});

it('the adapters for requests name no private member of Node, and replace or emit nothing on its objects', () => {
  const inbound = SOURCES.filter((path) => INBOUND.some((folder) => path.startsWith(folder)));
  expect(inbound.length).toBeGreaterThan(10);
  for (const member of PRIVATE) expect(naming(member, inbound), String(member)).toEqual([]);
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from './support/documents.js';

/** Ways in which this package once read a message a second time, or knew it by a second type. */
const GONE = [
  'AdmittedCall',
  'bareCaller',
  'canonicalJson',
  'ChatMessage',
  'GuardedCall',
  'HttpJsonBinding',
  'HttpJsonRequest',
  'isPlaced',
  'JsonCursor',
  'JsonOutline',
  'MessageBody',
  'readsOn',
  'Scrutiny',
  'startsWork',
];
const GONE_FILES = [
  'canonical-json',
  'chat-message',
  'conversations',
  'http-json-binding',
  'json-cursor',
  'message-edits',
];
/** The file that reads calls. */
const READER = 'domain/chat/call.ts';

const SOURCES = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.ts'));
const textOf = (path: string): string => readFileSync(join(ROOT, 'src', path), 'utf8');
const naming = (name: RegExp): readonly string[] => SOURCES.filter((path) => name.test(textOf(path)));

it('a message has one reader and one type, so none of the former ones is back', () => {
  expect(SOURCES.length).toBeGreaterThan(150);
  for (const name of GONE) expect(naming(new RegExp(String.raw`\b${name}\b`)), name).toEqual([]);
  const files = SOURCES.filter((path) => GONE_FILES.some((name) => path.endsWith(`domain/chat/${name}.ts`)));
  expect(files).toEqual([]);
});

it('only the reader of calls knows what a method does, and parses the body of a message', () => {
  expect(naming(/'message\/stream'/).filter((path) => !path.startsWith('composition'))).toEqual([READER]);
  expect(naming(/new JsonDocument\(/)).toEqual(['domain/chat/call.ts', 'domain/chat/sent-message.ts']);
});

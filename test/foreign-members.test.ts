import { fileURLToPath } from 'node:url';
import { API, type Project } from 'typescript/unstable/sync';
import { afterAll, describe, expect, it } from 'vitest';
import { foreignUses } from './support/foreign-members.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

/** Members that the documentation of Node, or of the library that adds them, names. */
const DOCUMENTED: Readonly<Record<string, string>> = {
  'declares originalUrl': 'Express and Connect keep the whole target here',
  'casts originalUrl': 'Express and Connect keep the whole target here',
  'declares baseUrl': 'Express keeps the mount point here',
  'declares protocol': 'Express, by its trust setting',
  'declares hostname': 'Express, by its trust setting',
  'casts body': 'body parsers of Connect, Express and Koa keep their result here',
  'casts rawBody': 'body parsers and serverless hosts keep the bytes here',
  'declares flush': 'the `compression` middleware',
  'tests encrypted': 'a TLS socket has it',
  'assigns statusCode': 'the status of a response is set here',
  'assigns exitCode': 'the status of the process is set here',
  'assigns serialize': 'Keyv takes texts as they are without it',
  'assigns deserialize': 'Keyv takes texts as they are without it',
  'assigns namespace': 'Keyv puts no prefix before the names of entries without it',
  'assigns current': 'the value of a React ref is set here',
};

interface Exception {
  readonly folder: string;
  readonly uses: readonly string[];
  readonly reason: string;
  readonly until: string;
}

const EXCEPTIONS: readonly Exception[] = [
  {
    folder: 'src/adapters/undici',
    uses: ['imports undici/lib/dispatcher/client.js', 'imports undici/lib/core/connect.js'],
    reason:
      'all of undici takes three times as long to load, and replaces the dispatcher of the global fetch (decision 73)',
    until: 'undici has entries for its parts',
  },
  {
    folder: 'src/adapters/undici',
    uses: ['assigns read', 'emits readable'],
    reason: "undici's own pause ends the process if the platform closes the connection meanwhile",
    until: 'support for Node 20 ends: undici 8.13, which has mended it, needs Node 22.19',
  },
  {
    folder: 'src/adapters/telemetry',
    uses: ['takes the symbol OpenTelemetry SDK Context Key SUPPRESS_TRACING'],
    reason:
      'otherwise calls to the platform have two spans; `suppressTracing` is in a package that a site need not have',
    until: 'the API of OpenTelemetry can suppress tracing',
  },
  {
    folder: 'src/adapters/node',
    uses: ['casts parser'],
    reason:
      'Node goes on creating the requests of a chunk when their connection is destroyed: 300 connections of 5,000 would end a process with a heap of 256 MB (decision 83)',
    until: 'Node stops at a closed socket',
  },
];

/** Every use that was ever in this code, and the ways around a rule, as the smallest text that has it. */
const CASES: Readonly<Record<string, readonly [use: string, text: string]>> = {
  'a member by a cast': [
    'casts _httpMessage',
    `import type { Socket } from 'node:net';
     export const first = (socket: Socket) => (socket as { readonly _httpMessage?: unknown })._httpMessage;`,
  ],
  'a member of a member by a cast': [
    'casts parser',
    `import type { Socket } from 'node:net';
     export function stop(socket: Socket): void {
       const { parser } = socket as { readonly parser?: { onIncoming?: () => number } | null };
       if (parser) parser.onIncoming = () => 2;
     }`,
  ],
  'a method that is overwritten': [
    'assigns destroySoon',
    `import type { IncomingMessage } from 'node:http';
     export const keep = (request: IncomingMessage): void => void (request.socket.destroySoon = () => undefined);`,
  ],
  'a member of what may be absent': [
    'casts _handle',
    `import type { ServerResponse } from 'node:http';
     export const queued = ({ socket }: ServerResponse) =>
       (socket as { readonly _handle?: { readonly writeQueueSize?: number } | null } | null)?._handle?.writeQueueSize;`,
  ],
  'several methods at once': [
    'calls Object.assign',
    `import type { IncomingMessage } from 'node:http';
     export const stop = (request: IncomingMessage) => Object.assign(request, { push: () => false, _read: () => 0 });`,
  ],
  'an event of a socket': [
    'emits readable',
    `import type { Socket } from 'node:net';
     export const go = (socket: Socket | undefined) => socket?.emit('readable');`,
  ],
  'an event of a response': [
    'emits close',
    `import type { ServerResponse } from 'node:http';
     export const end = (response: ServerResponse) => response.emit('close');`,
  ],
  'a property that is overwritten': [
    'assigns rawHeaders',
    `import type { Dispatcher } from 'undici';
     export const free = (controller: Dispatcher.DispatchController) => void (controller.rawHeaders = null);`,
  ],
  'a method of a private field': [
    'assigns read',
    `import type { Socket } from 'node:net';
     export class Connection {
       #socket: Socket | undefined;
       pause(): void {
         if (this.#socket !== undefined) this.#socket.read = () => null;
       }
     }`,
  ],
  'a path of undici': [
    'imports undici/lib/dispatcher/client.js',
    `export const client = () => import('undici/lib/dispatcher/client.js');`,
  ],
  'another path of undici': [
    'imports undici/lib/core/connect.js',
    `import connect from 'undici/lib/core/connect.js'; export default connect;`,
  ],
  'a cast in two steps': [
    'casts _state',
    `import type { Readable } from 'node:stream';
     interface Inside { readonly _state: number; readonly readable: boolean }
     export const state = (stream: Readable) => (stream as unknown as Inside)._state;`,
  ],
  'any name of an object': [
    'casts any name',
    `import type { Socket } from 'node:net';
     export const inside = (socket: Socket, name: string) => (socket as unknown as Record<string, unknown>)[name];`,
  ],
  'an interface with more': [
    'declares _header',
    `import type { ServerResponse } from 'node:http';
     interface Written extends ServerResponse { readonly _header?: string }
     export const head = (response: Written) => response._header;`,
  ],
  'a type with more': [
    'declares _header',
    `import type { ServerResponse } from 'node:http';
     export const head = (response: ServerResponse & { readonly _header?: string }) => response._header;`,
  ],
  'a test of a name': [
    'tests _handle',
    `import type { Socket } from 'node:net';
     export const handle = (socket: Socket) => ('_handle' in socket ? socket._handle : undefined);`,
  ],
  'a symbol of a library': [
    'takes the symbol undici.globalDispatcher.1',
    `export const dispatcher = (globalThis as Record<symbol, unknown>)[Symbol.for('undici.globalDispatcher.1')];`,
  ],
  'a name that is defined': [
    'calls Object.defineProperty',
    `import type { Socket } from 'node:net';
     export const fix = (socket: Socket) => Object.defineProperty(socket, 'read', { value: () => null });`,
  ],
};

/** Uses of objects of our own, and documented ones. */
const FINE = `import { Readable } from 'node:stream';
  import type { ServerResponse } from 'node:http';
  import { useRef } from 'react';
  interface Bus { emit(event: string): void }
  export class Body extends Readable { size = 0; override _read(): void { this.size += 1; this.emit('size'); } }
  export function send(response: ServerResponse, bus: Bus, error: Error): void {
    response.setHeader('x', '1'); bus.emit('close'); Object.assign(error, { code: 'E' });
    Object.assign(globalThis, { [Symbol.for('agent-bff/state@1')]: useRef });
  }`;

const caseFile = (index: number): string => `src/case-${String(index)}.ts`;
const TEXTS = [...Object.values(CASES).map(([, text]) => text), FINE];
const virtual = new Map(TEXTS.map((text, index) => [`${ROOT}/${caseFile(index)}`, text]));
const CONFIG = `${ROOT}/foreign-cases.json`;
virtual.set(
  CONFIG,
  JSON.stringify({ extends: './tsconfig.json', include: [], files: TEXTS.map((_, at) => caseFile(at)) }),
);

const compiler = new API({
  cwd: ROOT,
  fs: {
    readFile: (name) => virtual.get(name),
    fileExists: (name) => (virtual.has(name) ? true : undefined),
  },
});
afterAll(() => compiler.close());

function project(config: string): Project {
  const opened = compiler.updateSnapshot({ openProjects: [config] }).getProject(config);
  if (opened === undefined) throw new Error(`${config} is no project`);
  return opened;
}

/** Every use that is neither documented nor an exception. */
const found = (config: string, folder: string) =>
  foreignUses(project(config), ROOT, (file) => file.startsWith(folder)).filter(({ what }) => !(what in DOCUMENTED));

describe('members of other libraries and of Node', { timeout: 60_000 }, () => {
  it.each(Object.keys(CASES).map((name, at) => [name, at] as const))('are found in the code: %s', (name, at) => {
    expect(found(CONFIG, caseFile(at)).map(({ what }) => what)).toEqual([CASES[name]?.[0]]);
  });

  it('are not found where an object is our own, or its documentation names them', () => {
    expect(found(CONFIG, caseFile(TEXTS.length - 1))).toEqual([]);
  });

  it.each([
    ['src', `${ROOT}/tsconfig.json`, 100],
    ['react/src', `${ROOT}/react/tsconfig.json`, 50],
  ])('are used in %s by the exceptions only', (folder, config, files) => {
    const opened = project(config);
    const names = opened.program.getSourceFileNames().filter((name) => name.startsWith(`${ROOT}/${folder}/`));
    expect(names.length).toBeGreaterThan(files);
    const isListed = (file: string, what: string): boolean =>
      EXCEPTIONS.some((one) => file.startsWith(`${one.folder}/`) && one.uses.includes(what));
    expect(found(config, `${folder}/`).filter(({ file, what }) => !isListed(file, what))).toEqual([]);
  });

  it('are used by every exception', () => {
    const uses = ['src', 'react/src'].flatMap((folder) =>
      found(folder === 'src' ? `${ROOT}/tsconfig.json` : `${ROOT}/react/tsconfig.json`, `${folder}/`),
    );
    for (const { folder, uses: listed } of EXCEPTIONS) {
      const there = uses.filter(({ file }) => file.startsWith(`${folder}/`)).map(({ what }) => what);
      expect(there).toEqual(expect.arrayContaining([...listed]));
    }
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ESTree, parseSync, Visitor } from 'rolldown/utils';
import { describe, expect, it } from 'vitest';
import { ROOT } from './support/documents.js';

/** Ways in which routes once kept the promises of the door by hand. */
const GONE = ['RpcErrors', 'ServedRoute', 'serveRoute', 'withBody'];
const GONE_FILES = ['chat-address', 'serve-route', 'site-settings', 'unserved-mount'];

const DOOR = 'adapters/web/door.ts';
/** Calls that the door makes, once each, and their definitions. */
const ONLY_THE_DOOR: Readonly<Record<string, readonly string[]>> = {
  'checkOrigin(': ['adapters/web/admission.ts'],
  'checkVisitor(': ['adapters/web/admission.ts'],
  'reservation.release(': ['adapters/web/request-body.ts'],
};

/** Functions that make a handler without the door: they choose one, refuse, or wrap one. None calls the domain. */
const WRAPPERS = [
  'adapters/web/admission.ts: behindHostCheck',
  'adapters/web/chat-routes.ts: chatRoutes',
  'adapters/web/config-route.ts: configRoute',
  'adapters/web/request-gate.ts: guard',
  'composition/cli/serve.ts: checked',
  'composition/routes/site-routes.ts: currentHandler',
  'composition/routes/site-routes.ts: handler',
  'composition/routes/site-routes.ts: routeHandler',
  'composition/routes/unconfigured-responses.ts: noRoute',
  'composition/toolkit/site-handlers.ts: #observed',
  'composition/toolkit/site-handlers.ts: #served',
];
/** Calls of the domain for another part of it, or for the site's own code: not from a request of a browser. */
const WITHOUT_REQUEST = [
  'composition/toolkit/domain-module.ts: chatConfig',
  'composition/toolkit/site-handlers.ts: chatConfig',
];

interface SourceFile {
  /** Below `src`. */
  readonly path: string;
  readonly text: string;
}

const SOURCES: readonly SourceFile[] = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path, text: readFileSync(join(ROOT, 'src', path), 'utf8') }));

/** The services of the domain that handlers are made of, by the name of their part. */
const SERVICES: ReadonlyMap<string, string> = new Map(
  [
    ...(/interface SiteParts \{([^}]*)\}/.exec(textOf('composition/toolkit/site-handlers.ts'))?.[1] ?? '').matchAll(
      /readonly (\w+): (\w+)/g,
    ),
  ]
    .map(([, part = '', type = '']) => [part, type] as const)
    .filter(([, type]) => type !== 'RequestGate' && type !== 'Clock'),
);

function textOf(path: string): string {
  return SOURCES.find((source) => source.path === path)?.text ?? '';
}

function violations(file: SourceFile): readonly string[] {
  return [...handMade(file), ...unguarded(file), ...repeated(file)];
}

/** The checks of the door that another file makes, or that the door makes twice. */
function repeated({ path, text }: SourceFile): readonly string[] {
  return Object.entries(ONLY_THE_DOOR).flatMap(([call, definitions]) => {
    if (definitions.includes(path)) return [];
    const count = text.split(call).length - 1;
    return count === (path === DOOR ? 1 : 0) ? [] : [`${path}: ${call} ${String(count)} times`];
  });
}

/** Functions with the type of a handler that are neither one call of `route` nor listed. */
function handMade(file: SourceFile): readonly string[] {
  const { path, text } = file;
  const found: string[] = [];
  const isHandler = (annotation: ESTree.TSTypeAnnotation | null | undefined): boolean =>
    annotation != null && text.slice(annotation.start, annotation.end).replace(/^:\s*/, '') === 'HttpHandler';
  const look = (
    name: string,
    annotation: ESTree.TSTypeAnnotation | null | undefined,
    made: ESTree.Node | null,
  ): void => {
    if (isHandler(annotation) && !isRoute(made) && path !== DOOR) found.push(`${path}: ${name}`);
  };
  visit(file, {
    FunctionDeclaration: ({ id, returnType, body }) => look(id?.name ?? '', returnType, body),
    MethodDefinition: ({ key, value }) => look(text.slice(key.start, key.end), value.returnType, value.body),
    VariableDeclarator: ({ id, init }) => {
      const name = id.type === 'Identifier' ? id.name : '';
      if (id.type === 'Identifier') look(name, id.typeAnnotation, init);
      if (init?.type === 'ArrowFunctionExpression') look(name, init.returnType, init.body);
    },
  });
  return found.filter((name) => !WRAPPERS.includes(name)).map((name) => `${name} makes a handler`);
}

/** True if this is a call of `route`, or of what puts one behind the gate, or a body that returns one. */
function isRoute(made: ESTree.Node | null): boolean {
  if (made?.type === 'BlockStatement') {
    const returns = made.body.filter(({ type }) => type === 'ReturnStatement');
    const [only] = returns;
    return returns.length === 1 && only?.type === 'ReturnStatement' && isRoute(only.argument);
  }
  if (made?.type !== 'CallExpression') return false;
  const { callee } = made;
  if (callee.type === 'MemberExpression')
    return (
      callee.object.type === 'ThisExpression' &&
      callee.property.type === 'PrivateIdentifier' &&
      callee.property.name === 'served'
    );
  return callee.type === 'Identifier' && callee.name === 'route';
}

/** Uses of a service of the domain outside the function that `route` calls. */
function unguarded(file: SourceFile): readonly string[] {
  const { path, text } = file;
  const isAdapter = path.startsWith('adapters/');
  if (!isAdapter && !path.startsWith('composition/')) return [];
  const types = new Set(SERVICES.values());
  // In the composition, other things are named "call" too.
  const names = new Set(isAdapter ? [] : [...SERVICES.keys()].filter((part) => part !== 'call'));
  const harmless = new Set<number>();
  const served: (readonly [start: number, end: number])[] = [];
  let hasRoute = false;
  visit(file, {
    ImportSpecifier: ({ imported, local }) => {
      if (imported.type === 'Identifier' && types.has(imported.name)) types.add(local.name);
    },
    ImportDeclaration: ({ source, specifiers }) => {
      hasRoute ||= source.value === './door.js' && specifiers.some(({ local }) => local.name === 'route');
    },
    CallExpression: ({ callee, arguments: [, , serve] }) => {
      if (serve !== undefined && callee.type === 'Identifier' && callee.name === 'route')
        served.push([serve.start, serve.end]);
    },
  });
  const holds = (annotation: ESTree.TSTypeAnnotation | null | undefined): boolean =>
    annotation != null &&
    text
      .slice(annotation.start, annotation.end)
      .split(/\W+/)
      .some((word) => types.has(word));
  if (isAdapter) {
    visit(file, {
      TSPropertySignature: ({ key, typeAnnotation }) => {
        if (!holds(typeAnnotation)) return;
        names.add(text.slice(key.start, key.end));
        harmless.add(key.start);
      },
      PropertyDefinition: ({ key, typeAnnotation }) => {
        if (holds(typeAnnotation)) names.add(text.slice(key.start, key.end));
      },
      // A binding; other identifiers have no type.
      Identifier: (identifier) => {
        if ('typeAnnotation' in identifier && holds(identifier.typeAnnotation as never)) names.add(identifier.name);
      },
    });
  }
  const found = new Set<string>();
  const use = (name: string, start: number): void => {
    const isServed = hasRoute && served.some(([from, to]) => from < start && start < to);
    if (names.has(name) && !isServed && !harmless.has(start)) found.add(`${path}: ${name}`);
  };
  visit(file, {
    // `const { forwarder } = mount`.
    ObjectPattern: ({ properties }) => {
      for (const property of properties)
        if (property.type === 'Property' && property.shorthand) harmless.add(property.start);
    },
    ...(isAdapter
      ? { Identifier: ({ name, start }): void => use(name, start) }
      : {
          // The composition passes services on; it must not call them.
          CallExpression: ({ callee }): void => {
            if (callee.type !== 'MemberExpression') return;
            const { object } = callee;
            if (object.type === 'Identifier') use(object.name, object.start);
            if (object.type === 'MemberExpression' && object.property.type === 'Identifier')
              use(object.property.name, object.property.start);
          },
        }),
  });
  return [...found].filter((use) => !WITHOUT_REQUEST.includes(use)).map((use) => `${use} is used outside route()`);
}

function visit({ path, text }: SourceFile, visitor: ConstructorParameters<typeof Visitor>[0]): void {
  const { program, errors } = parseSync(path, text, { sourceType: 'module' });
  if (errors.length > 0) throw new Error(`${path}: ${errors.map(({ message }) => message).join()}`);
  new Visitor(visitor).visit(program);
}

describe('the door', () => {
  it('is the only way from a request to the domain, and makes each check in one place', () => {
    expect(SOURCES.length).toBeGreaterThan(150);
    expect([...SERVICES.values()]).toContain('ChatForwarder');
    expect(SOURCES.flatMap(violations)).toEqual([]);
  });

  it('has no wrapper on its lists that does not exist', () => {
    const listed = [...WRAPPERS, ...WITHOUT_REQUEST].filter((entry) => {
      const [path = '', name = ''] = entry.split(': ');
      return !textOf(path).includes(name);
    });
    expect(listed).toEqual([]);
  });

  it('has replaced the ways before it, none of which is back', () => {
    for (const name of GONE) {
      const word = new RegExp(String.raw`\b${name}\b`);
      expect(
        SOURCES.filter(({ text }) => word.test(text)).map(({ path }) => path),
        name,
      ).toEqual([]);
    }
    const files = GONE_FILES.map((name) => `adapters/web/${name}.ts`);
    expect(SOURCES.filter(({ path }) => files.includes(path)).map(({ path }) => path)).toEqual([]);
  });

  const IMPORTS = `
    import type { ChatForwarder } from '../../domain/chat/chat-forwarder.js';
    import { route } from './door.js';
    interface Mount { readonly forwarder: ChatForwarder }`;
  const bad: Readonly<Record<string, readonly [path: string, text: string]>> = {
    'a handler of a route that calls the domain itself': [
      'adapters/web/a.ts',
      `${IMPORTS}
      const a = ({ forwarder }: Mount) => async (request) => forwarder.forward(request);`,
    ],
    'a call beside the function of a route': [
      'adapters/web/a.ts',
      `${IMPORTS}
      const a = (mount: Mount) => route({ read: () => mount.forwarder.forward() }, mount, () => undefined);`,
    ],
    'a service that is passed on': [
      'adapters/web/a.ts',
      `${IMPORTS}
      const a = ({ forwarder }: Mount) => send(forwarder);`,
    ],
    'a service by another name': [
      'adapters/web/a.ts',
      `${IMPORTS}
      const a = ({ forwarder: f }: Mount) => f.forward();`,
    ],
    'a service as a parameter': [
      'adapters/web/a.ts',
      `import type { SurfaceService as S } from '../../domain/surfaces/surface-service.js';
      const a = (service: Pick<S, 'render'>) => async () => service.render();`,
    ],
    'a method by a computed name': [
      'adapters/web/a.ts',
      `import type { ChatConfig } from '../../domain/chat/chat-config.js';
      interface Mount { readonly chatConfig: ChatConfig }
      const a = ({ chatConfig }: Mount) => async () => chatConfig['record']();`,
    ],
    'a function of its own with the name route': [
      'adapters/web/a.ts',
      `import type { ConversationProxy } from '../../domain/conversations/conversation-proxy.js';
      interface Mount { readonly proxy: ConversationProxy }
      const route = (rule, mount, serve) => serve;
      const a = ({ proxy }: Mount) => route({}, {}, () => proxy.forward());`,
    ],
    'a handler that is not listed': [
      'adapters/web/a.ts',
      'export function a(): HttpHandler { return async () => ({ status: 200, headers: {}, body: null }); }',
    ],
    'a handler that returns another one for some requests': [
      'adapters/web/a.ts',
      'export function a(): HttpHandler { return b ? route({}, {}, serve) : other; }',
    ],
    'a call of the domain in the composition': [
      'composition/toolkit/a.ts',
      'const a = async (request) => this.#deps.forwarder.forward(request);',
    ],
    'a handler in the composition': ['composition/toolkit/a.ts', 'const a: HttpHandler = async () => response;'],
    'a check of the page by a route': ['adapters/web/a.ts', 'checkOrigin(request, site.origins, true);'],
    'a limit that a route counts itself': ['adapters/koa/a.ts', 'await checkVisitor(request, site, auth);'],
    'a reservation that a route releases': ['adapters/web/a.ts', 'body.reservation.release();'],
  };
  it.each(Object.entries(bad))('rejects %s', (_name, [path, text]) => {
    expect(violations({ path, text })).toHaveLength(1);
  });
});

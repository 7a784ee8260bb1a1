import type { ChatHandlerOptions } from '../../src/composition/routes/route-options.js';
import {
  chatRoute,
  recordRoute,
  serviceSurfaceRoute,
  sessionSurfaceRoute,
  surfaceRoute,
} from '../support/toolkit-routes.js';
import { AdmissionsWorld, type Ask, type Glossary, type Setting } from './admissions-world.js';

export type Route = Setting['route'];

export const admitted: Setting['limit'] = () => Promise.resolve({ kind: 'admitted' });
export const chat =
  (options: ChatHandlerOptions = {}, auth = false): Route =>
  (toolkit, session) =>
    chatRoute(toolkit, { ...options, ...(auth && { auth: session }) });
const OWN_FIELDS = { headers: () => ({ 'x-tenant': 'acme' }) };
export const VISITOR = { conversations: 'visitor' } as const;

/** The credentials of each kind of route. */
const CHATS: Readonly<Record<string, Partial<Setting> & { readonly route: Route }>> = {
  'service credential': { route: chat() },
  'service credential, own conversations': { route: chat(VISITOR) },
  'service credential, fields of the site': { route: chat(OWN_FIELDS) },
  session: { route: chat({}, true) },
  'session, own conversations': { route: chat(VISITOR, true) },
  'session, signed out': { route: chat({}, true), signedIn: false },
};
const CHATS_BRIEFLY = { 'service credential': CHATS['service credential'], session: CHATS['session'] };
export const SURFACES: typeof CHATS = {
  'service credential': { route: (toolkit) => serviceSurfaceRoute(toolkit) },
  'API key': { route: (toolkit) => surfaceRoute(toolkit) },
  'headers of the site': { route: (toolkit) => surfaceRoute(toolkit, { getHeaders: () => ({ 'x-own': 'k' }) }) },
  'API key, fields of the site': { route: (toolkit) => surfaceRoute(toolkit, OWN_FIELDS) },
  session: { route: (toolkit, auth) => sessionSurfaceRoute(toolkit, { auth }) },
  'session, signed out': { route: (toolkit, auth) => sessionSurfaceRoute(toolkit, { auth }), signedIn: false },
  'required session, signed out': {
    route: (toolkit, auth) => sessionSurfaceRoute(toolkit, { auth, requireSession: true }),
    signedIn: false,
  },
};
const SURFACES_BRIEFLY = { session: SURFACES['session'] };
export const RECORDS: typeof CHATS = {
  session: { route: (toolkit, auth) => recordRoute(toolkit, { auth }) },
  'session, signed out': { route: (toolkit, auth) => recordRoute(toolkit, { auth }), signedIn: false },
};

export const rpc = (method: string, params: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 'r1', method, params });
export const OLD_MESSAGE = { kind: 'message', messageId: 'm1', role: 'user', parts: [{ kind: 'text', text: 'Hello' }] };
export const NEW_MESSAGE = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Hello' }] };
export const OLD_SEND = rpc('message/send', { message: OLD_MESSAGE });
export const NEW_SEND = JSON.stringify({ message: NEW_MESSAGE });

interface Place {
  readonly path: string;
  readonly query?: string;
  /** Default: `METHODS`, or fewer. */
  readonly methods?: readonly string[];
  /** The body of methods that have one. */
  readonly body?: string;
}

const METHODS = ['GET', 'HEAD', 'OPTIONS', 'POST', 'DELETE', 'BREW'];
/** With the further credentials of a kind. */
const FEWER_METHODS = ['GET', 'HEAD', 'POST'];
const RECORD_METHODS = [...METHODS, 'PUT', 'PATCH', 'TRACE'];
const CHAT_PLACES: readonly Place[] = [
  { path: '', body: OLD_SEND },
  { path: '/config' },
  { path: '/.well-known/agent-card.json' },
  { path: '/message:send', body: NEW_SEND },
  { path: '/tasks/t1' },
  { path: '/tasks/t1:cancel' },
  { path: '/extendedAgentCard' },
  { path: '/v1/message:send', body: NEW_SEND },
  { path: '/nowhere', body: NEW_SEND },
];
const FURTHER_CHAT_PLACES: readonly Place[] = [
  { path: '/', body: OLD_SEND },
  { path: '/config/' },
  { path: '/.well-known/agent.json' },
  { path: '/message:stream', body: NEW_SEND },
  { path: '/tasks' },
  { path: '/tasks/t1:subscribe' },
  { path: '/tasks/t1/pushNotificationConfigs', body: '{}' },
  { path: '/tasks/t1/pushNotificationConfigs/c1' },
  { path: '/acme/message:send', body: NEW_SEND },
  { path: '/globex/tasks/t1' },
  { path: '/v1/message:stream', body: NEW_SEND },
  { path: '/v1/tasks/t1' },
  { path: '/v1/tasks/t1:cancel' },
  { path: '/v1/tasks/t1:subscribe' },
  { path: '/v1/tasks/t1/pushNotificationConfigs', body: '{}' },
  { path: '/v1/card' },
  { path: '/v1/extendedAgentCard' },
].map((place) => ({ ...place, methods: ['GET', 'POST', 'DELETE'] }));
const SURFACE_PLACES: readonly Place[] = [
  { path: '/w/render', body: '{"a":1}' },
  { path: '/w/actions/save', body: '{"a":1}' },
  { path: '/w/theme.css' },
  { path: '/w', body: '{}' },
];
const NAMED_SURFACE_PLACES = SURFACE_PLACES.map((place) => ({ ...place, path: `/by-name${place.path}` }));
const RECORD_PLACES: readonly Place[] = [
  { path: '/conversations/7', body: '{"a":1}', methods: RECORD_METHODS },
  { path: '/../x', methods: RECORD_METHODS },
];
const WITHOUT_BODY = ['GET', 'HEAD', 'OPTIONS', 'TRACE'];
const ORIGINS = {
  'no Origin': undefined,
  own: 'https://site.example',
  listed: 'https://shop.example',
  foreign: 'https://evil.example',
  '"null"': 'null',
};
const FETCH_SITES = [undefined, 'same-origin', 'same-site', 'cross-site', 'none'];
const PUBLIC_URLS = { 'without publicUrl': {}, 'with publicUrl': { publicUrl: 'https://site.example' } };

/** The meaning of the columns of a product. */
export const COLUMNS: readonly string[] = [
  `Columns: ${Object.keys(PUBLIC_URLS).join(', then ')}.`,
  `In each, a group per Origin: ${Object.keys(ORIGINS).join(', ')}.`,
  `In a group, a letter per Sec-Fetch-Site: ${FETCH_SITES.map((site) => site ?? 'absent').join(', ')}.`,
];

export type Section = readonly [title: string, lines: () => Promise<readonly string[]>];

function askOf({ path, query = '', body }: Place, method: string, headers: Record<string, string | undefined>): Ask {
  const has = body !== undefined && !WITHOUT_BODY.includes(method);
  return { path, query, method, headers: headers as Ask['headers'] & object, ...(has && { body }) };
}

/** Every method, origin and fetch site at one place with one credential: a letter per request, and what each letter did. */
async function product(
  glossary: Glossary,
  setting: Setting,
  place: Place,
  methods: readonly string[],
): Promise<readonly string[]> {
  const worlds = Object.values(PUBLIC_URLS).map(
    (config) => new AdmissionsWorld(glossary, { limit: admitted, ...setting, config }),
  );
  // Tokens and cards are cached.
  for (const world of worlds) {
    for (const path of ['/config', '/tasks/t0', '/v1/tasks/t0']) await world.warm(askOf({ path }, 'GET', {}));
    await world.warm(askOf(place, 'POST', {}));
    await world.warm(askOf(place, 'GET', {}));
  }
  const letters = new Map<string, string>();
  const grids = new Map<string, string[]>();
  for (const method of place.methods ?? methods) {
    const groups: string[] = [];
    for (const world of worlds) {
      for (const origin of Object.values(ORIGINS)) {
        let group = '';
        for (const site of FETCH_SITES) {
          const row = await world.row(askOf(place, method, { origin, 'sec-fetch-site': site }));
          const letter = letters.get(row) ?? String.fromCharCode(97 + letters.size);
          letters.set(row, letter);
          group += letter;
        }
        groups.push(group);
      }
    }
    const half = groups.length / 2;
    const grid = [groups.slice(0, half), groups.slice(half)].map((part) => part.join(' ')).join('   ');
    grids.set(grid, [...(grids.get(grid) ?? []), method]);
  }
  const rows = [...grids].map(([grid, named]) => {
    const isOne = new Set(grid.replaceAll(' ', '')).size === 1;
    return `${isOne ? `all ${grid[0] ?? ''}`.padEnd(62) : grid}  ${named.join(' ')}`;
  });
  return [...rows, ...[...letters].map(([row, letter]) => `${letter} = ${row}`)];
}

function products(glossary: Glossary, kind: string, places: readonly Place[], credentials: object): readonly Section[] {
  return Object.entries(credentials as typeof CHATS).map(([credential, setting], index): Section => [
    `${kind}, ${credential}`,
    async () => {
      const blocks = new Map<string, string[]>();
      for (const place of places) {
        const block = (await product(glossary, setting, place, index === 0 ? METHODS : FEWER_METHODS)).join('\n');
        blocks.set(block, [...(blocks.get(block) ?? []), place.path === '' ? '(empty)' : place.path]);
      }
      return [...blocks].flatMap(([block, paths]) => ['', paths.join('  and  '), ...block.split('\n')]);
    },
  ]);
}

/** The full products: each place with each credential. */
export function allProducts(glossary: Glossary): readonly Section[] {
  return [
    ...products(glossary, 'Chat', CHAT_PLACES, CHATS),
    ...products(glossary, 'Further paths of the chat', FURTHER_CHAT_PLACES, CHATS_BRIEFLY),
    ...products(glossary, 'Surfaces', SURFACE_PLACES, SURFACES),
    ...products(glossary, 'Surfaces by name', NAMED_SURFACE_PLACES, SURFACES_BRIEFLY),
    ...products(glossary, 'Records', RECORD_PLACES, RECORDS),
  ];
}

import { RawClient } from './raw-client.js';
import { MESSAGE } from './visitor.js';

/** One raw field line of a head. */
export type FieldLine = readonly [name: string, value: string];

/** The head of a response, split at line ends only. */
export interface RawHead {
  readonly status: number;
  /** Names in lower case, in order of arrival. */
  readonly lines: readonly FieldLine[];
  /** Every value of a field. */
  values(name: string): readonly string[];
}

/** Sends a request on a new connection and reads the head of its response. */
export async function readHead(url: string, { method, path, body, headers }: RawRequest): Promise<RawHead> {
  const client = await RawClient.connect(url);
  const { host } = new URL(url);
  const fields = { host, connection: 'close', ...headers };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const length =
    body === undefined ? '' : `content-type: application/json\r\ncontent-length: ${String(body.length)}\r\n`;
  await client.send(`${method} ${path} HTTP/1.1\r\n${lines.join('')}${length}\r\n${body ?? ''}`);
  return parsedHead(await client.ending());
}

/** The request: one chat message, or one to another route. */
export interface RawRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const COOKIE = { cookie: 'session=ada' };

/** A request to each route whose response has fields of the platform. */
export const FIELD_ROUTES = {
  chat: { method: 'POST', path: '/api/a2a', body: MESSAGE },
  records: { method: 'GET', path: '/api/service/files/7', headers: COOKIE },
  actions: { method: 'POST', path: '/api/service-surfaces/counter/actions/add', body: '{}', headers: COOKIE },
  renders: { method: 'POST', path: '/api/service-surfaces/counter/render', body: '{}', headers: COOKIE },
} satisfies Readonly<Record<string, RawRequest>>;

/** A head as the simplest parser sees it: lines end with LF, and a blank line ends the head. */
function parsedHead(text: string): RawHead {
  const [first = '', ...rest] = text.split('\n').map((line) => line.replace(/\r$/, ''));
  const lines = rest.slice(0, rest.indexOf('')).map((line): FieldLine => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  return {
    status: Number(first.split(' ')[1]),
    lines,
    values: (name) => lines.filter(([one]) => one === name).map(([, value]) => value),
  };
}

import type { HttpResponse } from 'agent-bff';
import type { AbuseMutant, Break, Visit } from './mutant.js';

/** Passes fields of the platform's answer on. */
const passing = (choose: (name: string) => boolean): Pick<Break, 'answer'> => ({
  answer: (answer, { got }) => {
    const chosen = Object.entries(got?.headers ?? {}).filter(([name]) => choose(name));
    return { ...answer, headers: { ...Object.fromEntries(chosen), ...answer.headers } };
  },
});

/** Changes an answer of the platform before anybody looks at it. */
const taking =
  (
    change: (response: HttpResponse, visit: Visit) => HttpResponse | Promise<HttpResponse>,
  ): NonNullable<Break['outcome']> =>
  async (outcome, visit) =>
    outcome.kind === 'response' ? { ...outcome, response: await change(outcome.response, visit) } : outcome;

async function read(body: HttpResponse['body']): Promise<Buffer> {
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) return Buffer.from(body ?? '');
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Passes what the platform says of some errors on. */
const passingWords = (choose: (response: HttpResponse) => boolean): Break => ({
  outcome: taking(async (response) => ({ ...response, body: await read(response.body) })),
  answer: (answer, { got }) => {
    if (got === undefined || got.status < 400 || !choose(got)) return answer;
    return { ...answer, headers: { ...answer.headers, 'content-length': undefined }, body: got.body };
  },
});

/** Ends a broken body with `last`, as if that had been all. */
async function* endingWith(body: HttpResponse['body'], last: string): AsyncGenerator<Uint8Array> {
  try {
    if (body === null) return;
    if (typeof body === 'string' || body instanceof Uint8Array) yield Buffer.from(body);
    else yield* body;
  } catch {
    if (last !== '') yield Buffer.from(last);
  }
}

function idOf({ sent }: Visit): string {
  return String((JSON.parse(Buffer.from(sent?.body as Uint8Array).toString()) as { id?: unknown }).id);
}

const firstOfConnection = new WeakMap<object, unknown>();

/** Forwarders that believe the platform, or mix up its answers. */
export const ANSWER_MUTANTS: readonly AbuseMutant[] = [
  {
    name: 'follows redirects',
    noticedBy: ['redirects', 'up-redirect-chat-300'],
    breaks: {
      outcome: async (outcome, { sent }, send) => {
        const location = outcome.kind === 'response' ? String(outcome.response.headers['location'] ?? '') : '';
        if (sent === undefined || !URL.canParse(location, sent.origin) || location === '') return outcome;
        const { origin, pathname } = new URL(location, sent.origin);
        return origin.startsWith('http') ? send({ ...sent, origin, path: pathname }) : outcome;
      },
    },
  },
  {
    name: 'passes redirects on',
    noticedBy: ['redirects', 'up-redirect-record-302'],
    breaks: {
      answer: (answer, { got }) =>
        got?.headers['location'] === undefined
          ? answer
          : { ...answer, headers: { ...answer.headers, location: got.headers['location'] } },
    },
  },
  {
    name: 'passes cookies of the platform on',
    noticedBy: ['fields of an answer', 'up-field-chat-0-set-cookie'],
    breaks: passing((name) => name === 'set-cookie'),
  },
  {
    name: 'passes everything on but hop-by-hop fields',
    noticedBy: ['fields of an answer', 'up-field-render-8-clear-site-data'],
    breaks: passing(
      (name) => !['connection', 'keep-alive', 'transfer-encoding', 'content-length', 'set-cookie'].includes(name),
    ),
  },
  {
    name: 'passes a challenge of the platform on',
    noticedBy: ['answers that are none', 'up-broken-record-26-a-refusal-in-json-with-a-challenge'],
    breaks: passing((name) => name === 'www-authenticate'),
  },
  {
    name: 'passes instructions for proxies on',
    noticedBy: ['fields of an answer', 'up-field-record-3-x-accel-redirect'],
    breaks: passing((name) => name.startsWith('x-accel')),
  },
  {
    name: 'lets browsers and proxies keep answers',
    noticedBy: ['fields of an answer', 'up-field-chat-7-cache-control'],
    breaks: {
      answer: (answer, { got }) => ({
        ...answer,
        headers: { ...answer.headers, 'cache-control': got?.headers['cache-control'] ?? 'no-store' },
      }),
    },
  },
  {
    name: "passes the platform's own error pages on",
    noticedBy: ['answers that are none', 'up-broken-chat-23-a-server-error-with-its-stack'],
    breaks: passingWords(({ status }) => status >= 500),
  },
  {
    name: 'names the platform in its errors',
    noticedBy: ['answers that are none', 'up-broken-chat-5-no-http'],
    breaks: {
      answer: (answer, { sent }) =>
        answer.status === 502
          ? { ...answer, body: JSON.stringify({ error: `cannot reach ${String(sent?.origin)}` }) }
          : answer,
    },
  },
  {
    name: 'shows its credential in an answer',
    noticedBy: ['connection options', 'conn-chat-0-authorization'],
    breaks: {
      answer: (answer, { sent }) => ({
        ...answer,
        headers: { ...answer.headers, etag: `"${String(sent?.headers['authorization'])}"` },
      }),
    },
  },
  {
    name: 'ends half an event as if it were whole',
    noticedBy: ['event streams', 'sse-half-0'],
    breaks: {
      answer: (answer) => (typeof answer.body === 'object' ? { ...answer, body: endingWith(answer.body, '') } : answer),
    },
  },
  {
    name: 'writes what it was sent into its own events',
    noticedBy: ['event streams', 'sse-id-0'],
    breaks: {
      outcome: taking((response, visit) =>
        String(response.headers['content-type']) === 'text/event-stream'
          ? { ...response, body: endingWith(response.body, `event: error\ndata: upstream ${idOf(visit)}\n\n`) }
          : response,
      ),
    },
  },
  {
    name: 'asks with the first credential of a connection',
    noticedBy: ['pipelines', 'pipeline-two-users'],
    breaks: {
      send: (request, { browser }) => {
        const { socket } = browser.native.request as { socket: object };
        const first = firstOfConnection.get(socket) ?? request.headers['authorization'];
        firstOfConnection.set(socket, first);
        return { ...request, headers: { ...request.headers, authorization: first as string } };
      },
    },
  },
];

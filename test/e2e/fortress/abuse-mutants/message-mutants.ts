import type { HttpRequest } from '../../../../src/ports/http.js';
import type { AbuseMutant, Break } from './mutant.js';
import { changed, wholeBody } from './request-mutants.js';

interface Message extends Readonly<Record<string, unknown>> {
  readonly params?: { readonly message?: object; readonly configuration?: object };
}

/** A forwarder that judges one message and sends another: the first is what its reader sees of the second. */
function judging(seen: (message: Message) => object): Break {
  const sent = new WeakMap<HttpRequest, Uint8Array>();
  return {
    request: async (request) => {
      const bytes = await wholeBody(request);
      if (bytes === undefined) return request;
      const judged = changed(request, {
        body: JSON.stringify(seen(JSON.parse(Buffer.from(bytes).toString()) as Message)),
      });
      sent.set(judged, bytes);
      return judged;
    },
    send: (request, { browser }) => ({ ...request, body: sent.get(browser) ?? request.body }),
  };
}

/** Without the members whose names only a folding reader knows. */
function exactly(value: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(value).filter(([name]) => names.includes(name)));
}

/** Forwarders whose reader of messages lacks one of its rules. */
export const MESSAGE_MUTANTS: readonly AbuseMutant[] = [
  {
    name: 'forwards the media type as the browser wrote it',
    noticedBy: ['charsets', 'charset-own-charset=utf-8'],
    breaks: {
      send: (request, { browser }) => ({
        ...request,
        headers: { ...request.headers, 'content-type': browser.headers['content-type'] },
      }),
    },
  },
  {
    name: 'compares the names of a message without folding them',
    noticedBy: ['foldings', 'fold-envelope-method-a-capital-first'],
    breaks: judging((message) => exactly(message, ['jsonrpc', 'id', 'method', 'params'])),
  },
  {
    name: 'forgets the envelope of a message',
    noticedBy: ['foldings', 'fold-envelope-params-a-long-s'],
    breaks: judging(({ params }) => ({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params })),
  },
  {
    name: 'forgets the parameters of a message',
    noticedBy: ['foldings', 'fold-params-configuration-capitals'],
    breaks: judging(({ params = {}, ...envelope }) => ({
      ...envelope,
      params: exactly(params, ['message', 'configuration']),
    })),
  },
  {
    name: 'forgets the message in a message',
    noticedBy: ['foldings', 'fold-message-taskId-snake-case'],
    breaks: judging(({ params, ...envelope }) => ({ ...envelope, params: { ...params, message: {} } })),
  },
  {
    name: 'forgets the configuration of a message',
    noticedBy: ['foldings', 'fold-configuration-pushNotificationConfig-snake-case'],
    breaks: judging(({ params, ...envelope }) => ({ ...envelope, params: { ...params, configuration: {} } })),
  },
];

import type { IncomingMessage, ServerResponse } from 'node:http';
import { nodeHttpSite } from '../frameworks/node-http.js';
import type { Framework, HostMiddleware } from '../framework.js';

/** What a careless forwarder does to the messages on their way. */
export interface Mutant {
  readonly name: string;
  /** The title of a case that must notice it. */
  readonly noticedBy: string;
  readonly breakIt: (request: IncomingMessage, response: ServerResponse) => void;
}

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'a forwarder that holds an answer back until it is complete',
    noticedBy: 'opens before the agent has anything to say',
    breakIt: (_request, response) => {
      const chunks: Buffer[] = [];
      const end = response.end.bind(response) as (body: Buffer) => ServerResponse;
      response.flushHeaders = () => undefined;
      response.write = (chunk: Uint8Array) => chunks.push(Buffer.from(chunk)) > 0;
      response.end = ((last: Uint8Array | string = '') => end(Buffer.concat([...chunks, Buffer.from(last)]))) as never;
    },
  },
  {
    name: 'a forwarder that makes one cookie of two',
    noticedBy: 'leaves the cookies the host has set as they are, each in its own field',
    breakIt: (_request, response) => {
      const setHeader = response.setHeader.bind(response);
      response.setHeader = (name, value) => setHeader(name, Array.isArray(value) ? value.join(', ') : value);
    },
  },
  {
    name: 'a forwarder that does not hear a browser leave',
    noticedBy: 'before the answer begins ends the request to the agent within a second',
    breakIt: (_request, response) => {
      for (const name of ['on', 'once'] as const) {
        const listen = response[name].bind(response) as (event: string, listener: () => void) => ServerResponse;
        response[name] = ((event: string, listener: () => void) =>
          event === 'close' ? response : listen(event, listener)) as never;
      }
    },
  },
  {
    name: 'a forwarder that ends a broken stream as if it were complete',
    noticedBy: 'inside an event ends in a broken connection when it resets the connection',
    breakIt: (_request, response) => {
      response.destroy = () => response.end();
    },
  },
  {
    name: 'a forwarder that loses the query',
    noticedBy: 'keeps its query as it was typed, behind /api/a2a',
    breakIt: (request) => {
      request.url = request.url?.split('?', 1)[0] ?? '';
    },
  },
];

/** A framework that works, so that the cases fail for the one reason they are looked at for. */
export const SOUND: Framework = nodeHttpSite('a forwarder that works');

/** The same framework, broken in one way. */
export function mutantSite({ name, breakIt }: Mutant): Framework {
  return {
    ...SOUND,
    name,
    start: ({ before, ...site }) => {
      const broken: HostMiddleware = (request, response, next) => {
        breakIt(request, response);
        if (before === undefined) next();
        else before(request, response, next);
      };
      return SOUND.start({ ...site, before: broken });
    },
  };
}

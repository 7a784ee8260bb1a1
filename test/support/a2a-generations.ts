import { ClientFactory } from '@a2a-js/sdk/client';
import { A2AClient, ClientFactory as ClientFactory03 } from 'a2a-sdk-0.3/client';
import { spoken } from './a2a-message.js';

/** The message of a visitor. */
export interface Words {
  readonly text: string;
  readonly file?: { readonly name: string; readonly mediaType: string; readonly bytes: Buffer };
}

/** A client of one generation, with its unchanged results. */
export interface Talk {
  send(words: Words): Promise<unknown>;
  stream(words: Words): AsyncIterable<unknown>;
  get(taskId: string): Promise<unknown>;
  cancel(taskId: string): Promise<unknown>;
  resubscribe(taskId: string): AsyncIterable<unknown>;
}

/** Creates a client from the address of the card only. All clients call the global `fetch`. */
export type Connect = (origin: string) => Promise<Talk>;

/** @a2a-js/sdk 1.3.0. */
const sdk13: Connect = async (origin) => {
  const client = await new ClientFactory().createFromUrl(origin);
  const request = ({ text, file }: Words) =>
    file === undefined
      ? spoken(text)
      : spoken(text, {
          content: { $case: 'raw', value: file.bytes },
          metadata: {},
          filename: file.name,
          mediaType: file.mediaType,
        });
  return {
    send: (words) => client.sendMessage(request(words)),
    stream: (words) => client.sendMessageStream(request(words)),
    get: (id) => client.getTask({ tenant: '', id }),
    cancel: (id) => client.cancelTask({ tenant: '', id, metadata: undefined }),
    resubscribe: (id) => client.resubscribeTask({ tenant: '', id }),
  };
};

/** A message of v0.2 and v0.3. */
function oldRequest({ text, file }: Words) {
  return {
    message: {
      kind: 'message' as const,
      messageId: crypto.randomUUID(),
      role: 'user' as const,
      parts: [
        { kind: 'text' as const, text },
        ...(file === undefined
          ? []
          : [
              {
                kind: 'file' as const,
                file: { name: file.name, mimeType: file.mediaType, bytes: file.bytes.toString('base64') },
              },
            ]),
      ],
    },
  };
}

/** The methods that the client classes of v0.2 and v0.3 share. */
interface OldClient {
  sendMessage(params: ReturnType<typeof oldRequest>): Promise<unknown>;
  sendMessageStream(params: ReturnType<typeof oldRequest>): AsyncIterable<unknown>;
  getTask(params: { id: string }): Promise<unknown>;
  cancelTask(params: { id: string }): Promise<unknown>;
  resubscribeTask(params: { id: string }): AsyncIterable<unknown>;
}

function oldTalk(client: OldClient): Talk {
  return {
    send: (words) => client.sendMessage(oldRequest(words)),
    stream: (words) => client.sendMessageStream(oldRequest(words)),
    get: (id) => client.getTask({ id }),
    cancel: (id) => client.cancelTask({ id }),
    resubscribe: (id) => client.resubscribeTask({ id }),
  };
}

/** @a2a-js/sdk 0.3.14. */
const sdk03: Connect = async (origin) => oldTalk(await new ClientFactory03().createFromUrl(origin));

/** The client class of @a2a-js/sdk 0.2, which 0.3.14 still has. */
export type OldClientClass = new (origin: string) => OldClient;

function oldClass(load: () => Promise<OldClientClass>): Connect {
  return async (origin) => {
    const Client = await load();
    return oldTalk(new Client(origin));
  };
}

/** Every generation of the client, by its public name. */
export const GENERATIONS: readonly (readonly [name: string, connect: Connect])[] = [
  ['@a2a-js/sdk 1.3.0', sdk13],
  ['@a2a-js/sdk 0.3.14', sdk03],
  [
    '@a2a-js/sdk 0.2.5',
    oldClass(async () => (await import('a2a-sdk-0.2/client')).A2AClient as unknown as OldClientClass),
  ],
  ['the client class of v0.2, in @a2a-js/sdk 0.3.14', oldClass(() => Promise.resolve(A2AClient))],
];

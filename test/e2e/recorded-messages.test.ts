import { createToolkit, type Toolkit } from 'agent-bff';
import { createNodeHandler } from 'agent-bff/node';
import { FakeIdentityProvider } from 'agent-bff/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Site } from '../site/framework.js';
import { listeningSite } from '../site/frameworks/listening-site.js';
import { differing, HAS_PYTHON, type Pair } from '../support/other-readers/decimal-values.js';
import { PostingClient } from '../support/other-readers/posting-client.js';
import { RECORDED_CLIENTS, type RecordedMessage } from '../support/recorded-messages.js';
import { type RecordedRequest, RecordingUpstream } from '../support/recording-upstream.js';

let upstream: RecordingUpstream;
let toolkit: Toolkit;
let site: Site;
let client: PostingClient;

beforeAll(async () => {
  upstream = await RecordingUpstream.start();
  toolkit = createToolkit(
    {
      a2aUrl: `${upstream.origin}/agent/v1`,
      serviceApiUrl: `${upstream.origin}/platform/v1`,
      serviceAuthStrategy: 'demo',
      a2aMethods: 'chat',
    },
    { identityProviders: { demo: new FakeIdentityProvider('visitor-service') } },
  );
  site = await listeningSite(createNodeHandler({ toolkit, a2a: { tenant: 'team-1' } }));
  client = new PostingClient(site.url);
});

afterAll(async () => {
  client?.close();
  await site?.close();
  await toolkit?.close();
  await upstream?.close();
});

/** A message as sent and as received. */
async function crossed({ says, contentType, body }: RecordedMessage): Promise<Pair> {
  const before = upstream.requests.length;
  const sent = Buffer.from(body);
  const status = await client.post('/api/a2a', [`Content-Type: ${contentType}`], sent);
  const arrived: RecordedRequest | undefined = upstream.requests[before];
  if (arrived === undefined) throw new Error(`${says} was refused with ${status}`);
  const declared = arrived.fields.filter(([name]) => name === 'content-type').map(([, value]) => value);
  expect(declared).toEqual(['application/json']);
  return { sent, received: arrived.body };
}

async function allCrossed(messages: readonly RecordedMessage[]): Promise<readonly Pair[]> {
  const pairs: Pair[] = [];
  for (const message of messages) pairs.push(await crossed(message));
  return pairs;
}

const named = RECORDED_CLIENTS.map(({ client: name, messages }) => ({ name, messages, count: messages.length }));
const isJavaScript = ({ name }: { readonly name: string }): boolean => name.startsWith('@a2a-js/sdk');

describe('under policy "chat", an agent receives', () => {
  it.each(named.filter(isJavaScript))('all $count messages of $name byte for byte', async ({ messages }) => {
    const pairs = await allCrossed(messages);
    const damaged = pairs.flatMap(({ sent, received }, index) =>
      sent.equals(received) ? [] : [messages[index]?.says],
    );
    expect(damaged).toEqual([]);
  });

  it.skipIf(!HAS_PYTHON).each(named)('all $count messages of $name with equal values', async ({ messages }) => {
    expect(differing(await allCrossed(messages)).map((index) => messages[index]?.says)).toEqual([]);
  });
});

/** Values as the JSON writers of other languages spell them. */
const SPELLED: Readonly<Record<string, string>> = {
  'Python, with blanks and escapes':
    '{"text": "\\u00e9 \\ud83d\\ude00 \\u2028", "ratio": 1.0, "big": 12345678901234567890}',
  'Python, indented': '{\n    "text": "a/b",\n    "list": [\n        1,\n        2.50\n    ],\n    "none": null\n}',
  Go: '{"html":"\\u003cb\\u003e \\u0026","line":"\\u2028\\u2029","number":1e+21,"small":1e-07}',
  Java: '{"number":1.0E5,"long":9223372036854775807,"decimal":0.10,"double":4.9E-324,"huge":1E400}',
  '.NET': '{"text":"\\u0022\\u002B\\u00E9\\uD83D\\uDE00","number":1E+2,"decimal":79228162514264337593543950335}',
  Rust: '{"float":100000.0,"u128":340282366920938463463374607431768211455,"zero":-0.0}',
  'by hand':
    '{ "b" : 1 , "a" : [ -0 , 0 , 0.0 , 1E0 ] , "10" : 2 , "9" : 1 , "__proto__" : { "x" : 1.0 } , "half" : "\\ud800" }',
  'in floats only': '{"a":0.1,"b":1.5,"c":-0.5,"d":123456789012345678}',
  'with control characters': '{"\\u0001":"\\u0001","a":"\\u00021.0","n":1.0,"quote":"\\"\\u00031.0\\""}',
};

describe('a value in a message arrives equal', () => {
  const places: readonly (readonly [string, (value: string) => string])[] = [
    ['the metadata', (value) => `{"parts":[],"metadata":${value}}`],
    ['a part', (value) => `{"parts":[{"kind":"data","data":${value}}]}`],
  ];
  const cases = Object.entries(SPELLED).flatMap(([writer, value]) =>
    places.map(([place, wrap]) => ({ writer, place, message: wrap(value) })),
  );

  it.skipIf(!HAS_PYTHON)('as Python, Go, Java, .NET and Rust write it', async () => {
    const messages = cases.map(({ writer, place, message }) => ({
      says: `${writer} in ${place}`,
      contentType: 'application/json',
      body: `{"jsonrpc": "2.0", "method":"message/send", "params":{"message":${message}}, "id":1.0}`,
    }));
    expect(differing(await allCrossed(messages)).map((index) => messages[index]?.says)).toEqual([]);
  });
});

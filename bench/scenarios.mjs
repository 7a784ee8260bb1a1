// Requests and responses, shared by the upstream that sends them and the load that checks them.

const KIB = 1_024;

const STREAM_EVENT = event(200, `{"jsonrpc":"2.0","id":1,"result":{"kind":"status-update","text":"`, `"}}`);

/** An event of exactly this many bytes. */
function event(bytes, start, end) {
  const filled = bytes - 'data: \n\n'.length - start.length - end.length;
  return Buffer.from(`data: ${start}${'e'.repeat(filled)}${end}\n\n`);
}

/** A JSON text of exactly this many bytes. */
function json(bytes, start, end) {
  return Buffer.from(start + 'j'.repeat(bytes - start.length - end.length) + end);
}

/** Distinguishes a message with a streamed response from one without. */
export const STREAMING_METHOD = 'SendStreamingMessage';

const MESSAGE = '{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"role":"user","text":"';
const ANSWER = '{"jsonrpc":"2.0","id":1,"result":{"role":"agent","text":"';
const CHAT = json(KIB, MESSAGE, '"}}}');
const STREAMED_CHAT = json(KIB, MESSAGE.replace('SendMessage', STREAMING_METHOD), '"}}}');

/** A message of A2A 1.0 of 1 KB: the first of a conversation, or one in a conversation. */
export function message(contextId) {
  const place = contextId === undefined ? '' : `,"contextId":"${contextId}"`;
  const start = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m1","role":"ROLE_USER"${place},"parts":[{"text":"`;
  return json(KIB, start, '"}]}}}');
}

/**
 * By the last part of the upstream's path. `answer` is every byte a visitor gets.
 * `events` is what the upstream sends in pieces, one piece per turn of its event loop.
 */
export const SCENARIOS = {
  chat: { body: CHAT, type: 'application/json', answer: json(KIB, ANSWER, '"}}') },
  upload: { body: json(KIB * KIB, MESSAGE, '"}}}'), type: 'application/json', answer: json(200, ANSWER, '"}}') },
  stream: {
    body: STREAMED_CHAT,
    type: 'text/event-stream',
    events: { bytes: STREAM_EVENT, count: 200 },
    answer: Buffer.concat(Array.from({ length: 200 }, () => STREAM_EVENT)),
  },
  hold: { body: STREAMED_CHAT, type: 'text/event-stream', answer: STREAM_EVENT },
  render: { body: Buffer.from('{"input":{"page":1}}'), type: 'application/json', answer: json(KIB, '{"html":"', '"}') },
};

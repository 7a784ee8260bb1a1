// The agent as this page sees it: A2A over JSON-RPC at the page's own origin, with no token anywhere.
import { EventSourceParserStream } from 'eventsource-parser/stream';

const ENDPOINT = '/api/a2a';

/** Sends one message and yields the agent's events as they arrive: `task`, `artifactUpdate`, `statusUpdate` or `message`. */
export async function* streamMessage(text, { contextId, taskId, signal }) {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }], contextId, taskId };
  const response = await call('SendStreamingMessage', { message }, signal);
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
    yield resultOf(await readJson(response));
    return;
  }

  const events = response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())
    .getReader();
  for (let read = await events.read(); !read.done; read = await events.read()) {
    yield resultOf(JSON.parse(read.value.data));
  }
}

/** Asks the agent to stop working on a task; closing the stream alone would leave it running. */
export async function cancelTask(taskId) {
  return resultOf(await readJson(await call('CancelTask', { id: taskId })));
}

function call(method, params, signal) {
  return fetch(ENDPOINT, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'A2A-Version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: crypto.randomUUID(), method, params }),
    signal,
  });
}

async function readJson(response) {
  try {
    return await response.json();
  } catch (cause) {
    throw new Error(`The site answered with status ${response.status}.`, { cause });
  }
}

/** A failure of the site or of the agent comes as a JSON-RPC error; its message is meant for people. */
function resultOf({ result, error }) {
  if (error) throw new Error(error.message);
  return result;
}

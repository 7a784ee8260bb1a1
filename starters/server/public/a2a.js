/**
 * The events of an agent's response to one message, as they arrive. Supports the A2A version of the agent.
 *
 * @throws Error with a sentence for visitors; the console has what to fix.
 */
export async function* ask(route, text, contextId) {
  const isV1 = await speaksVersion1(route);
  const message = isV1
    ? { role: 'ROLE_USER', parts: [{ text }] }
    : { kind: 'message', role: 'user', parts: [{ kind: 'text', text }] };
  const response = await fetch(route, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...(isV1 && { 'a2a-version': '1.0' }) },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: isV1 ? 'SendStreamingMessage' : 'message/stream',
      params: { message: { ...message, messageId: newId(), contextId } },
    }),
  });
  // Errors are a single document, and so is the response of an agent that does not stream.
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
  if (!isStream) return yield eventIn(await jsonOf(response));
  let rest = '';
  for await (const chunk of chunks(response.body.pipeThrough(new TextDecoderStream()))) {
    // Lines end with LF or CRLF; a chunk may end in the middle of one.
    const events = (rest + chunk).split(/\r?\n\r?\n/);
    rest = events.pop();
    for (const event of events) {
      const data = event.split(/\r?\n/).filter((line) => line.startsWith('data:'));
      if (data.length > 0) yield eventIn(JSON.parse(data.map((line) => line.slice(5)).join('\n')));
    }
  }
}

/** The document of a response; a page has none, such as the site's own if no route is mounted at this address. */
async function jsonOf(response) {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    const found = `${response.url} responded with status ${response.status}: ${text.slice(0, 200)}`;
    const mount = 'Mount the routes of agent-bff at this address, or correct it in chat.js.';
    const server = 'Check that the server with the routes of agent-bff runs, and what its terminal says.';
    throw failure(`${found} ${response.status < 500 ? mount : server}`);
  }
}

/** Without `crypto.randomUUID`, which browsers have on https and localhost only. */
function newId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** The visitor's cookie is gone, or the agent has forgotten the conversation. */
export class ConversationEnded extends Error {
  message = 'This conversation cannot be continued. Please send the message again to begin a new one.';
}

const TASK_NOT_FOUND = -32001;

/** Shows visitors a plain sentence and developers the cause. */
function failure(cause, requestId) {
  console.warn(cause);
  const id = requestId === undefined ? '' : ` (ID ${requestId})`;
  return new Error(`This is not available at the moment. Please try again later.${id}`);
}

/** True if the agent has a card of version 1, which it only returns when asked. */
async function speaksVersion1(route) {
  const config = await fetch(`${route}/config`, { headers: { 'a2a-version': '1.0' } });
  const { agentCard } = config.ok ? await jsonOf(config) : {};
  return agentCard?.supportedInterfaces?.some((one) => one.protocolVersion?.startsWith('1')) === true;
}

/** Text arrives in messages, in the message of a task's status, or in chunks of an artifact. */
function eventIn({ error, result }) {
  if (error?.code === TASK_NOT_FOUND) throw new ConversationEnded();
  if (error) throw failure(error.message, error.data?.[0]?.metadata?.requestId);
  const event = result.artifactUpdate ?? result.statusUpdate ?? result.message ?? result.task ?? result;
  const parts = event.artifact?.parts ?? event.status?.message?.parts ?? event.parts ?? [];
  const text = parts.map((part) => part.text ?? '').join('');
  return { text, contextId: event.contextId, replaces: event.artifact !== undefined && event.append !== true };
}

/** Not every browser can iterate a stream. */
async function* chunks(stream) {
  const reader = stream.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) yield read.value;
}

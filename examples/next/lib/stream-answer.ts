interface Part {
  readonly text?: string;
}

/** One event of the agent (A2A 1.0 §9): a JSON-RPC answer. */
interface AgentEvent {
  readonly error?: { readonly message: string };
  readonly result?: {
    readonly message?: { readonly parts: readonly Part[] };
    readonly artifactUpdate?: { readonly artifact: { readonly parts: readonly Part[] } };
  };
}

/** Sends one message and yields the agent's words as they come. */
export async function* streamAnswer(endpoint: string, text: string, signal: AbortSignal): AsyncGenerator<string> {
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] };
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', 'a2a-version': '1.0' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendStreamingMessage', params: { message } }),
    signal,
  });
  // An answer that is no stream is one event: an error, or an agent that does not stream.
  if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true) {
    yield wordsOf((await response.json()) as AgentEvent);
    return;
  }
  for await (const data of eventData(response)) yield wordsOf(JSON.parse(data) as AgentEvent);
}

function wordsOf({ error, result }: AgentEvent): string {
  if (error !== undefined) throw new Error(error.message);
  const parts = result?.message?.parts ?? result?.artifactUpdate?.artifact.parts ?? [];
  return parts.map((part) => part.text ?? '').join('');
}

/** The data of each event; comments have none. */
async function* eventData({ body }: Response): AsyncGenerator<string> {
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let pending = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const events = (pending + value).split(/\r?\n\r?\n/);
    pending = events.pop() ?? '';
    for (const event of events) {
      const data = event
        .split(/\r?\n/)
        .flatMap((line) => (line.startsWith('data:') ? [line.slice(5).trimStart()] : []));
      if (data.length > 0) yield data.join('\n');
    }
  }
}

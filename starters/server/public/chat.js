const messages = document.querySelector('#messages');
const composer = document.querySelector('#composer');
let contextId;

composer.addEventListener('submit', async (event) => {
  event.preventDefault();
  const { text } = composer.elements;
  show('user', text.value);
  const answer = show('agent', '…');
  try {
    await send(text.value, answer);
  } catch (error) {
    answer.className = 'error';
    answer.textContent = error.message;
  }
});

function show(who, text) {
  const item = document.createElement('li');
  item.className = who;
  item.textContent = text;
  messages.append(item);
  composer.reset();
  return item;
}

/** One message of A2A, and the events of its answer as they come. */
async function send(text, answer) {
  const message = {
    kind: 'message',
    role: 'user',
    messageId: crypto.randomUUID(),
    parts: [{ kind: 'text', text }],
    contextId,
  };
  const response = await fetch('/api/a2a', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/stream', params: { message } }),
  });
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) take(await response.json(), answer);
  let rest = '';
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
    const events = (rest + chunk).split('\n\n');
    rest = events.pop();
    for (const event of events) {
      const data = event.split('\n').filter((line) => line.startsWith('data:'));
      if (data.length > 0) take(JSON.parse(data.map((line) => line.slice(5)).join('\n')), answer);
    }
  }
}

/** Text comes as messages, as the message of a task's status, or in pieces of an artifact. */
function take({ error, result }, answer) {
  if (error) throw new Error(error.message);
  contextId = result.contextId ?? contextId;
  const parts = result.artifact?.parts ?? result.status?.message?.parts ?? result.parts ?? [];
  const text = parts.map((part) => part.text ?? '').join('');
  if (text === '') return;
  answer.textContent = answer.textContent === '…' || result.append === false ? text : answer.textContent + text;
}

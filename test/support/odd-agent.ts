import type { IncomingMessage, ServerResponse } from 'node:http';

import { openListener } from '../../examples/http-listener.js';

/** One step of a stream: the result of a JSON-RPC response, raw text, or a pause in milliseconds. */
type Step = object | string | number;

/** Odd but legal behaviour of an A2A agent. */
export interface Habit {
  /** A short name of the habit. */
  readonly title: string;
  /** The card; null if there is none. Default: one of A2A 0.3. */
  readonly card?: object | null;
  /** Its responses to successive calls, by method; the last one is repeated. Other methods get -32601. */
  readonly methods: Readonly<Record<string, readonly (readonly Step[] | Reply)[]>>;
  /** The visitor's messages. Default: one. */
  readonly says?: readonly string[];
  /** The agent's last message in the chat, without line breaks. */
  readonly reads: string;
  /** A selector that must match as well. */
  readonly shows?: string;
}

/** A response that is not a stream of events. */
class Reply {
  readonly body: object;
  readonly status: number;

  constructor(body: object, status = 200) {
    this.body = body;
    this.status = status;
  }
}

const CARD = { name: 'Odd', protocolVersion: '0.3.0', capabilities: { streaming: true } };
const CARD_1 = {
  name: 'Odd',
  capabilities: { streaming: true },
  supportedInterfaces: [{ protocolBinding: 'JSONRPC', protocolVersion: '1.0', url: '' }],
};
const IDS = { taskId: 't1', contextId: 'c1' };
const text = (words: string) => ({ kind: 'text', text: words });
const message = (words: string, id = 'm1') => ({
  kind: 'message',
  role: 'agent',
  messageId: id,
  parts: [text(words)],
  ...IDS,
});
const bareTask = (state: string, more: object = {}) => ({ id: 't1', contextId: 'c1', status: { state }, ...more });
const task = (state: string, more: object = {}) => ({ kind: 'task', ...bareTask(state, more) });
const status = (state: string, said?: object, more: object = {}) => ({
  kind: 'status-update',
  ...IDS,
  status: { state, ...(said && { message: said }) },
  final: state !== 'working',
  ...more,
});
const artifact = (words: string, more: object = {}, artifactId = 'a1') => ({
  kind: 'artifact-update',
  ...IDS,
  artifact: { artifactId, parts: [text(words)] },
  ...more,
});
const parts = (...list: readonly object[]) => ({ ...artifact(''), artifact: { artifactId: 'a1', parts: list } });
const ANSWER = [task('working'), artifact('Hello '), artifact('there.', { append: true }), status('completed')];
const HELLO = 'Hello there.';
const stored = { artifacts: [{ artifactId: 'a1', parts: [text(HELLO)] }] };
const refused = (code: number, words: string, status = 200) => new Reply({ error: { code, message: words } }, status);
const UNKNOWN = refused(-32601, 'Method not found');
const stream = (...steps: readonly Step[]) => ({ 'message/stream': [steps] });

const text1 = (words: string) => ({ text: words });
const status1 = (state: string, words?: string) => ({
  statusUpdate: {
    ...IDS,
    status: { state, ...(words && { message: { messageId: 'q', role: 'ROLE_AGENT', parts: [text1(words)] } }) },
  },
});
const artifact1 = (words: string, artifactId = 'a1') => ({
  artifactUpdate: { ...IDS, artifact: { artifactId, parts: [text1(words)] }, append: false },
});
const ANSWER_1 = [{ task: bareTask('TASK_STATE_WORKING') }, artifact1(HELLO), status1('TASK_STATE_COMPLETED')];
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';

const rpc = (result: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, result });

/** The habits, from the specifications of A2A 0.2 to 1.0 and from real servers. */
export const HABITS: readonly Habit[] = [
  // Cards and versions
  {
    title: 'a card of version 0.1',
    card: { ...CARD, protocolVersion: '0.1.0' },
    methods: stream(...ANSWER),
    reads: HELLO,
  },
  {
    title: 'a card of version 0.2',
    card: { ...CARD, protocolVersion: '0.2.5' },
    methods: stream(...ANSWER),
    reads: HELLO,
  },
  {
    title: 'a card without a version',
    card: { name: 'Odd', capabilities: { streaming: true } },
    methods: stream(...ANSWER),
    reads: HELLO,
  },
  { title: 'no card, and A2A 0.3', card: null, methods: stream(...ANSWER), reads: HELLO },
  { title: 'no card, and A2A 1.0', card: null, methods: { SendStreamingMessage: [ANSWER_1] }, reads: HELLO },
  { title: 'a card of 1.0 before an agent of 0.3', card: CARD_1, methods: stream(...ANSWER), reads: HELLO },
  { title: 'a card of 0.3 before an agent of 1.0', methods: { SendStreamingMessage: [ANSWER_1] }, reads: HELLO },
  {
    title: 'a card without streaming',
    card: { ...CARD, capabilities: {} },
    methods: { 'message/send': [new Reply({ result: message(HELLO) })] },
    reads: HELLO,
  },
  {
    title: 'a card with streaming, which is then rejected',
    methods: {
      'message/stream': [refused(-32004, 'Streaming is not supported')],
      'message/send': [new Reply({ result: task('completed', stored) })],
    },
    reads: HELLO,
  },
  // Shapes
  {
    title: 'a task without its kind',
    methods: stream(bareTask('working'), ...ANSWER.slice(1)),
    reads: HELLO,
  },
  { title: 'a stream of one message', methods: stream(message(HELLO)), reads: HELLO },
  {
    title: 'JSON in place of the stream',
    methods: { 'message/stream': [new Reply({ result: task('completed', stored) })] },
    reads: HELLO,
  },
  {
    title: 'members that are null',
    methods: stream(task('working', { artifacts: null, history: null, metadata: null }), ...ANSWER.slice(1)),
    reads: HELLO,
  },
  {
    title: 'states in the spelling of another version',
    methods: stream(task('TASK_STATE_WORKING'), artifact(HELLO), status('TASK_STATE_COMPLETED')),
    reads: HELLO,
  },
  // Events
  {
    title: 'a record separator before each event',
    methods: stream(...ANSWER.map((event) => `\u001edata: ${rpc(event)}\n\n`)),
    reads: HELLO,
  },
  {
    title: 'a record separator before the JSON of each event',
    methods: stream(...ANSWER.map((event) => `data: \u001e${rpc(event)}\n\n`)),
    reads: HELLO,
  },
  {
    title: 'carriage returns, comments, ids, and JSON on several lines',
    methods: stream(
      ': hello\r\nretry: 10\r\n\r\n',
      ...ANSWER.map((event) => {
        const lines = JSON.stringify({ jsonrpc: '2.0', id: 1, result: event }, null, 1).split('\n');
        return `id: 7\r\n${lines.map((line) => `data:${line}\r\n`).join('')}\r\n`;
      }),
    ),
    reads: HELLO,
  },
  { title: 'a stream that stays open after its end', methods: stream(...ANSWER, 60_000), reads: HELLO },
  // Answers
  {
    title: 'words in messages of a working task, then an end without text',
    methods: stream(task('working'), status('working', message(HELLO)), status('completed')),
    reads: HELLO,
  },
  {
    title: 'the whole text again and again in one message of a working task',
    methods: stream(
      ...['Hel', 'Hello ', HELLO].map((words) =>
        bareTask('working', { status: { state: 'working', message: message(words) } }),
      ),
      bareTask('completed', { status: { state: 'completed', message: message(HELLO) } }),
    ),
    reads: HELLO,
  },
  {
    title: 'an answer only in the history',
    methods: stream(task('working'), task('completed', { history: [message(HELLO)] })),
    reads: HELLO,
  },
  {
    title: 'the answer in the history, the state set back, and once more in the status',
    methods: stream(
      task('submitted'),
      status('working'),
      task('submitted', { history: [message(HELLO)] }),
      status('completed', message(HELLO)),
    ),
    reads: HELLO,
  },
  {
    title: 'two task ids in one stream',
    methods: stream(
      task('working'),
      { ...status('working', message('{"role":"tool"}', 'm0')), taskId: 't2' },
      ...ANSWER.slice(1),
    ),
    reads: 'Thoughts Hello there.',
  },
  {
    title: 'a first piece that is appended, and the whole at the end',
    methods: stream(
      task('submitted'),
      artifact('Hello ', { append: true }),
      artifact('there.', { append: true }),
      artifact(HELLO, { lastChunk: true }),
      status('completed'),
    ),
    reads: HELLO,
  },
  {
    title: 'two artifacts',
    methods: stream(task('working'), artifact('One.'), artifact('Two.', {}, 'a2'), status('completed')),
    reads: 'One. Two.',
  },
  {
    title: 'an end without an answer',
    methods: stream(task('working'), status('completed')),
    reads: 'The agent finished without an answer.',
  },
  {
    title: 'a context of its own',
    methods: stream(...ANSWER.map((event) => ({ ...event, contextId: 'another' }))),
    reads: HELLO,
  },
  // Turns
  {
    title: 'a question, whose answer begins with the task as it was',
    card: CARD_1,
    methods: {
      SendStreamingMessage: [
        [{ task: bareTask('TASK_STATE_WORKING') }, status1('TASK_STATE_INPUT_REQUIRED', 'Which city?')],
        [
          { task: bareTask('TASK_STATE_INPUT_REQUIRED') },
          status1('TASK_STATE_WORKING'),
          artifact1('Lisbon it is.'),
          status1('TASK_STATE_COMPLETED'),
        ],
      ],
    },
    says: ['Book a flight', 'Lisbon'],
    reads: 'Lisbon it is.',
  },
  {
    title: 'a second turn that begins with the artifacts of the first',
    methods: {
      'message/stream': [
        [task('working'), artifact('First.'), status('input-required', message('More?', 'q'))],
        [
          task('working', { artifacts: [{ artifactId: 'a1', parts: [text('First.')] }] }),
          artifact('Second.', {}, 'a2'),
          status('completed'),
        ],
      ],
    },
    says: ['One', 'Two'],
    reads: 'Second.',
  },
  // Following
  {
    title: 'a working task instead of a stream, which has to be polled',
    methods: {
      'message/stream': [new Reply({ result: task('working') })],
      'tasks/get': [new Reply({ result: task('working') }), new Reply({ result: task('completed', stored) })],
    },
    reads: HELLO,
  },
  {
    title: 'a stream that ends early and cannot be resumed',
    methods: {
      'message/stream': [ANSWER.slice(0, 2)],
      'tasks/resubscribe': [refused(-32601, 'Unknown method', 400)],
      'tasks/get': [new Reply({ result: task('completed', stored) })],
    },
    reads: HELLO,
  },
  {
    title: 'a connection that breaks, and a task that is resumed with its whole content',
    methods: {
      'message/stream': [[...ANSWER.slice(0, 2), 'break']],
      'tasks/resubscribe': [
        [task('working', { artifacts: [{ artifactId: 'a1', parts: [text('Hello ')] }] }), ...ANSWER.slice(2)],
      ],
    },
    reads: HELLO,
  },
  // Ends
  {
    title: 'a failure with its reason',
    methods: stream(task('working'), status('failed', message('No seats left.'))),
    reads: 'No seats left. The agent could not finish this.',
  },
  {
    title: 'a rejection with its reason',
    methods: stream(task('submitted'), status('rejected', message('Not my field.'))),
    reads: 'Not my field. The agent could not finish this.',
  },
  {
    title: 'a task cancelled by the agent, in the other spelling',
    methods: stream(task('working'), artifact('So far.'), status('cancelled')),
    reads: 'So far. Stopped.',
  },
  {
    title: 'a sign-in that it requires',
    methods: stream(task('working'), status('auth-required', message('Link your calendar.'))),
    reads: 'Link your calendar. The agent needs you to sign in.',
  },
  {
    title: 'an error event in the middle of the answer',
    methods: {
      'message/stream': [
        [
          ...ANSWER.slice(0, 2),
          `event: error\ndata: ${JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'Out of order' } })}\n\n`,
        ],
      ],
    },
    reads: 'Hello The agent could not finish this.',
  },
  // Parts
  {
    title: 'a picture without a name',
    methods: stream(
      task('working'),
      parts(text('See:'), { kind: 'file', file: { bytes: PNG, mimeType: 'image/png' } }),
      status('completed'),
    ),
    reads: 'See:',
    shows: '.a2a-message-agent img',
  },
  {
    title: 'data beside the words',
    methods: stream(task('working'), parts(text('Total:'), { kind: 'data', data: { sum: 42 } }), status('completed')),
    reads: 'Total: sum 42',
    shows: '.a2a-message-agent :has-text("42")',
  },
];

/** The odd agent: each habit at its own path, `/0`, `/1` and so on. */
export async function startOddAgent(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const listener = await openListener(0, '127.0.0.1');
  const url = `http://127.0.0.1:${String(listener.port)}`;
  const calls = new Map<string, number>();
  listener.server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    void serve(request, response, url, calls);
  });
  return { url, close: () => listener.close() };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  url: string,
  calls: Map<string, number>,
): Promise<void> {
  const [, index = '', rest = ''] = /^\/(\d+)(.*)$/.exec(request.url ?? '') ?? [];
  const habit = HABITS[Number(index)];
  const json = (body: object, status = 200): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  if (request.method === 'GET') {
    const card = habit?.card === undefined ? CARD : habit.card;
    if (rest !== '/.well-known/agent-card.json' || card === null) return json({}, 404);
    const own = `${url}/${index}`;
    const { supportedInterfaces } = card as typeof CARD_1;
    return json(
      supportedInterfaces === undefined
        ? { url: own, ...card }
        : { ...card, supportedInterfaces: [{ ...supportedInterfaces[0], url: own }] },
    );
  }
  let sent = '';
  for await (const chunk of request) sent += String(chunk);
  const { id, method } = JSON.parse(sent) as { id: unknown; method: string };
  const key = `${index} ${method}`;
  const nth = calls.get(key) ?? 0;
  calls.set(key, nth + 1);
  const answers = habit?.methods[method] ?? [UNKNOWN];
  const answer = answers[Math.min(nth, answers.length - 1)] ?? UNKNOWN;
  if (answer instanceof Reply) return json({ jsonrpc: '2.0', id, ...answer.body }, answer.status);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const step of answer as readonly Step[]) {
    if (step === 'break') response.destroy();
    else if (typeof step === 'number') await pause(step, response);
    else if (typeof step === 'string') response.write(step);
    else response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result: step })}\n\n`);
    await pause(5, response);
  }
  response.end();
}

function pause(ms: number, response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    response.once('close', () => (clearTimeout(timer), resolve()));
  });
}

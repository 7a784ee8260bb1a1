// The agent platform of the benchmark: prepared responses over bare sockets, so that it is never the bottleneck.
import { createServer } from 'node:net';
import { MessageReader } from './message-reader.mjs';
import { answerQuestions } from './process.mjs';
import { SCENARIOS, STREAMING_METHOD } from './scenarios.mjs';

const STREAM_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
const STREAMING = Buffer.from(STREAMING_METHOD);
const LAST_CHUNK = '0\r\n\r\n';

const WHOLE = {
  ...Object.fromEntries(['chat', 'upload', 'render'].map((name) => [name, whole(SCENARIOS[name].answer)])),
  version: whole(Buffer.from('{"version":"1"}')),
  hold: Buffer.concat([Buffer.from(STREAM_HEAD), chunk(SCENARIOS.hold.answer)]),
};
const STREAM_PIECE = chunk(SCENARIOS.stream.events.bytes);

let last = '';
const server = createServer({ noDelay: true }, (socket) => {
  let scenario = 'chat';
  const reader = new MessageReader({
    onHead: (head) => (scenario = scenarioOf(head)),
    onData: (data) => {
      last = data;
      // One address serves several scenarios; the request selects one.
      if (scenario === 'mixed') scenario = data.includes(STREAMING) ? 'hold' : 'chat';
    },
    onEnd: () => answer(socket, scenario),
  });
  socket.on('data', (data) => reader.push(data));
  socket.on('error', () => undefined);
}).listen({ port: 0, host: '0.0.0.0', backlog: 4_096 }, () => {
  answerQuestions({ port: server.address().port }, { last: () => String(last) });
});

function scenarioOf(head) {
  const path = head.slice(head.indexOf(' ') + 1, head.indexOf(' HTTP/'));
  if (path.startsWith('/api/')) return path.endsWith('/render') ? 'render' : 'version';
  return path.slice(1);
}

function answer(socket, scenario) {
  const prepared = WHOLE[scenario];
  if (prepared !== undefined) socket.write(prepared);
  else if (scenario === 'stream') stream(socket);
  else unknown(socket);
}

function unknown(socket) {
  socket.write('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n');
}

function stream(socket) {
  let left = SCENARIOS.stream.events.count;
  socket.write(STREAM_HEAD);
  const turn = () => {
    if (socket.destroyed) return;
    socket.write(STREAM_PIECE);
    left -= 1;
    if (left > 0) setImmediate(turn);
    else socket.write(LAST_CHUNK);
  };
  setImmediate(turn);
}

function whole(body) {
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

function chunk(bytes) {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
}

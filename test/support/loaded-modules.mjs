// node --import <this file> <program> prints the address of every loaded module at exit, one per line.
import { createRequire, register } from 'node:module';
import { pathToFileURL } from 'node:url';
import { MessageChannel, receiveMessageOnPort } from 'node:worker_threads';

const hooks = `
  let port;
  export const initialize = (data) => { port = data.port; };
  export const load = (url, context, next) => { port.postMessage(url); return next(url, context); };
`;
const { port1, port2 } = new MessageChannel();
register(`data:text/javascript,${encodeURIComponent(hooks)}`, { data: { port: port2 }, transferList: [port2] });
port1.unref();

process.on('exit', () => {
  const loaded = new Set();
  for (let entry = receiveMessageOnPort(port1); entry !== undefined; entry = receiveMessageOnPort(port1)) {
    loaded.add(entry.message);
  }
  // Modules loaded by require() do not pass through the hook.
  for (const file of Object.keys(createRequire(import.meta.url).cache)) loaded.add(pathToFileURL(file).href);
  process.stdout.write([...loaded].join('\n'));
});

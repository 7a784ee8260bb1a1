// A page with the chat and a scripted agent behind it, for scripts that measure the chat.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { listening } from '../support/listening.mjs';

const PAGE = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Chat</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
<link rel="stylesheet" href="/style.css"><style>html, body, #root { height: 100%; margin: 0; }</style>
</head><body><div id="root"></div><script type="module" src="/entry.js"></script></body></html>`;

const ENTRY = `import { createElement, createRef } from 'react';
import { createRoot } from 'react-dom/client';
import * as components from 'agent-bff-react';
// A part of the site beside the chat, which must not disappear with it.
const site = createElement('i', { key: 'site', id: 'site' });
const root = createRoot(document.querySelector('#root'));
const others = [];
Object.assign(globalThis, {
  chat: createRef(),
  show: (name, props) => root.render([site, createElement(components[name], { key: 'shown', ...props, ref: globalThis.chat })]),
  /** Shows a component once more beside the others, in a root of its own. */
  showMore: (name, props) => {
    const element = document.body.appendChild(document.createElement('div'));
    const other = createRoot(element);
    others.push({ element, other });
    other.render(createElement(components[name], props));
  },
  hide: () => {
    root.render([site]);
    for (const { element, other } of others.splice(0)) {
      other.unmount();
      // The listeners of a root stay on its element.
      element.remove();
    }
  },
});
hide();`;

const CARD = {
  name: 'Agent',
  description: 'Answers',
  version: '1',
  capabilities: { streaming: true },
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [],
  supportedInterfaces: [{ url: 'http://localhost/a2a', protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
};

/**
 * Serves the page of a checkout. `answer(write, message)` writes the events of the answer in A2A 1.0.
 * `respond(request, response)` handles every other request below /api and returns true, or returns false.
 */
export async function startChatPage(checkout, answer, respond = () => Promise.resolve(false)) {
  const files = await bundle(checkout);
  const server = createServer(async (request, response) => {
    const path = new URL(request.url, 'http://localhost').pathname;
    if (path === '/api/a2a/config') return json(response, { agentCard: CARD, brandCss: null, mediaOrigins: [] });
    if (path === '/api/a2a') {
      let body = '';
      for await (const chunk of request) body += chunk;
      const { id, params } = JSON.parse(body);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const write = (result) => response.write(`data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`);
      await answer(write, params.message, response);
      return void response.end();
    }
    if (await respond(request, response)) return;
    const file = files.get(path);
    const type = path.endsWith('.js') ? 'text/javascript' : path.endsWith('.css') ? 'text/css' : 'text/html';
    response.writeHead(file === undefined ? 404 : 200, { 'content-type': `${type}; charset=utf-8` }).end(file);
  });
  return { url: `${await listening(server)}/`, close: () => server.close() };
}

export function json(response, value) {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

async function bundle(checkout) {
  const bundled = await rolldown({
    input: 'entry',
    platform: 'browser',
    checks: { moduleLevelDirective: false },
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === 'entry' ? join(checkout, 'entry.mjs') : undefined),
        load: (id) =>
          id === join(checkout, 'entry.mjs')
            ? ENTRY.replace('agent-bff-react', join(checkout, 'react/dist/index.js'))
            : undefined,
      },
    ],
  });
  const { output } = await bundled.generate({
    format: 'esm',
    minify: true,
    entryFileNames: 'entry.js',
    chunkFileNames: '[name].js',
  });
  await bundled.close();
  return new Map([
    ['/', PAGE],
    ['/style.css', readFileSync(join(checkout, 'react/dist/style.css'))],
    ...output.filter(({ type }) => type === 'chunk').map(({ fileName, code }) => [`/${fileName}`, code]),
  ]);
}

// A process of a fleet: toolkits that share a store, each with a connection of its own. Communicates by IPC; see `fleet.mjs`.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const FILE = fileURLToPath(import.meta.url);

/** Starts a process with this many toolkits of the package in a folder. */
export async function startFleetProcess({ folder, ...settings }) {
  const child = fork(FILE);
  let last = 0;
  const waiting = new Map();
  child.on('message', ({ id, ...answer }) => {
    waiting.get(id)?.(answer);
    waiting.delete(id);
  });
  const ask = (message) =>
    new Promise((resolve) => {
      last += 1;
      waiting.set(last, resolve);
      child.send({ ...message, id: last });
    });
  await ask({ start: { folder, ...settings } });
  return {
    /** Visits one after the other in `lanes` lanes; the responses by `x-cache` and status. */
    visit: (visits, lanes = 20) => ask({ visits, lanes }),
    /** One visit, with the content of its response. */
    show: (visit) => ask({ show: visit }),
    tokens: () => ask({ tokens: true }),
    /** Faults of the store. */
    faults: () => ask({ faults: true }),
    stop: () => child.kill('SIGSTOP'),
    resume: () => child.kill('SIGCONT'),
    kill: () => child.kill('SIGKILL'),
  };
}

const REFUSED = { kind: 'failure', reason: 'refused', block: 'counted', fields: [], advice: '', log: 'refused' };

async function begin({ folder, toolkits, platform, config, cache, exchange, aheadMs = 0 }) {
  const now = Date.now;
  Date.now = () => now() + aheadMs;
  const { createToolkit } = await import(`${folder}/dist/composition/index.js`);
  const { createWebHandler } = await import(`${folder}/dist/composition/web.js`);
  const call = async (path, now) => {
    const response = await fetch(platform + path, { method: 'POST' });
    if (response.status === 401) return REFUSED;
    const { value, lifeMs } = await response.json();
    return { kind: 'token', token: { value, expiresAt: now + lifeMs } };
  };
  const identityProviders = {
    counted: {
      block: 'counted',
      identity: () => ({ principal: 'counted', proof: '1' }),
      issue: (now) => call('/token', now),
    },
  };
  const tokenExchange = {
    identity: () => ({ principal: 'exchange', proof: '1' }),
    exchange: (_request, now) => call('/exchange', now),
  };
  const session = {
    getToken: ({ headers }) =>
      Promise.resolve({ kind: 'token', accessToken: `token-of-${headers['x-user']}`, subject: headers['x-user'] }),
  };
  return Array.from({ length: toolkits }, () => {
    const toolkit = createToolkit(
      { serviceApiUrl: `${platform}/api`, serviceAuthStrategy: 'counted', ...config },
      { identityProviders, tokenExchange, telemetry },
    );
    const surfaces = { auth: session, cache, ...(exchange && { exchange: 'on_behalf_of' }) };
    const handle = createWebHandler({ toolkit, basePath: '/api', surfaces });
    return { toolkit, handle };
  });
}

const sites = [];
const faults = new Set();
const telemetry = { emit: ({ type, detail }) => type === 'cache_fault' && faults.add(detail) };
const URL_BASE = 'http://site.example/api/service-surfaces';

async function visited({ toolkit = 0, user, widget = 'w', body = '{}', act = false }) {
  const path = act ? `${widget}/actions/add` : `${widget}/render`;
  const headers = { 'content-type': 'application/json', 'x-user': user };
  const response = await sites[toolkit % sites.length].handle(
    new Request(`${URL_BASE}/${path}`, { method: 'POST', headers, body }),
  );
  return { status: response.status, cache: response.headers.get('x-cache'), text: await response.text() };
}

async function answer({ start, visits, lanes, show, tokens, faults: isAsked }) {
  if (start) {
    sites.push(...(await begin(start)));
    // The first connection to the store.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    return {};
  }
  if (show) return visited(show);
  if (isAsked) return { faults: [...faults] };
  if (tokens) {
    const found = await Promise.allSettled(sites.map(({ toolkit }) => toolkit.authHeaders()));
    return { tokens: [...new Set(found.map(({ value, reason }) => value?.authorization ?? reason.code))] };
  }
  if (visits) {
    const counts = {};
    let next = 0;
    const lane = async () => {
      while (next < visits.length) {
        const { status, cache } = await visited(visits[next++]);
        const name = status === 200 ? cache : String(status);
        counts[name] = (counts[name] ?? 0) + 1;
      }
    };
    await Promise.all(Array.from({ length: lanes }, lane));
    return { counts };
  }
  return {};
}

if (process.send && process.argv[1] === FILE) {
  process.on('message', async ({ id, ...message }) => process.send({ id, ...(await answer(message)) }));
  process.once('disconnect', () => process.exit(0));
}

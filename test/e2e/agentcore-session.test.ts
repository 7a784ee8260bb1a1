import type { ChatHandlerOptions, SiteFieldOptions } from 'agent-bff';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listeningSite } from '../site/frameworks/listening-site.js';
import { NEW, OLD, openSite, Person } from '../support/conversation-people.js';
import { AGENTS, type RememberingAgent, WAIT } from '../support/remembering-agents.js';

const SESSION = 'x-amzn-bedrock-agentcore-runtime-session-id';

/** The recipe of docs/conversations.md. */
const headers: SiteFieldOptions['headers'] = (_request, { message }) => ({ [SESSION]: message?.contextId });

/** Amazon Bedrock AgentCore in front of an agent: each conversation is a session, whose id has 33 characters or more. */
async function startAgentCore(agent: RememberingAgent) {
  const sessions: (readonly [method: string, session: string])[] = [];
  const site = await listeningSite(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const session = String(request.headers[SESSION] ?? '');
    if (request.method === 'POST' && session.length < 33) {
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"message":"runtimeSessionId"}');
      return;
    }
    const [, method = ''] = /"method":"([^"]+)"/.exec(body) ?? [];
    if (request.method === 'POST') sessions.push([method, session]);
    const version = request.headers['a2a-version'];
    const answer = await fetch(new URL(request.url ?? '', agent.a2aUrl), {
      method: request.method ?? 'GET',
      headers: { 'content-type': 'application/json', ...(version !== undefined && { 'a2a-version': String(version) }) },
      ...(body === '' ? {} : { body }),
    });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
    response.end(await answer.text());
  });
  const close = async (): Promise<void> => {
    await site.close();
    await agent.close();
  };
  return { sessions, calls: agent.calls, a2aUrl: `${site.url}/`, close };
}

describe.each(['@a2a-js/sdk 0.3.14', '@a2a-js/sdk 1.3.0'])('an agent on %s behind AgentCore', (name) => {
  const dialect = name.includes('1.3') ? NEW : OLD;
  let agent: Awaited<ReturnType<typeof startAgentCore>>;
  beforeAll(async () => {
    agent = await startAgentCore(await AGENTS[name]!());
  });
  afterAll(() => agent.close());

  it('gets the messages of a conversation in its session, from the first one on', async () => {
    const a2a: ChatHandlerOptions = { conversations: 'visitor', headers };
    const site = await openSite(agent, a2a);
    const ada = new Person(site.url, dialect);
    const { contextId } = await ada.say('hello');
    await ada.say('And then?', { contextId });
    const { contextId: other } = await new Person(site.url, dialect).say('hello');
    expect(agent.sessions).toEqual([contextId, contextId, other].map((session) => [dialect.send, session]));
    expect([contextId.length, contextId === other]).toEqual([36, false]);
    await site.close();
  });

  it('refuses messages without it', async () => {
    const site = await openSite(agent, { conversations: 'visitor' });
    expect((await new Person(site.url, dialect).say('hello')).seen.status).toBe(400);
    await site.close();
  });
});

describe('the function in "headers"', () => {
  it.each([
    ['JSON-RPC', NEW, (person: Person) => person.rpc(NEW.send, { message: NEW.message('a', { contextId: 'c1' }) })],
    [
      'HTTP+JSON',
      NEW,
      (person: Person) =>
        person.call({ path: '/message:send', body: { message: NEW.message('a', { contextId: 'c1' }) } }),
    ],
  ])('knows the message where conversations are open too, over %s', async (_binding, dialect, send) => {
    const agent = await AGENTS['@a2a-js/sdk 1.3.0']!();
    const seen: unknown[] = [];
    const told: SiteFieldOptions['headers'] = (_request, about) => {
      if (about.message !== undefined) seen.push(about);
      return {};
    };
    const site = await openSite(agent, { headers: told });
    await send(new Person(site.url, dialect));
    const message = { method: 'SendMessage', contextId: 'c1', taskId: undefined };
    expect(seen).toEqual([{ session: null, route: 'chat', message }]);
    await site.close();
    await agent.close();
  });

  it('knows the conversation of a task once this process has read the task', async () => {
    const agent = await AGENTS['@a2a-js/sdk 1.3.0']!();
    const seen: unknown[] = [];
    const told: SiteFieldOptions['headers'] = (_request, { message }) => void seen.push(message);
    const site = await openSite(agent, { conversations: 'visitor', headers: told });
    const ada = new Person(site.url, NEW);
    const { taskId, contextId } = await ada.say(WAIT);
    await ada.rpc(NEW.cancel, { id: taskId });
    await ada.rpc(NEW.get, { id: taskId });
    expect(seen).toEqual([
      { method: 'SendMessage', contextId, taskId: undefined },
      { method: 'GetTask', taskId },
      { method: 'CancelTask', contextId, taskId },
      { method: 'GetTask', contextId, taskId },
    ]);
    await site.close();
    await agent.close();
  });
});

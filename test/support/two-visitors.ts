import { MINTED, NEW, OLD, openSite, Person } from './conversation-people.js';
import { flipped, type Known, WAYS } from './ways-in.js';

const QUESTION = 'And now?';

/**
 * Two visitors of one agent behind a site: each way into the other's conversation fails, and its own visitor is never
 * refused.
 *
 * @throws Error that names the way.
 */
export async function twoVisitors(a2aUrl: string, isNew: boolean): Promise<number> {
  const dialect = isNew ? NEW : OLD;
  const site = await openSite({ a2aUrl }, { conversations: 'visitor' });
  try {
    const alice = new Person(site.url, dialect);
    const bob = new Person(site.url, dialect);
    const first = await alice.say('My account is XQ-4711.');
    const own = await bob.say('Hello.');
    if (first.seen.text.includes('"error"')) throw new Error(`the first message is refused: ${first.seen.text}`);
    // Some agents answer with a message instead of a task. The made-up id of a task is then unknown to the agent.
    const contextId = MINTED.test(first.contextId) ? first.contextId : contextIn(first.seen.text);
    const taskId = first.taskId === '' ? crypto.randomUUID() : first.taskId;
    const known: Known = { dialect, victim: { taskId, contextId }, waiting: taskId, own };
    const ways = Object.entries(WAYS);
    for (const [name, way] of ways) {
      const { text } = await bob.call(way(known));
      if (!text.includes('"error"') || text.includes('XQ-4711')) throw new Error(`${name}: ${text.slice(0, 300)}`);
    }
    const again = await alice.say(QUESTION, { contextId });
    if (again.seen.text.includes('"error"')) throw new Error(`her own context is refused: ${again.seen.text}`);
    if (first.taskId !== '') {
      const { text } = await alice.rpc(dialect.get, { id: taskId });
      if (text.includes('CONVERSATION_UNKNOWN')) throw new Error(`her own task is refused: ${text}`);
    }
    const { text } = await alice.say(QUESTION, { contextId: flipped(contextId) }).then(({ seen }) => seen);
    if (!text.includes('CONVERSATION_UNKNOWN')) throw new Error(`a changed context: ${text}`);
    return ways.length;
  } finally {
    await site.close();
  }
}

function contextIn(text: string): string {
  const [, contextId = ''] = /"contextId":\s*"([^"]+)"/.exec(text) ?? [];
  if (!MINTED.test(contextId)) throw new Error(`the agent does not keep the context: ${text.slice(0, 300)}`);
  return contextId;
}

// A site whose agent takes longer than the ten seconds that a refreshed token is kept after its cookie was sent, and whose
// provider ends a session when a refresh token is used twice.
import { setTimeout as after } from 'node:timers/promises';

const SLOW_MS = 14_000;

/** The visitors who are signed out: only the one who signs out may be. `visitor` returns a signed-in browser. */
export async function walkSlowAgent(name, { provider, agent, site, visitor, chat }) {
  // The libraries compare whole seconds.
  provider.lifetimeSeconds = 2;
  const [ann, bert, cara] = [await visitor(), await visitor(), await visitor()];
  await after(3_000);
  provider.lifetimeSeconds = 3_600;
  Object.assign(provider, { refreshes: 0, reused: 0 });
  agent.delayMs = SLOW_MS;
  const status = async (browser, signal) => (await chat(browser, site, { signal })).status;

  const parallel = Promise.all([1, 2, 3, 4].map(() => chat(ann, site)));
  const left = status(bert, AbortSignal.timeout(2_000)).catch(() => 'left');
  const late = status(cara);
  await after(3_000);
  await (await cara.send(`${site}/sign-out`)).text();
  // The other tab and the page loaded again still have the old cookies.
  await after(8_500);
  const tab = status(ann);
  const again = status(bert);
  // Besides that of the balancer.
  const carrying = (await parallel).filter(({ headers }) => headers.getSetCookie().length > 1).length;
  const found = {
    'four at once': (await parallel).map((response) => response.status),
    'of these with a cookie': carrying,
    'another tab': await tab,
    'left, then again': [await left, await again],
    'signed out, its answer': await late,
  };
  agent.delayMs = 0;
  const later = { ann: await status(ann), bert: await status(bert), cara: await status(cara) };
  const out = Object.keys(later).filter((name) => later[name] !== 200);
  const { refreshes, reused } = provider;
  const facts = `refreshes ${refreshes}, refused ${reused}; signed out: ${out.join(', ')}`;
  console.log(`  slow agent, ${name}: ${JSON.stringify(found)}; ${facts}`);
  // None if the server holds the session.
  return reused === 0 && out.join() === 'cara' && [0, 4].includes(carrying);
}

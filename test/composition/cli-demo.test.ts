import { expect, it } from 'vitest';
import { runCommand } from '../../src/composition/cli/run-command.js';

it('agent-bff demo serves a whole site until it is stopped', async () => {
  let stop = (): void => undefined;
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  let status: Promise<number> | undefined;
  const url = await new Promise<string>((resolve, reject) => {
    const terminal = {
      env: {},
      print: (text: string) => resolve(text.replace('agent-bff demo: ', '')),
      complain: (text: string) => reject(new Error(text)),
      stopped,
    };
    status = runCommand(['demo', '--port', '0'], terminal);
  });
  const page = await fetch(url);
  expect(await page.text()).toContain('<script type="module"');
  const config = (await (await fetch(`${url}/api/a2a/config`)).json()) as { agentCard: { name: string } };
  expect(config.agentCard.name).toBe('Demo agent');
  stop();
  expect(await status).toBe(0);
  await expect(fetch(url)).rejects.toThrow();
});

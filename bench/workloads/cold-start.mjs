import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { add, check, figures, guarded, withoutPace, withRivals } from '../measure.mjs';
import { median } from '../statistics.mjs';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const ASK = { scenario: 'chat', path: '/api/a2a' };
const IMPORTS = ['agent-bff/express', 'agent-bff/node', 'agent-bff', 'express', 'undici', 'inversify'];
const exec = promisify(execFile);

export const coldStart = {
  title: 'Cold start',
  about:
    'From the start of the process to the first answered chat, and what importing a module alone takes in a fresh process.',
  measures: { milliseconds: 'ms' },
  run: async (context) => {
    const times = context.quick ? 8 : 20;
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const privateKeyPem = privateKey.export({ type: 'pkcs8', format: 'pem' });
    const starts = ['ours-express', 'express-constant', 'express-dispatch'].map((name) => ({ name, samples: {} }));
    const imports = IMPORTS.map((name) => ({ key: `import ${name}`, name, label: `import '${name}'`, samples: {} }));
    for (let time = 0; time < times; time += 1) {
      context.say(`start ${time + 1} of ${times}`);
      for (const [index, rival] of starts.entries()) {
        starts[index] = await timedStart(context, rival, { privateKeyPem });
      }
      for (const entry of imports)
        await guarded(entry, async () => add(entry, 'milliseconds', await importTime(entry)));
    }
    for (const one of [...starts, ...imports]) if (one.problem === undefined) inFours(one);
    for (const together of [starts, imports]) withoutPace(together, 'milliseconds');
    return { figures: figures([...starts, ...imports]) };
  },
};

/** The median of four starts is a round, since single starts vary. */
function inFours({ samples }) {
  const all = samples.milliseconds;
  samples.milliseconds = Array.from({ length: Math.ceil(all.length / 4) }, (_, index) =>
    median(all.slice(index * 4, index * 4 + 4)),
  );
}

async function timedStart(context, before, options) {
  const startedAt = performance.now();
  return withRivals(context, [{ name: before.name, options }], async ([rival]) => {
    rival.samples = before.samples;
    await guarded(rival, async () => {
      check(await context.load.ask('once', { ...ASK, target: rival.target }));
      add(rival, 'milliseconds', performance.now() - startedAt);
    });
    return rival;
  });
}

async function importTime({ name }) {
  const code = `const at = performance.now(); await import('${name}'); console.log(performance.now() - at);`;
  const { stdout } = await exec(process.execPath, ['--input-type=module', '-e', code], { cwd: ROOT });
  return Number(stdout);
}

// WebKitGTK by its W3C WebDriver, on a display of its own; of Debian's webkit2gtk-driver and xvfb.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** Opens a page; undefined when the programs are missing. */
export async function openInWebKit(url) {
  const number = 90 + (process.pid % 900);
  const display = await started('Xvfb', [`:${number}`, '-screen', '0', '1280x900x24', '-nolisten', 'tcp']);
  if (display === undefined) return undefined;
  const port = 10_000 + (process.pid % 50_000);
  const driver = await started('WebKitWebDriver', [`--port=${port}`], {
    DISPLAY: `:${number}`,
    WEBKIT_DISABLE_COMPOSITING_MODE: '1',
    // Containers lack what the sandbox needs.
    WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS: '1',
    LIBGL_ALWAYS_SOFTWARE: '1',
  });
  if (driver === undefined) {
    display.kill();
    return undefined;
  }
  const call = async (method, path, body) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const { value } = await response.json();
    if (!response.ok) throw new Error(`${value.error}: ${value.message}`);
    return value;
  };
  const { sessionId } = await call('POST', '/session', {
    capabilities: { alwaysMatch: { timeouts: { script: 600_000 } } },
  });
  const session = `/session/${sessionId}`;
  await call('POST', `${session}/url`, { url });
  return {
    version: 'WebKitGTK',
    evaluate: (script) => call('POST', `${session}/execute/sync`, { script: `return (${script})`, args: [] }),
    mainThreadMs: () => mainThreadMs(processOf('WebKitWebProcess', driver.pid)),
    close: async () => {
      await call('DELETE', session).catch(() => undefined);
      driver.kill();
      display.kill();
    },
  };
}

async function started(command, args, env) {
  const child = spawn(command, args, { stdio: 'ignore', env: { ...process.env, ...env } });
  let hasFailed = false;
  child.once('error', () => (hasFailed = true));
  await pause(1_500);
  return hasFailed ? undefined : child;
}

/** The youngest process of that name below another one. */
export function processOf(name, ancestor) {
  const parents = new Map();
  const found = [];
  for (const pid of readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
      parents.set(pid, Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
      if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(name)) found.push(pid);
    } catch {
      // gone by now
    }
  }
  const isBelow = (pid) => pid === ancestor || (parents.has(pid) && isBelow(parents.get(pid)));
  const below = found.filter(isBelow);
  if (below.length === 0) throw new Error(`There is no process ${name}.`);
  return Math.max(...below);
}

/** The CPU time of the main thread of a process, which is where a browser runs scripts and lays out pages. */
export function mainThreadMs(pid) {
  const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

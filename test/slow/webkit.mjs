// WebKitGTK through its W3C WebDriver, on its own display; needs Debian's webkit2gtk-driver and xvfb.
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
    mainThreadMs: () => mainThreadMs('WebKitWebProcess', driver.pid),
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

/** CPU time of the main threads of all processes with this name below another process; a browser runs scripts and layout there. */
export function mainThreadMs(name, ancestor) {
  const parents = new Map();
  const found = [];
  for (const pid of readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map(Number)) {
    try {
      parents.set(pid, Number(statOf(`/proc/${pid}/stat`)[1]));
      if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(name)) found.push(pid);
    } catch {
      // already gone
    }
  }
  const isBelow = (pid) => pid === ancestor || (parents.has(pid) && isBelow(parents.get(pid)));
  return found.filter(isBelow).reduce((sum, pid) => {
    const [user, system] = statOf(`/proc/${pid}/task/${pid}/stat`).slice(11);
    return sum + (Number(user) + Number(system)) * 10;
  }, 0);
}

/** The fields after the name of the program. */
function statOf(path) {
  const stat = readFileSync(path, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

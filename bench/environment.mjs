import { readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { nativeVersion } from './native-process.mjs';

/** Machine, versions and date: the first line of every result. Manifests name exact versions of what is measured. */
export async function environment() {
  const [first] = cpus();
  const root = manifest('../package.json');
  const versions = { ...manifest('rivals/package.json').dependencies, ...manifest('next/package.json').dependencies };
  for (const name of ['express', '@keyv/redis']) versions[name] = root.devDependencies[name];
  versions.keyv = root.dependencies.keyv;
  const sorted = Object.entries(versions).sort(([one], [other]) => one.localeCompare(other, 'en'));
  const native = { nginx: await nativeVersion('nginx', '-v'), redis: await nativeVersion('redis-server', '--version') };
  return {
    processor: `${first?.model.trim() ?? 'unknown'}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    node: process.version,
    versions: Object.fromEntries([...sorted, ...Object.entries(native).filter(([, version]) => version !== undefined)]),
    date: new Date().toISOString().slice(0, 10),
  };
}

/** The same as one line. */
export function environmentLine({ processor, node, versions, date }) {
  const list = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `${processor}; Node ${node}; ${list.join(', ')}; ${date}`;
}

function manifest(file) {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'));
}

import { existsSync, readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { RIVALS } from './catalogue.mjs';
import { nativeVersion } from './native-process.mjs';

const FOLDERS = ['rivals/node_modules', 'next/node_modules', '../node_modules'];

/** On what, with what and when: the first line of every result. */
export async function environment() {
  const [first] = cpus();
  const packages = [...new Set(Object.values(RIVALS).flatMap((rival) => rival.packages))].sort((a, b) =>
    a.localeCompare(b, 'en'),
  );
  const versions = Object.fromEntries(packages.map((name) => [name, packageVersion(name)]));
  versions.nginx = await nativeVersion('nginx', '-v');
  versions.redis = await nativeVersion('redis-server', '--version');
  return {
    processor: `${first?.model.trim() ?? 'unknown'}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    node: process.version,
    versions: Object.fromEntries(Object.entries(versions).filter(([, version]) => version !== undefined)),
    date: new Date().toISOString().slice(0, 10),
  };
}

/** The same in one line. */
export function environmentLine({ processor, node, versions, date }) {
  const list = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `${processor}; Node ${node}; ${list.join(', ')}; ${date}`;
}

function packageVersion(name) {
  for (const folder of FOLDERS) {
    const file = fileURLToPath(new URL(`${folder}/${name}/package.json`, import.meta.url));
    if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')).version;
  }
  return undefined;
}

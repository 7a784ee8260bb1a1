// node scripts/packed-size.mjs: fails if the server's package would be larger than its limits, with the folders that are largest.
import { pathToFileURL } from 'node:url';
import { npm, ROOT } from './command.mjs';

const LIMITS = { size: 1_200_000, unpackedSize: 4_000_000 };
const WORDS = { size: 'packed', unpackedSize: 'unpacked' };

/** The complaint about the size of a package that npm packed with `--json`; undefined if it is within the limits. */
export function excessOf({ filename, files, ...packed }) {
  const over = Object.keys(LIMITS).filter((name) => packed[name] > LIMITS[name]);
  if (over.length === 0) return undefined;
  const sizes = over.map(
    (name) => `${inBytes(packed[name])} ${WORDS[name]}, and the limit is ${inBytes(LIMITS[name])}`,
  );
  const largest = [...folders(files)].toSorted(([, one], [, other]) => other - one).slice(0, 5);
  const list = largest.map(([folder, bytes]) => `${folder} ${inBytes(bytes)}`).join(', ');
  return `${filename} has ${sizes.join('; ')}. Shrink it, or change "files" in package.json. The largest folders, unpacked: ${list}.`;
}

/** The bytes in each folder, of which the first two names count. */
function folders(files) {
  const sums = new Map();
  for (const { path, size } of files) {
    const folder = path.split('/').slice(0, -1).slice(0, 2).join('/') || 'the root';
    sums.set(folder, (sums.get(folder) ?? 0) + size);
  }
  return sums;
}

function inBytes(bytes) {
  return `${bytes.toLocaleString('en')} bytes`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [packed] = JSON.parse(npm(['pack', '--dry-run', '--json'], ROOT));
  const excess = excessOf(packed);
  if (excess === undefined) console.log(`${packed.filename}: ${inBytes(packed.unpackedSize)} unpacked`);
  else console.error(excess);
  process.exitCode = excess === undefined ? 0 : 1;
}

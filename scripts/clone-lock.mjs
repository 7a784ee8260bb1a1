import { accessSync, constants, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 250;
/** A lock file without a readable owner is still being written, until it reaches this age. */
const UNREADABLE_FOR_MS = 10_000;

/**
 * Lets one process per clone at a time do `work` (installing, compiling); the others wait and print that they do. A
 * lock whose owner no longer runs is taken over.
 */
export async function withCloneLock(root, work) {
  const file = `${root}/temp/set-up.lock`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    accessSync(dirname(file), constants.W_OK);
  } catch (error) {
    if (!['EROFS', 'EACCES', 'EPERM'].includes(error.code)) throw error;
    console.error(
      `${root} cannot be written (${error.code}), and is not installed and built yet. Run the command once where it can be.`,
    );
    process.exit(1);
  }
  let announced = false;
  while (!tryLock(file)) {
    if (!announced)
      console.error(`waiting for another command in this clone (process ${ownerOf(file) || 'unknown'}) …`);
    announced = true;
    await sleep(POLL_MS);
  }
  const release = () => rmSync(file, { force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.off('exit', release);
    release();
  }
}

function tryLock(file) {
  try {
    writeFileSync(file, String(process.pid), { flag: 'wx' });
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  if (isAbandoned(file)) rmSync(file, { force: true });
  return false;
}

function isAbandoned(file) {
  const owner = ownerOf(file);
  if (owner === 0) {
    const age = Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    return age > UNREADABLE_FOR_MS;
  }
  try {
    process.kill(owner, 0);
    return false;
  } catch (error) {
    return error.code === 'ESRCH';
  }
}

function ownerOf(file) {
  try {
    return Number(readFileSync(file, 'utf8')) || 0;
  } catch {
    return 0;
  }
}

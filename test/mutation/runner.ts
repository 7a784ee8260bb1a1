import { appendFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type RunnerTestCase as Test, TestRunner } from 'vitest';

/** A part of the changes, in a process of its own. */
interface Share {
  /** The file with the result; what it says already was noticed is not tried again. */
  readonly result: string;
  readonly share: number;
  readonly processes: number;
  /** Tests that take longer are left for a run of their own, where a change has fewer tests to go through. */
  readonly quickMs: number;
  readonly kind: 'quick' | 'slow';
}

interface Result {
  /** The test that noticed, by the change's id. */
  readonly noticed: Record<string, string>;
  readonly reached: string[];
  readonly tried: string[];
  /** Changes whose code did not run again in a try: unless another test ran it, it runs once per process, as on import. */
  readonly idle: string[];
  readonly onImport: string[];
  /** Tests that fail by themselves, or after one of their own failures. */
  readonly unfit: string[];
  /** Tests that failed unchanged, after other changes: since then they have had a new process. */
  readonly restarted: string[];
  /** Tests that are left for the other run. */
  readonly slow: string[];
  /** Files whose tests have run. */
  readonly done: string[];
}

interface Instrumented {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
  mutantCoverage?: { static: Record<string, number>; perTest: Record<string, Record<string, number>> };
}

const share = JSON.parse(process.env['MUTANTS'] ?? '{}') as Share;
const shared = globalThis as unknown as { __stryker__?: Instrumented; noticedChanges?: Result };
/** The factor by which a test may take longer when it is repeated because it was late. */
const PATIENCE = 4;
/** Names the change that is tried, in case it ends the process. */
const CURRENT = `${share.result}.current`;
/** Lists the changes that were noticed since the result was written. */
const NOTICED = `${share.result}.noticed`;
// Names that the instrumented sources read.
const instrumented = (shared.__stryker__ ??= {});
const result = (shared.noticedChanges ??= JSON.parse(readFileSync(share.result, 'utf8')) as Result);
const reached = new Set<string>(result.reached);
const tried = new Set<string>(result.tried);
const idle = new Set<string>(result.idle);
const onImport = new Set<string>(result.onImport);
const slow = new Set<string>(result.slow);
const files = new Set<string>(result.done);

/**
 * Runs each test once as it is, and once more for each change on its path that no test has noticed yet. After a
 * failure it runs as it is again: a test that then still fails saw a leftover, not the change.
 */
export default class MutantRunner extends TestRunner {
  readonly #attempts = new Map<string, Attempts>();

  override async onBeforeRunTask(test: Test): Promise<void> {
    await super.onBeforeRunTask(test);
    files.add(test.file.name);
    if (test.mode !== 'run' || test.fails === true) return;
    const attempts = new Attempts(nameOf(test));
    this.#attempts.set(test.id, attempts);
    test.retry = { count: Number.MAX_SAFE_INTEGER, condition: () => !attempts.isOver };
  }

  override onBeforeTryTask(test: Test): void {
    super.onBeforeTryTask(test);
    // Assertions of an earlier try that are still awaited would fail this one.
    Reflect.deleteProperty(test, 'promises');
    this.#attempts.get(test.id)?.start();
  }

  async runTask(test: Test): Promise<void> {
    const attempts = this.#attempts.get(test.id);
    const ran = run(test);
    const limitMs = attempts?.limitMs;
    if (attempts === undefined || limitMs === undefined) return ran;
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<never>((_, reject) => {
      timer = realSetTimeout(() => {
        attempts.isLate = true;
        reject(new Error('The change made the test too slow.'));
      }, limitMs);
    });
    ran.catch(() => {});
    try {
      await Promise.race([ran, limit]);
    } finally {
      realClearTimeout(timer);
    }
  }

  onAfterRetryTask(test: Test): void {
    const attempts = this.#attempts.get(test.id);
    if (attempts === undefined || test.result === undefined) return;
    attempts.end(test.result.state === 'fail' || uncaught);
    uncaught = false;
    // A failed try is followed by another one.
    test.result.state = attempts.isOver ? 'pass' : 'fail';
    test.result.errors = attempts.isOver ? [] : [{ message: 'next' }];
  }

  override onAfterRunFiles(): void {
    super.onAfterRunFiles();
    result.done.splice(0, result.done.length, ...files);
    result.reached.splice(0, result.reached.length, ...reached);
    result.tried.splice(0, result.tried.length, ...tried);
    result.idle.splice(0, result.idle.length, ...idle);
    for (const id of Object.keys(instrumented.mutantCoverage?.static ?? {})) onImport.add(id);
    result.onImport.splice(0, result.onImport.length, ...onImport);
    writeFileSync(share.result, JSON.stringify(result));
    rmSync(NOTICED, { force: true });
  }
}

const { setTimeout: realSetTimeout, clearTimeout: realClearTimeout } = globalThis;

/** True once a change was tried in this process. */
let hasTried = false;

// Vitest reports such errors at the end of a run.
let uncaught = false;
const onUncaught = (): boolean => (uncaught ||= instrumented.activeMutant !== undefined);
process.on('uncaughtException', onUncaught);
process.on('unhandledRejection', onUncaught);

/** The tries of one test. */
class Attempts {
  isOver = false;
  /** True if the current try reached the limit. */
  isLate = false;
  #limitMs = 0;
  #state: 'first' | 'changed' | 'again' = 'first';
  #startedAt = 0;
  #change: string | undefined;
  #left: string[] = [];
  #late: string | undefined;
  #hits: Record<string, number> = {};

  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  get limitMs(): number | undefined {
    if (this.#state === 'first') return undefined;
    const isPatient = this.#state === 'again' || this.#late === this.#change;
    return isPatient ? PATIENCE * this.#limitMs : this.#limitMs;
  }

  start(): void {
    this.#startedAt = performance.now();
    this.isLate = false;
    instrumented.activeMutant = undefined;
    instrumented.currentTestId = this.#state === 'first' ? this.name : undefined;
    instrumented.hitCount = undefined;
    if (this.#state !== 'changed') return;
    hasTried = true;
    this.#change = this.#left.pop() as string;
    writeFileSync(CURRENT, JSON.stringify([this.#change, this.name, process.pid]));
    instrumented.activeMutant = this.#change;
    instrumented.hitCount = 0;
    instrumented.hitLimit = 1_000 + 10 * (this.#hits[this.#change] ?? 0);
  }

  end(failed: boolean): void {
    const tookMs = performance.now() - this.#startedAt;
    instrumented.activeMutant = undefined;
    instrumented.currentTestId = undefined;
    if (this.#state === 'first') {
      this.#hits = instrumented.mutantCoverage?.perTest[this.name] ?? {};
      for (const id of Object.keys(this.#hits)) reached.add(id);
      if (failed && hasTried) restart(this.name);
      if (failed) result.unfit.push(`${this.name} (fails)`);
      else if (tookMs > share.quickMs && share.kind === 'quick') result.slow.push(this.name);
      else if (share.kind === 'quick' || slow.has(this.name)) this.#left = Object.keys(this.#hits).filter(isOurs);
      this.#limitMs = 300 + 5 * tookMs;
      this.#state = 'changed';
    } else if (this.#state === 'changed') {
      (instrumented.hitCount === 0 ? idle : tried).add(this.#change as string);
      if (failed && this.isLate && this.#late !== this.#change) {
        // The machine may be busy: one more try, with more time.
        this.#late = this.#change;
        this.#left.push(this.#change as string);
        return;
      }
      if (failed) {
        result.noticed[this.#change as string] = this.name;
        this.#state = 'again';
        return;
      }
    } else {
      const isFit = !failed || !result.restarted.includes(this.name);
      // A later change may end the process before the result is written.
      if (isFit) appendFileSync(NOTICED, `${JSON.stringify([this.#change, this.name])}\n`);
      if (failed) restart(this.name);
      if (!isFit) {
        Reflect.deleteProperty(result.noticed, this.#change as string);
        result.unfit.push(`${this.name} (fails after a failure)`);
        this.#left = [];
      }
      this.#state = 'changed';
    }
    while (this.#left.length > 0 && result.noticed[this.#left.at(-1) as string] !== undefined) this.#left.pop();
    this.isOver = this.#left.length === 0;
    if (this.isOver) rmSync(CURRENT, { force: true });
  }
}

/** Changes may leave their mark on modules: once per test, a new process tries it again. */
function restart(name: string): void {
  if (result.restarted.includes(name)) return;
  writeFileSync(CURRENT, JSON.stringify([null, name, process.pid]));
  process.kill(process.pid, 'SIGKILL');
}

function isOurs(id: string): boolean {
  return Number(id) % share.processes === share.share && result.noticed[id] === undefined;
}

function nameOf(test: Test): string {
  return `${test.file.name} > ${test.fullTestName}`;
}

async function run(test: Test): Promise<void> {
  await TestRunner.getTestFn(test)();
}

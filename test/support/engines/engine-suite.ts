import { afterAll, beforeAll, describe, onTestFinished } from 'vitest';

import { type DemoOptions, startDemo } from '../../../examples/start-demo.js';
import type { Engine, PageOptions, RunningEngine } from './engine-page.js';
import { EngineSite } from './engine-site.js';
import { EngineVisit } from './engine-visit.js';
import { ENGINES, OLDEST_ENGINES } from './engines.js';

const isEveryEngine = process.env['ENGINES'] === 'all';

export interface EngineSuiteOptions extends Omit<DemoOptions, 'port'> {
  /** True to run in WebKitGTK and Firefox too, and not only with `npm run test:engines`. Default false. */
  readonly inEachKind?: boolean;
  /** The site behind the test page. Default: the demo. */
  readonly startSite?: () => Promise<{ readonly url: string; close(): Promise<void> }>;
}

/** Runs a suite in Chromium, and in every engine with `npm run test:engines` (ENGINES=all). */
export function describeInEngines(
  title: string,
  { inEachKind = false, startSite, ...options }: EngineSuiteOptions,
  suite: (visits: EngineVisits) => void,
): void {
  const chosen = inEachKind ? ENGINES : ENGINES.filter(({ name }) => name === 'Chromium');
  for (const engine of isEveryEngine ? [...ENGINES, ...OLDEST_ENGINES] : chosen) {
    describe.skipIf(engine.missing !== undefined)(`${title}, in ${engine.name}`, { timeout: 120_000 }, () => {
      const visits = new EngineVisits(engine);
      beforeAll(() => visits.start(startSite ?? (() => startDemo({ port: 0, ...options }))), 120_000);
      afterAll(() => visits.close());
      suite(visits);
    });
  }
}

/** The visitors of a site in one engine. */
export class EngineVisits {
  readonly engine: Engine;
  site!: EngineSite;
  /** The address of the site behind the test page. */
  behind!: string;
  #running!: RunningEngine;
  #closeBehind!: () => Promise<void>;

  constructor(engine: Engine) {
    this.engine = engine;
  }

  async start(startSite: NonNullable<EngineSuiteOptions['startSite']>): Promise<void> {
    const behind = await startSite();
    this.behind = behind.url;
    this.#closeBehind = () => behind.close();
    this.site = await EngineSite.start(behind.url);
    this.#running = await this.engine.launch();
  }

  /** A visitor on the empty test page, who leaves when the test ends. */
  async visit(options?: PageOptions): Promise<EngineVisit> {
    const page = await this.#running.newPage(options);
    onTestFinished(() => page.close());
    const visit = new EngineVisit(page, this.site);
    await visit.open();
    return visit;
  }

  async close(): Promise<void> {
    await this.#running.close();
    await this.site.close();
    await this.#closeBehind();
  }
}

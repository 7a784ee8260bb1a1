import { beforeAll, describe } from 'vitest';
import { A_BUILD_MS, buildNextExample, nextIsInstalled } from '../support/next-example.js';
import { nextSite } from './frameworks/next.js';
import { siteSuite } from './site-suite.js';

describe.skipIf(!nextIsInstalled)('a site built with Next', () => {
  beforeAll(buildNextExample, A_BUILD_MS);

  siteSuite(nextSite('Next 16'));
});

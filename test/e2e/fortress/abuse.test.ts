import express from 'express';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Framework } from '../../site/framework.js';
import { expressSite } from '../../site/frameworks/express.js';
import { honoSite } from '../../site/frameworks/hono.js';
import { koaSite } from '../../site/frameworks/koa.js';
import { nodeHttpSite } from '../../site/frameworks/node-http.js';
import { nextStyleSite } from '../../site/frameworks/next-routes.js';
import { tryCase } from './abuse-corpus/abuse-run.js';
import { type AbuseWorld, startAbuseWorld } from './abuse-corpus/abuse-world.js';
import { brokenAnswers } from './abuse-corpus/answers.js';
import { connectionOptions } from './abuse-corpus/connection-options.js';
import { pipelines } from './abuse-corpus/connections.js';
import { framing } from './abuse-corpus/framing.js';
import { hosts } from './abuse-corpus/hosts.js';
import { injections, oversized } from './abuse-corpus/injections.js';
import { chatPaths, traversal } from './abuse-corpus/paths.js';
import { streams } from './abuse-corpus/streams.js';
import { targets } from './abuse-corpus/targets.js';
import { upgrades } from './abuse-corpus/upgrades.js';

const REQUESTS = [connectionOptions, traversal, chatPaths, targets, hosts, framing, upgrades, injections, oversized];
const FAMILIES = [...REQUESTS, brokenAnswers, streams, pipelines];

/** One host for each adapter, and one whose parser reads bodies before the routes. */
const HOSTS: readonly Framework[] = [
  nodeHttpSite('node:http'),
  expressSite('Express 5 after an express.json() that keeps the raw body', express, { json: 'rawBody' }),
  koaSite('Koa'),
  honoSite('Hono'),
  nextStyleSite,
];

describe.each(HOSTS)('$name', (host) => {
  let world: AbuseWorld;
  beforeAll(async () => {
    world = await startAbuseWorld(host);
  });
  afterAll(() => world.close());

  it.each(FAMILIES)(
    'withstands $name and serves the next visitor',
    async ({ cases }) => {
      const unsafe: Record<string, readonly string[]> = {};
      for (const abuse of cases) {
        const found = await tryCase(world, abuse);
        if (found.length > 0) unsafe[abuse.id] = found;
      }
      expect(unsafe).toEqual({});
    },
    120_000,
  );
});

import express from 'express';
import express4 from 'express4';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Framework } from '../../site/framework.js';
import { expressSite } from '../../site/frameworks/express.js';
import { koaSite } from '../../site/frameworks/koa.js';
import { nodeHttpSite } from '../../site/frameworks/node-http.js';
import { ABUSE_FAMILIES } from './abuse-corpus/abuse-families.js';
import { nextStyleSite, webSite } from './abuse-corpus/abuse-hosts.js';
import { tryCase } from './abuse-corpus/abuse-run.js';
import { type AbuseWorld, startAbuseWorld } from './abuse-corpus/abuse-world.js';

const HOSTS: readonly Framework[] = [
  nodeHttpSite('node:http'),
  expressSite('Express 5', express),
  expressSite('Express 5 after express.json()', express, { json: true }),
  expressSite('Express 5 after an express.json() that keeps the raw body', express, { json: 'rawBody' }),
  expressSite('Express 4', express4),
  koaSite('Koa'),
  webSite,
  nextStyleSite,
];

const CASES = ABUSE_FAMILIES.flatMap(({ cases }) => cases);

describe('the abuse corpus', () => {
  it('tries at least 500 things of at least 15 kinds', () => {
    expect(CASES.length).toBeGreaterThanOrEqual(500);
    expect(ABUSE_FAMILIES.length).toBeGreaterThanOrEqual(15);
  });

  it('calls each of them by a name of its own, and says where it is from', () => {
    expect(new Set(CASES.map(({ id }) => id)).size).toBe(CASES.length);
    for (const { id, fact } of CASES) {
      expect(fact, id).toMatch(/CVE-\d{4}-\d+|GHSA-[\w-]+|RFC \d+|OWASP|draft-ietf|docs\/security\.md|a2a-/);
    }
  });
});

describe.each(HOSTS)('$name', (host) => {
  let world: AbuseWorld;
  let tried = 0;
  beforeAll(async () => {
    world = await startAbuseWorld(host);
  });
  afterAll(() => world.close());

  it.each(ABUSE_FAMILIES)(
    'is safe against $name',
    async ({ cases }) => {
      const unsafe: Record<string, readonly string[]> = {};
      for (const abuse of cases) {
        const found = await tryCase(world, abuse);
        tried += 1;
        if (found.length > 0) unsafe[abuse.id] = found;
      }
      expect(unsafe).toEqual({});
    },
    120_000,
  );

  it('is tried with every case of the corpus, and never calls the canary', () => {
    expect(tried).toBe(CASES.length);
    expect(world.canary.visits()).toBe(0);
  });
});

import express from 'express';
import { beforeAll, describe, expect, it } from 'vitest';
import * as expressEntry from '../../src/composition/express.js';
import { configureServer, createToolkit } from '../../src/composition/index.js';
import * as koaEntry from '../../src/composition/koa.js';
import * as next from '../../src/composition/next.js';
import { createHandlers, createNodeHandler } from '../../src/composition/node.js';
import { createWebHandler } from '../../src/composition/web.js';
import { errorOf } from '../support/error-of.js';

// Options that exist, but not where they are written.

class Router {
  all(): void {}
}

type Make = (options: never) => unknown;

const ALL_ROUTES: readonly (readonly [string, Make])[] = [
  ['createHandlers of Express', (options) => expressEntry.createHandlers(express, options)],
  ['createHandlers of Koa', (options) => koaEntry.createHandlers(Router, options)],
  ['createHandlers of Next', next.createHandlers],
  ['createHandlers of node:http', createHandlers],
  ['createNodeHandler', createNodeHandler],
  ['createWebHandler', createWebHandler],
];

const hintOf = async (make: Make, options: unknown): Promise<string | undefined> =>
  (await errorOf(new Promise((resolve) => resolve(make(options as never))))).hint;

beforeAll(() => {
  configureServer({});
});

describe.each(ALL_ROUTES)('%s', (_name, make) => {
  it.each<[object, string]>([
    [{ conversations: 'visitor' }, '"a2a.conversations"'],
    [{ visitorMaxAge: 60 }, '"a2a.visitorMaxAge"'],
    [{ requireSession: true }, '"surfaces.requireSession"'],
    [{ cache: { enabled: true } }, '"surfaces.cache"'],
    [{ freshMs: 1_000 }, '"surfaces.cache.freshMs"'],
    [{ auth: () => null }, '"a2a.auth" or "surfaces.auth" or "service.auth"'],
  ])('names the place of an option of one route: %o', async (options, place) => {
    expect(await hintOf(make, options)).toBe(`Did you mean ${place}?`);
  });

  it.each<[object, string]>([
    [{ a2a: { toolkit: createToolkit({}) } }, '"toolkit"'],
    [{ a2a: { cache: { enabled: true } } }, '"surfaces.cache"'],
    [{ surfaces: { conversations: 'visitor' } }, '"a2a.conversations"'],
    [{ surfaces: { freshMs: 1_000 } }, '"surfaces.cache.freshMs"'],
  ])('names the place of an option of all routes, or of another one: %o', async (options, place) => {
    expect(await hintOf(make, options)).toBe(`Did you mean ${place}?`);
  });

  it('names the places of the options below an unknown one, if all of them are known', async () => {
    expect(await hintOf(make, { chat: { conversations: 'visitor' } })).toBe('Did you mean "a2a.conversations"?');
    expect(await hintOf(make, { chat: { conversations: 'visitor', nonsense: 1 } })).toMatch(/^Known options: /);
    expect(await hintOf(make, { a2b: { conversations: 'visitor' } })).toBe('Did you mean "a2a"?');
  });
});

describe('the function of one route', () => {
  it.each<[string, Make]>([
    ['createA2ARouter of Express', (options) => expressEntry.createA2ARouter(express, options)],
    ['createA2ARouter of Koa', (options) => koaEntry.createA2ARouter(Router, options)],
    ['createA2AProxyHandlerWithServiceAuth', next.createA2AProxyHandlerWithServiceAuth],
  ])('names an option that is given below the name of the route: %s', async (_name, make) => {
    expect(await hintOf(make, { a2a: { conversations: 'visitor' } })).toBe('Did you mean "conversations"?');
  });
});

describe.each([
  ...ALL_ROUTES,
  ['createA2ARouter', (options: never) => expressEntry.createA2ARouter(express, options)] as const,
])('%s', (_name, make) => {
  it.each<[object, string]>([
    [{ a2aUrl: 'https://agent.example' }, '"a2aUrl"'],
    [{ serviceAccountId: 'site' }, '"serviceAccount.serviceAccountId"'],
  ])('names configureServer for a field of the configuration: %o', async (options, place) => {
    expect(await hintOf(make, options)).toBe(`It is a field of the configuration: pass ${place} to configureServer.`);
  });
});

describe('configureServer', () => {
  it.each<[object, string]>([
    [{ serviceAccountId: 'site' }, '"serviceAccount.serviceAccountId"'],
    [{ headersMs: 1 }, '"timeouts.headersMs"'],
    [{ serviceAccount: { serviceApiKey: 'key' } }, '"serviceApiKey"'],
    [{ idpBService: { domain: 'acme.example' } }, '"idpA.domain"'],
  ])('names the block of a field: %o', async (config, place) => {
    expect(await hintOf(configureServer, config)).toBe(`Did you mean ${place}?`);
  });

  it.each<[object, string, string]>([
    [{ visitorMaxAge: 60 }, '"a2a.visitorMaxAge"', '"visitorMaxAge"'],
    [{ requireSession: true }, '"surfaces.requireSession"', '"requireSession"'],
  ])('names the routes for an option of theirs: %o', async (config, all, one) => {
    expect(await hintOf(configureServer, config)).toBe(
      `It is an option of the routes: pass ${all} to createHandlers, or ${one} to the function of one route.`,
    );
  });

  it.each(['a2a', 'surfaces', 'service'])('names createHandlers for the options of a route, "%s"', async (name) => {
    expect(await hintOf(configureServer, { [name]: {} })).toBe(
      `It is an option of the routes: pass "${name}" to createHandlers.`,
    );
  });
});

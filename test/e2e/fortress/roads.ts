import express from 'express';
import { expect } from 'vitest';
import type { Framework } from '../../site/framework.js';
import { expressSite } from '../../site/frameworks/express.js';
import { nodeHttpSite } from '../../site/frameworks/node-http.js';
import { session, startWorld, type World, type WorldOptions } from '../../site/world.js';
import type { Answer } from '../../support/recording-upstream.js';
import type { VisitOptions } from '../../support/visitor.js';

/** The hosts that every fault is tested on. */
export const HOSTS: readonly Framework[] = [expressSite('Express', express), nodeHttpSite('node:http')];

/** One route through the site to the platform. */
export interface Road {
  readonly name: string;
  readonly visit: VisitOptions;
}

const user = session('ada');
const json = { 'content-type': 'application/json', ...user };
const WIDGET = '/api/service-surfaces/s-1';
const RECORDS = '/api/service/conversations';

export const CHAT: Road = { name: 'a chat message', visit: {} };
export const RENDER: Road = {
  name: 'a render',
  visit: { path: `${WIDGET}/render`, headers: json, body: '{}' },
};
export const ACTION: Road = {
  name: 'an action',
  visit: { path: `${WIDGET}/actions/buy`, headers: json, body: '{}' },
};
export const RECORD: Road = {
  name: 'a record',
  visit: { method: 'GET', path: `${RECORDS}/1`, headers: user },
};
/** A site whose platform responds as each road expects. */
export async function startSite(host: Framework, options: WorldOptions = {}): Promise<World> {
  const world = await startWorld(host, options);
  world.upstream.willAnswer(healthy);
  return world;
}

const healthy: Answer = (exchange) => {
  if (exchange.request.target.endsWith('theme.css')) exchange.head(200, { 'content-type': 'text/css' }).end('a{}');
  else exchange.json(200, { jsonrpc: '2.0', id: 7, result: {} });
};

/** Checks that the fault has no lasting effect. */
export async function expectHealthy(world: World, road: Road): Promise<void> {
  world.upstream.willAnswer(healthy);
  const reply = await world.chat(road.visit);
  expect(reply.status).toBe(200);
  await reply.text();
}

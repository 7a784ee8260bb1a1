import { type ClientRequest, request as open } from 'node:http';
import { expect } from 'vitest';
import { Reply, startVisit, type Visit, type VisitOptions } from '../support/visitor.js';
import type { Framework } from './framework.js';
import { expectNothingLeaked, session, startWorld, type World, type WorldOptions } from './world.js';

/** The path of the platform's API. No request may reach another path. */
const API_PATH = '/platform/v1';

/** Signed in as Ada. */
export const ADA: { readonly cookie: string } = session('ada');

/** A site whose widgets and records are visited. */
export interface PlatformWorld extends World {
  /** Sends a request. Default: a GET. */
  visit(path: string, options?: Omit<VisitOptions, 'path'>): Promise<Reply>;
  /** Begins a request whose body the test writes. */
  startUpload(path: string, headers: Readonly<Record<string, string>>): Visit;
}

/** Starts a site of this framework and its platform, which responds with `{}`. Both are closed after the test. */
export async function startPlatformWorld(framework: Framework, options: WorldOptions = {}): Promise<PlatformWorld> {
  const world = await startWorld(framework, options);
  world.upstream.willAnswer((exchange) => {
    exchange.json(200, {});
  });
  return {
    ...world,
    visit: (path, visit) => startVisit(world.url, { method: 'GET', body: null, ...visit, path }).reply,
    startUpload: (path, headers) => upload(open(world.url + path, { method: 'PUT', agent: false, headers })),
  };
}

function upload(request: ClientRequest): Visit {
  const reply = new Promise<Reply>((resolve, reject) => {
    request.on('error', reject).on('response', (response) => {
      resolve(new Reply(response));
    });
  });
  reply.catch(() => undefined);
  return { request, reply, leave: () => request.destroy() };
}

/** A problem document of the site, as its pages read it. */
export interface Problem {
  readonly status: number;
  readonly code: string;
}

/** Reads an error response, and checks the properties that all of them share. */
export async function readProblem(world: PlatformWorld, reply: Reply): Promise<Problem> {
  const text = await reply.text();
  expectNothingLeaked(world, reply, text);
  for (const secret of ['/platform', 'token-of-ada']) expect(text).not.toContain(secret);
  expect(reply.headers['content-type']).toBe('application/problem+json');
  expect(reply.headers['cache-control']).toBe('no-store');
  const problem = JSON.parse(text) as Problem;
  expect(problem.status).toBe(reply.status);
  return problem;
}

/** Paths and queries that reached the platform, below its API; anything outside is an escape. */
export function sentPaths({ upstream }: PlatformWorld): readonly string[] {
  return upstream.requests.map(({ target }) =>
    target.startsWith(`${API_PATH}/`) ? target.slice(API_PATH.length) : `ESCAPED TO ${target}`,
  );
}

// The same site in TypeScript that compiles to CommonJS, with every entry imported for its types.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { configFromEnv, configureServer, type SessionToken } from 'agent-bff';
import type { createA2ARouter } from 'agent-bff/express';
import type { createA2ARouter as createKoaRouter } from 'agent-bff/koa';
import type { createA2AProxyHandler } from 'agent-bff/next';
import { createNodeHandler } from 'agent-bff/node';
import type { FakeIdentityProvider } from 'agent-bff/testing';
import type { createWebHandler } from 'agent-bff/web';

/** Types that are found have members; a type that is not found would be an error, or `any`, which is assignable to `never`. */
type Known<Type> = 0 extends 1 & Type ? never : Type;
export type Found = Known<
  | SessionToken
  | typeof createA2ARouter
  | typeof createKoaRouter
  | typeof createA2AProxyHandler
  | FakeIdentityProvider
  | typeof createWebHandler
>;

configureServer(configFromEnv(process.env));
const server = createServer(createNodeHandler()).listen(0, '127.0.0.1', () => {
  console.log(`http://localhost:${(server.address() as AddressInfo).port}`);
});

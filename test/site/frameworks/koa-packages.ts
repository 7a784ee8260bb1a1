// For tests in other folders, which do not find the packages of this one.
export { bodyParser } from '@koa/bodyparser';
export { default as Router } from '@koa/router';
export * as routerModule from '@koa/router';
export { default as Koa, type Context, type Middleware } from 'koa';
export { default as legacyBodyParser } from 'koa-bodyparser';
export { default as mount } from 'koa-mount';

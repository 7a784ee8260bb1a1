import 'reflect-metadata';
import { Module } from '@nestjs/common';
import type { CorsOptions } from '@nestjs/common/interfaces/external/cors-options.interface.js';
import { NestFactory } from '@nestjs/core';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { createA2ARouter, createServiceProxyRouter, createServiceSurfaceRouter } from 'agent-bff/express';
import express, { type RequestHandler } from 'express';
import { type Framework, nobody } from '../framework.js';
import { listeningSite } from './listening-site.js';

class SiteModule {}
Module({})(SiteModule);

/** Middleware in front of the routes. */
export interface NestHost {
  readonly json?: boolean;
  readonly cors?: CorsOptions;
}

/** Nest 12 on Express. Nest's own parser runs after the routes, because `listen` adds it. */
export function nestSite(name: string, host: NestHost = {}): Framework {
  return {
    name,
    parsesJson: host.json === true,
    start: async ({ toolkit, before, auth = nobody, cache }) => {
      const app = await NestFactory.create<NestExpressApplication>(SiteModule, { logger: false });
      if (host.cors !== undefined) app.enableCors(host.cors);
      if (before !== undefined) app.use(before as RequestHandler);
      app.use('/api/service', createServiceProxyRouter(express, { toolkit, auth }));
      if (host.json === true) app.useBodyParser('json', { limit: '2mb' });
      app.use((request: express.Request, _response: unknown, next: () => void) => {
        if (request.path === '/.well-known/agent-card.json') request.url = `/api/a2a${request.url}`;
        next();
      });
      app.use('/api/a2a', createA2ARouter(express, { toolkit }));
      app.use('/api/service-surfaces', createServiceSurfaceRouter(express, { toolkit, auth, cache }));
      app.use((_request: unknown, response: express.Response) => {
        response.send('host');
      });
      await app.init();
      return listeningSite(app.getHttpAdapter().getInstance() as express.Express);
    },
  };
}

import { Agent } from 'node:http';
import express from 'express';
import proxy from 'express-http-proxy';
import { AUTHORIZATION, serve, upstreamOrigin, upstreamPath } from '../rival-process.mjs';

const agent = new Agent({ keepAlive: true });
const app = express();
app.use(
  '/api/a2a',
  proxy(upstreamOrigin, {
    parseReqBody: false,
    proxyReqPathResolver: () => upstreamPath,
    proxyReqOptDecorator: (request) => {
      request.agent = agent;
      request.headers.authorization = AUTHORIZATION;
      return request;
    },
  }),
);
serve(app);

import express from 'express';
import { createProxyMiddleware, fixRequestBody } from 'http-proxy-middleware';
import { AUTHORIZATION, options, serve, upstreamOrigin, upstreamPath } from '../rival-process.mjs';

const app = express();
if (options.parser) app.use(express.json({ limit: '2mb' }));
app.use(
  '/api/a2a',
  createProxyMiddleware({
    target: upstreamOrigin,
    pathRewrite: () => upstreamPath,
    headers: { authorization: AUTHORIZATION },
    ...(options.parser && { on: { proxyReq: fixRequestBody } }),
  }),
);
serve(app);

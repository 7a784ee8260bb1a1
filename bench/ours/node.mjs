import http2 from 'node:http2';
import { createNodeHandler } from 'agent-bff/node';
import { options, serve } from '../rival-process.mjs';
import { benchToolkit } from './site.mjs';

const toolkit = benchToolkit({ a2aUrl: options.upstream });
const { conversations } = options;
const handler = createNodeHandler({ a2a: { strategy: 'service_account', conversations }, toolkit });
serve(handler, options.http2 ? http2.createServer : undefined);

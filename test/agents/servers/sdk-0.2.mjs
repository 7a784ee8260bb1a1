import { A2AExpressApp, DefaultRequestHandler, InMemoryTaskStore } from 'a2a-sdk-0.2/server';
import express from 'express';
import { announce, PORT } from './script.mjs';
import { cardOf, ScriptedExecutor } from './sdk-executor.mjs';

const url = `http://127.0.0.1:${PORT}/`;
const handler = new DefaultRequestHandler(cardOf('0.2.5', url), new InMemoryTaskStore(), new ScriptedExecutor());
new A2AExpressApp(handler).setupRoutes(express()).listen(PORT, '127.0.0.1', () => announce(url));

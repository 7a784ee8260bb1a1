// The framework alone: reads and parses what comes, answers a constant, forwards nothing.
import express from 'express';
import { options, serve } from '../rival-process.mjs';
import { SCENARIOS } from '../scenarios.mjs';

const { answer, type } = SCENARIOS[options.scenario ?? 'chat'];
const text = answer.toString();
const app = express();
app.use(express.json({ limit: '2mb' }));
app.post('/{*path}', (_request, response) => {
  response.setHeader('content-type', type);
  response.setHeader('cache-control', 'no-store');
  response.end(text);
});
serve(app);

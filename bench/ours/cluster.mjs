// The chat route in several processes that share one port.
import cluster from 'node:cluster';
import { createServer } from 'node:http';
import { createA2ARouter } from 'agent-bff/express';
import express from 'express';
import { answerQuestions, options } from '../process.mjs';
import { benchToolkit } from './site.mjs';

if (cluster.isPrimary) lead();
else serve();

function lead() {
  const workers = Array.from({ length: options.processes }, () => cluster.fork());
  const waiting = new Map();
  let listening = 0;
  for (const worker of workers) {
    worker.on('message', (microseconds) => waiting.get(worker)?.(microseconds));
    worker.on('listening', ({ port }) => {
      listening += 1;
      if (listening === workers.length) answerQuestions({ port }, { cpu });
    });
  }

  async function cpu() {
    const figures = await Promise.all(workers.map((worker) => ask(worker)));
    return [microsecondsHere(), ...figures].reduce((sum, figure) => sum + figure);
  }

  function ask(worker) {
    return new Promise((resolve) => {
      waiting.set(worker, resolve);
      worker.send('cpu');
    });
  }
}

function serve() {
  const app = express();
  app.use(express.json({ limit: '2mb' }));
  const toolkit = benchToolkit({ a2aUrl: options.upstream });
  app.use('/api/a2a', createA2ARouter(express, { strategy: 'service_account', toolkit }));
  createServer(app).listen({ port: 0, host: '127.0.0.1', backlog: 4_096 });
  process.on('message', () => process.send(microsecondsHere()));
  process.on('disconnect', () => process.exit(0));
}

function microsecondsHere() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

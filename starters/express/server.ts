import { existsSync } from 'node:fs';
import { configFromEnv, configureServer } from 'agent-bff';
import { createHandlers } from 'agent-bff/express';
import express from 'express';

// For development; where the site is deployed, its environment has the variables.
if (existsSync('.env')) process.loadEnvFile();

// A wrong value ends the process here and names the field; a missing one is reported when it is first needed.
configureServer(configFromEnv(process.env));

const app = express();

// The chat at /api/a2a and widgets at /api/service-surfaces. Before any body parser: bodies stream through.
app.use('/api', createHandlers(express));

app.use(express.static('public'));

const port = Number(process.env['PORT'] || 3000);
app.listen(port, (error) => {
  if (error !== undefined) throw error;
  console.log(`http://localhost:${port}`);
});

import { fileURLToPath } from 'node:url';

// `agent-bff` is a link to the folder two levels up, which the workload creates.
const repository = fileURLToPath(new URL('../..', import.meta.url));

export default {
  distDir: 'dist',
  turbopack: { root: repository },
  outputFileTracingRoot: repository,
};

import { cpuRounds, figures, withRivals } from '../measure.mjs';

export const cluster = {
  title: 'Two processes on two cores',
  about:
    'The chat of 1 KB with 100 connections, one process against two behind one port. Upstream and load run on the same machine, so with few cores they take part of the second one.',
  measures: { cpu: 'CPU µs per request', rate: 'requests/s' },
  run: (context) =>
    withRivals(context, [{ name: 'ours-express' }, { name: 'ours-cluster' }], async (rivals) => {
      await cpuRounds(context, rivals, { scenario: 'chat', path: '/api/a2a', connections: 100 });
      return { figures: figures(rivals) };
    }),
};

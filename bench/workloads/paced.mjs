import { add, check, figures, guarded, visit, withoutPace, withRivals } from '../measure.mjs';
import { median } from '../statistics.mjs';

const RIVALS = ['ours-express', 'ours-node', 'node-client', 'node-dispatch', 'node-fetch', 'express-fetch', 'nginx'];
/** Time for three streams of each visitor. */
const SLICE_MS = 250;
const ASK = { scenario: 'paced', connections: 4 };

export const paced = {
  title: 'What a stream adds to the way of each event',
  about:
    '4 streams at once, an event every 4 ms, far below what anybody here can carry. Added latency is over the same visitors asking the upstream directly in the same round.',
  measures: { added: 'added latency per event, p50, µs', p99: 'latency p99, µs', firstByte: 'first byte, p50, µs' },
  run: (context) =>
    withRivals(
      context,
      RIVALS.map((name) => ({ name, processes: 2, options: { path: '/paced', scenario: 'paced' } })),
      async (rivals) => {
        const direct = { target: context.upstreamTarget(), samples: {} };
        for (const rival of rivals) {
          await guarded(rival, async () => {
            for (const place of rival.places) check(await visit(context, place, through, context.pace.warmUpMs));
          });
        }
        const { rounds, pacedSlices } = context.pace;
        for (let round = 0; round < rounds; round += 1) {
          context.say(`round ${round + 1} of ${rounds}`);
          const slices = new Map([direct, ...rivals].map((one) => [one, []]));
          for (let slice = 0; slice < pacedSlices; slice += 1) {
            slices.get(direct).push(await latency(context, direct, { ...ASK, path: '/paced' }));
            for (const rival of rivals) {
              const place = rival.places[slice % rival.places.length];
              await guarded(rival, async () => slices.get(rival).push(await latency(context, place, through)));
            }
          }
          note(direct, slices.get(direct));
          for (const rival of rivals) if (rival.problem === undefined) note(rival, slices.get(rival), direct);
        }
        for (const measure of ['added', 'firstByte']) withoutPace(rivals, measure);
        const event = median(direct.samples.latency);
        const first = median(direct.samples.firstByte);
        return {
          figures: figures(rivals),
          notes: [`Directly: ${event.toFixed(0)} µs per event, first byte after ${first.toFixed(0)} µs.`],
        };
      },
    ),
};

const through = { ...ASK, path: '/api/a2a' };

async function latency(context, rival, ask) {
  const result = await visit(context, rival, ask, SLICE_MS);
  check(result);
  return result.latency;
}

/** The figures of a round. The time a rival adds is measured against direct requests in the same round. */
function note(one, slices, direct) {
  const latency = median(slices.map(({ eventP50 }) => eventP50));
  if (direct === undefined) add(one, 'latency', latency);
  else add(one, 'added', latency - direct.samples.latency.at(-1));
  add(one, 'p99', median(slices.map(({ eventP99 }) => eventP99)));
  add(one, 'firstByte', median(slices.map(({ firstByteP50 }) => firstByteP50)));
}

import { describe, expect, it } from 'vitest';
import type { UpstreamRequest } from '../../../src/ports/http.js';
import { REQUEST, SERVICE } from '../credentials/broker-fixture.js';
import { CARD, ConfigWorld, ENTRANCE, NOT_FOUND, served, session } from './config-world.js';

/** An agent whose card contains the requested version. */
function world(card: object = CARD): ConfigWorld {
  const made = new ConfigWorld();
  made.upstream.willAnswer(({ headers }: UpstreamRequest) =>
    served({ ...card, name: headers['a2a-version'] ?? 'any' }),
  );
  return made;
}

const asked = ({ near }: ConfigWorld) => near.map(({ headers }) => headers['a2a-version'] ?? 'any');

describe('the requested protocol version', () => {
  it('causes at most one call a second when unknown', async () => {
    const made = world();
    for (let count = 0; count < 2_000; count += 1) {
      await made.read(`made-up-${String(count)}`);
      made.clock.advance(1);
    }
    expect(asked(made)).toEqual(['made-up-0', 'made-up-1000']);
  });

  it('is sent unchanged when unknown', async () => {
    const made = world();
    await made.read('1.0');
    expect((await made.card('2.0'))?.['name']).toBe('2.0');
    made.clock.advance(1_000);
    expect((await made.read('3.0')).agentCard?.['name']).toBe('3.0');
  });

  it("is cached for the agent's max-age when it is the only one", async () => {
    const made = world();
    await made.read('2.0');
    made.clock.advance(59_999);
    await made.read('2.0');
    expect(asked(made)).toEqual(['2.0']);
    made.clock.advance(1);
    await made.read('2.0');
    expect(asked(made)).toEqual(['2.0', '2.0']);
  });

  it('is sent at once when the clock was set back', async () => {
    const made = world();
    await made.read('made-up');
    made.clock.advance(-3_600_000);
    expect((await made.card('2.0'))?.['name']).toBe('2.0');
  });

  it('is not delayed by unknown ones when the card names it', async () => {
    const made = world();
    for (const version of ['made-up', '', '0.2', '0.3', '1.0', 'made-up', '1.0']) await made.read(version);
    expect(asked(made)).toEqual(['made-up', 'any', '0.2', '0.3', '1.0']);
  });

  it.each([
    ['as its own', { ...CARD, protocolVersion: '0.3.0' }],
    [
      'for an interface',
      { ...CARD, supportedInterfaces: [null, { protocolVersion: '0.3.0', protocolBinding: 'JSONRPC', url: CARD.url }] },
    ],
  ])('is known when the card names it: %s', async (_where, card) => {
    const made = world(card);
    await made.read();
    for (const version of ['0.3.0', 'made-up', '0.3.0']) await made.read(version);
    expect(asked(made)).toEqual(['any', '0.3.0', 'made-up']);
  });

  it('is known when it is among the first 16 that the card names', async () => {
    const supportedInterfaces = Array.from({ length: 100 }, (_, index) => ({
      protocolVersion: `9.${String(index)}`,
      protocolBinding: 'JSONRPC',
      url: CARD.url,
    }));
    const made = world({ ...CARD, supportedInterfaces });
    await made.read();
    for (let index = 0; index < 100; index += 1) await made.read(`9.${String(index)}`);
    expect(asked(made)).toHaveLength(1 + 16 + 1);
  });

  it('is rejected without a call for a second after the agent rejected an unknown one', async () => {
    const made = new ConfigWorld();
    made.upstream.willAnswer(() => NOT_FOUND);
    await expect(made.card('made-up-1')).rejects.toMatchObject({ code: 'upstream_invalid_response' });
    const calls = made.paths.length;
    await expect(made.card('made-up-2')).rejects.toMatchObject({ code: 'upstream_invalid_response' });
    expect(made.paths).toHaveLength(calls);
    made.clock.advance(1_000);
    made.upstream.willAnswer(() => served());
    expect((await made.card('made-up-2'))?.['name']).toBe('Agent');
  });

  it('is limited per caller', async () => {
    const made = world();
    for (const auth of [SERVICE, session('ada')]) await made.read('made-up', auth);
    expect(asked(made)).toEqual(['made-up', 'made-up']);
  });
});

describe('a visitor over the limit', () => {
  const read = (made: ConfigWorld, version: string, admit: () => Promise<void>) =>
    made.config.record(version, REQUEST, SERVICE, ENTRANCE, admit);

  it('is counted per search, not per cached card', async () => {
    const made = world();
    let counted = 0;
    const admit = () => Promise.resolve(void (counted += 1));
    for (const version of ['1.0', '1.0', '0.3', 'made-up', 'made-up-too']) await read(made, version, admit);
    expect(counted).toBe(3);
  });

  it('causes no call and is the only one rejected', async () => {
    const made = world();
    const refused = read(made, '1.0', () => Promise.reject(new Error('too many')));
    const other = read(made, '1.0', () => Promise.resolve());
    await expect(refused).rejects.toThrow('too many');
    expect((await other).agentCard?.['name']).toBe('1.0');
    await expect(read(made, '1.0', () => Promise.reject(new Error('too many')))).resolves.toBeDefined();
    expect(asked(made)).toEqual(['1.0']);
  });
});

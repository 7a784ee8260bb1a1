import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { SendBudget } from '../../src/adapters/node/send-budget.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const KIB = 1_024;
const responseOn = (socket: Socket): ServerResponse => new ServerResponse(new IncomingMessage(socket));

it('the responses of one connection count together, and a connection that was cut counts no more', () => {
  const budget = new SendBudget(100 * KIB);
  const [twofold, single] = [new Socket().on('error', () => undefined), new Socket()];
  const responses = [responseOn(twofold), responseOn(twofold), responseOn(single)];
  const shares = responses.map((response) => budget.share(response));
  shares[2]?.set(40 * KIB);
  for (const share of shares.slice(0, 2)) share.set(30 * KIB);
  expect([twofold.destroyed, single.destroyed]).toEqual([true, false]);
  shares[0]?.set(90 * KIB);
  for (const response of responses.slice(0, 2)) response.emit('close');
  expect(budget.heldBytes).toBeGreaterThan(40 * KIB);
  shares[2]?.set(0);
  expect(budget.heldBytes).toBe(0);
});

it('a response that waits again and again adds one listener, and counts no more once it is closed', () => {
  const budget = new SendBudget(Infinity);
  const response = responseOn(new Socket());
  const share = budget.share(response);
  for (const bytes of [1, 0, 2, 0, 3]) share.set(bytes);
  expect(response.listenerCount('close')).toBe(1);
  response.destroy();
  response.emit('close');
  share.set(4);
  expect(budget.heldBytes).toBe(0);
});

it('a response without a connection does not count', () => {
  const budget = new SendBudget(0);
  budget.share(new ServerResponse({ method: 'GET' } as IncomingMessage)).set(1);
  expect(budget.heldBytes).toBe(0);
});

it('a connection whose responses have all been sent is not kept', async () => {
  const budget = new SendBudget(Infinity);
  const waited = (): WeakRef<Socket> => {
    const socket = new Socket();
    const share = budget.share(responseOn(socket));
    share.set(1);
    share.set(0);
    return new WeakRef(socket);
  };
  const socket = waited();
  await expect
    .poll(() => {
      collectGarbage();
      return socket.deref() === undefined;
    })
    .toBe(true);
});

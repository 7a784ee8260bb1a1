import { RateLimiterMemory } from 'rate-limiter-flexible';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { rateLimiter, visitorAddress, withReadings } from '../../src/adapters/rate-limit/rate-limiter.js';

const from = (ip: string) => ({ ip });

describe('a limit over rate-limiter-flexible', () => {
  it('admits as many messages as it has points, then returns the wait', async () => {
    const limit = rateLimiter(new RateLimiterMemory({ points: 2, duration: 60 }));
    const verdicts = [await limit.admit(from('192.0.2.1')), await limit.admit(from('192.0.2.1'))];
    expect(verdicts).toEqual([{ kind: 'admitted' }, { kind: 'admitted' }]);
    const refused = await limit.admit(from('192.0.2.1'));
    expect(refused.kind).toBe('refused');
    expect(refused.kind === 'refused' && refused.retryAfterMs).toBeGreaterThan(50_000);
  });

  it('counts each visitor separately', async () => {
    const limit = rateLimiter(new RateLimiterMemory({ points: 1, duration: 60 }));
    const addresses = ['192.0.2.1', '192.0.2.2', '2001:db8:0:1::1', '2001:db8:0:2::1'];
    const verdicts = await Promise.all(addresses.map((ip) => limit.admit(from(ip))));
    expect(verdicts.map(({ kind }) => kind)).toEqual(['admitted', 'admitted', 'admitted', 'admitted']);
  });

  it('uses the visitor name of the site', async () => {
    const visitor = ({ cookie }: { cookie: string }) => cookie;
    const limit = rateLimiter(new RateLimiterMemory({ points: 1, duration: 60 }), { visitor });
    const verdicts = [
      await limit.admit({ cookie: 'a' }),
      await limit.admit({ cookie: 'b' }),
      await limit.admit({ cookie: 'a' }),
    ];
    expect(verdicts.map(({ kind }) => kind)).toEqual(['admitted', 'admitted', 'refused']);
  });

  it.each<[string, () => unknown, unknown, string]>([
    [
      'its store is down',
      () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.7:6379')),
      '192.0.2.1',
      'the limiter failed: Error',
    ],
    ['it never responds', () => new Promise(() => undefined), '192.0.2.1', 'the limiter did not respond within 5 ms'],
    [
      'it throws',
      () => {
        throw new TypeError('closed');
      },
      '192.0.2.1',
      'the limiter failed: TypeError',
    ],
    // oxlint-disable-next-line typescript/prefer-promise-reject-errors
    ['it rejects with a text', () => Promise.reject('10.0.0.7'), '192.0.2.1', 'the limiter failed: string'],
    ['the visitor has no address', () => Promise.resolve(), undefined, 'the request does not identify the visitor'],
    ['the name of the visitor is empty', () => Promise.resolve(), '', 'the request does not identify the visitor'],
  ])('is unknown when %s, and names no host', async (_what, consume, ip, detail) => {
    const limit = rateLimiter({ consume } as never, { deadlineMs: 5 });
    expect(await limit.admit({ ip })).toEqual({ kind: 'unknown', log: detail });
  });

  it('counts a user by name, whatever the address, and is unknown without a name', async () => {
    const consume = vi.fn(() => Promise.resolve());
    const limit = rateLimiter({ consume });
    const verdicts = [
      await limit.admit(from('192.0.2.1'), 'ada'),
      await limit.admitReading?.(from('192.0.2.1'), 'ada'),
    ];
    expect([...verdicts, await limit.admit(from('192.0.2.1'), '')].map((one) => one?.kind)).toEqual([
      'admitted',
      'admitted',
      'unknown',
    ]);
    expect(consume.mock.calls).toEqual([['user:ada'], ['reading:user:ada']]);
  });

  it('is unknown when the function that names visitors fails', async () => {
    const visitor = ({ cookie }: { cookie: string }) => cookie.slice(1);
    const limit = rateLimiter({ consume: () => Promise.resolve() }, { visitor });
    expect(await limit.admit({})).toEqual({ kind: 'unknown', log: 'the limiter failed: TypeError' });
  });

  it('counts calls that read a task separately from messages, and allows twenty times as many', async () => {
    const limiter = new RateLimiterMemory({ points: 2, duration: 60 });
    const consume = vi.spyOn(limiter, 'consume');
    const limit = rateLimiter(limiter);
    const kinds: string[] = [];
    for (let count = 0; count < 42; count++) kinds.push((await limit.admitReading?.(from('192.0.2.1')))?.kind ?? '');
    expect(kinds).toEqual([...Array<string>(40).fill('admitted'), 'refused', 'refused']);
    expect(consume.mock.calls.map(([name]) => name)).toEqual(Array(4).fill('reading:192.0.2.1'));
    expect((await limit.admit(from('192.0.2.1'))).kind).toBe('admitted');
    expect((await limit.admitReading?.(from('192.0.2.2')))?.kind).toBe('admitted');
  });

  it('is unknown for a visitor who reads on while the limiter is down', async () => {
    const limit = rateLimiter({ consume: () => Promise.reject(new Error('down')) });
    expect((await limit.admitReading?.(from('192.0.2.1')))?.kind).toBe('unknown');
  });

  it('leaves no timer behind once the limiter has responded', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    for (const consume of [() => Promise.resolve(), () => Promise.reject(new Error('down'))]) {
      await rateLimiter({ consume }).admit(from('192.0.2.1'));
      await vi.advanceTimersByTimeAsync(0);
      expect(vi.getTimerCount()).toBe(0);
    }
  });

  it.each([undefined, {}, { points: 5 }])('rejects %j', (limiter) => {
    expect(() => rateLimiter(limiter as never)).toThrow(/RateLimiterMemory/);
  });

  it.each([0, 2_147_483_648, Number.POSITIVE_INFINITY, Number.NaN, '50'])('rejects a deadline of %j ms', (ms) => {
    const limiter = new RateLimiterMemory({ points: 1, duration: 1 });
    const deadlineMs = ms as number;
    expect(() => rateLimiter(limiter, { deadlineMs })).toThrow(/"deadlineMs" of rateLimiter.*2147483647/);
    expect(() => rateLimiter(limiter, { deadlineMs: 2_147_483_647 })).not.toThrow();
  });

  it('remembers the allowance of ten thousand visitors', async () => {
    const consume = vi.fn(() => Promise.resolve());
    const limit = rateLimiter({ consume }, { visitor: String });
    for (let visitor = 0; visitor <= 10_000; visitor += 1) await limit.admitReading?.(visitor);
    await limit.admitReading?.(10_000);
    expect(consume).toHaveBeenCalledTimes(10_001);
    await limit.admitReading?.(0);
    expect(consume).toHaveBeenCalledTimes(10_002);
  });
});

describe("a limit of the site's own", () => {
  it('without an allowance admits 600 calls a minute per address that follow a task, and counts none as a message', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 60_000 });
    onTestFinished(() => void vi.useRealTimers());
    const admit = vi.fn(async () => ({ kind: 'refused' as const, retryAfterMs: 1_000 }));
    const limit = withReadings({ admit });
    const follow = async (ip: string) => (await limit.admitReading(from(ip))).kind;
    for (let count = 0; count < 600; count += 1) expect(await follow('192.0.2.1')).toBe('admitted');
    vi.setSystemTime(90_000);
    expect(await limit.admitReading(from('192.0.2.1'))).toEqual({ kind: 'refused', retryAfterMs: 30_000 });
    expect(await follow('192.0.2.2')).toBe('admitted');
    vi.setSystemTime(120_000);
    expect(await follow('192.0.2.1')).toBe('admitted');
    expect(admit).not.toHaveBeenCalled();
  });

  it('without an allowance remembers the last ten thousand addresses', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const limit = withReadings({ admit: vi.fn() });
    const follow = async (ip: string) => (await limit.admitReading(from(ip))).kind;
    for (let count = 0; count < 600; count += 1) await follow('first');
    for (let count = 1; count < 10_000; count += 1) await follow(String(count));
    expect(await follow('first')).toBe('refused');
    for (let count = 0; count < 10_000; count += 1) await follow(String(count));
    expect(await follow('first')).toBe('admitted');
  });

  it('with an allowance of its own decides by that', async () => {
    const admit = async () => ({ kind: 'unknown' as const, log: 'd' });
    const own = { admit, admitReading: async () => ({ kind: 'refused' as const, retryAfterMs: 7 }) };
    expect(await withReadings(own).admit({})).toEqual({ kind: 'unknown', log: 'd' });
    expect(await withReadings(own).admitReading(from('192.0.2.1'))).toEqual({ kind: 'refused', retryAfterMs: 7 });
  });
});

describe("a visitor's address", () => {
  it.each<[string, unknown, string | undefined]>([
    ['the one the framework trusts', { ip: '192.0.2.1', socket: { remoteAddress: '10.0.0.1' } }, '192.0.2.1'],
    ["the socket's, where the framework has none", { socket: { remoteAddress: '192.0.2.1' } }, '192.0.2.1'],
    ["the socket's, where the framework's is empty", { ip: '', socket: { remoteAddress: '192.0.2.1' } }, '192.0.2.1'],
    ['never from a field that a browser can set', { headers: { 'x-forwarded-for': '192.0.2.9' } }, undefined],
    ['IPv4 when it is mapped to IPv6', { ip: '::ffff:10.20.30.40' }, '10.20.30.40'],
    ['IPv6 when it only ends like a mapped one', { ip: '1::ffff:10.20.30.40' }, '1:0:0:0::/64'],
    ['an IPv6 network, whose hosts choose their own suffix', { ip: '2001:DB8:0:1:aaaa::1' }, '2001:db8:0:1::/64'],
    ['the same network written shorter', { ip: '2001:db8:0:1::2' }, '2001:db8:0:1::/64'],
    ['the same network written with leading zeros', { ip: '2001:0db8:0000:0001::3' }, '2001:db8:0:1::/64'],
    ['this machine', { ip: '::1' }, '0:0:0:0::/64'],
    ['a link with its zone', { ip: 'fe80::1%eth0' }, 'fe80:0:0:0::/64'],
    ['undefined for a request without one', new Request('https://site.example'), undefined],
  ])('is %s', (_what, request, address) => {
    expect(visitorAddress(request)).toBe(address);
  });
});

/** What is believed about the client behind a proxy, and from whom. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { WebSocket } from 'ws';
import { sourceOf } from '../../src/server/forwarded.js';
import { FAILURES_PER_ADDRESS_MAX, RATE_WINDOW_MS, UPGRADES_PER_ADDRESS_MAX } from '../../src/server/limits.js';
import { countedNetwork, Networks, plainAddress } from '../../src/server/peer-address.js';
import { startServer } from '../../src/server/server.js';
import { echo, startEcho, statusOf, TestClock, TOKEN } from '../wire/transports/support.js';

type Headers = Readonly<Record<string, string | readonly string[]>>;

const PROXIES = new Networks(['10.0.0.0/8', 'fd00::/8', '192.168.1.7']);

function seen(peer: string, headers: Headers, encrypted = false) {
  const distinct = Object.fromEntries(
    Object.entries({ host: 'localhost:9300', ...headers }).map(([k, v]) => [k, [v].flat()]),
  );
  const socket = { remoteAddress: peer, encrypted };
  return sourceOf({ socket, headersDistinct: distinct } as unknown as IncomingMessage, PROXIES);
}

describe('[DEV-052] a peer that is no trusted proxy', () => {
  const forged = { 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'agents.example' };

  it.each(['203.0.113.9', '11.0.0.1', '192.168.1.8', '::1', 'fc00::1', '127.0.0.1'])(
    'is believed nothing: %s',
    (peer) => {
      const direct = { address: peer, scheme: 'http', host: ['localhost:9300'], isProxied: false };
      expect(seen(peer, forged)).toEqual(direct);
      expect(seen(peer, { forwarded: 'for=127.0.0.1;proto=https;host=agents.example' })).toEqual(direct);
      // What nobody reads cannot be wrong either.
      expect(seen(peer, { forwarded: '=;=', 'x-forwarded-for': 'rubbish' })).toEqual(direct);
    },
  );
});

describe('[DEV-052] a trusted proxy', () => {
  const told = { address: '203.0.113.9', scheme: 'https', host: ['agents.example'], isProxied: true };

  it.each(['10.1.2.3', '::ffff:10.1.2.3', '::FFFF:a01:203', 'fd00::1', 'fd12:3456::1%eth0', '192.168.1.7'])(
    'is believed, however its address is written: %s',
    (peer) => {
      const headers = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' };
      expect(seen(peer, { ...headers, 'x-forwarded-host': 'agents.example' })).toEqual(told);
      expect(seen(peer, { forwarded: 'For=203.0.113.9; proto=HTTPS ;host="agents.example"' })).toEqual(told);
    },
  );

  it.each<[string, Headers, string]>([
    ['the last of a chain', { 'x-forwarded-for': '127.0.0.1, 10.0.0.9, 203.0.113.9' }, '203.0.113.9'],
    ['the last of several headers', { 'x-forwarded-for': ['127.0.0.1', '203.0.113.9'] }, '203.0.113.9'],
    ['a port is left out', { 'x-forwarded-for': '203.0.113.9:5678' }, '203.0.113.9'],
    ['IPv6', { 'x-forwarded-for': '2001:DB8:0:0:0:0:0:1' }, '2001:db8::1'],
    ['IPv6 with a port', { 'x-forwarded-for': '[2001:db8::1]:99' }, '2001:db8::1'],
    ['IPv6 in brackets without a port', { 'x-forwarded-for': '[2001:db8::1]' }, '2001:db8::1'],
    ['mapped', { 'x-forwarded-for': '::ffff:203.0.113.9' }, '203.0.113.9'],
    ['the last element', { forwarded: 'for=127.0.0.1;by=x, for="[2001:db8::1]:99"' }, '2001:db8::1'],
    ['the last of several Forwarded', { forwarded: ['for=127.0.0.1', 'for=203.0.113.9'] }, '203.0.113.9'],
    ['a comma in quotes', { forwarded: 'for=203.0.113.9;x="a,for=127.0.0.1"' }, '203.0.113.9'],
    ['a hidden client is the proxy', { forwarded: 'for=_hidden' }, '10.0.0.1'],
    ['an unknown client is the proxy', { forwarded: 'for=unknown' }, '10.0.0.1'],
    ['a hidden client with a hidden port, too', { forwarded: 'for="_a.b-c:_p.q-r"' }, '10.0.0.1'],
    ['an escaped character', { forwarded: 'for="203.0.\\1\\13.9"' }, '203.0.113.9'],
    ['a proxy that tells no address', { 'x-forwarded-proto': 'https' }, '10.0.0.1'],
  ])('%s', (_, headers, address) => {
    expect(seen('10.0.0.1', headers)).toMatchObject({ address, isProxied: true });
  });

  it('that says nothing is a peer like any other', () => {
    expect(seen('10.0.0.1', {})).toMatchObject({ address: '10.0.0.1', isProxied: false });
    expect(seen('10.0.0.1', {}, true)).toMatchObject({ scheme: 'https' });
    expect(seen('10.0.0.1', { 'x-forwarded-for': '203.0.113.9' }, true)).toMatchObject({ scheme: 'https' });
  });

  it.each<[string, Headers]>([
    ['no address', { 'x-forwarded-for': 'evil' }],
    ['an empty list', { 'x-forwarded-for': '' }],
    ['an empty last entry', { 'x-forwarded-for': '203.0.113.9,' }],
    ['an address that is none', { 'x-forwarded-for': '203.0.113.999' }],
    ['a port that is none', { 'x-forwarded-for': '203.0.113.9:123456' }],
    ['something before the brackets', { 'x-forwarded-for': 'x[2001:db8::1]:99' }],
    ['a name that begins like unknown', { 'x-forwarded-for': 'unknowns' }],
    ['a name that ends like unknown', { 'x-forwarded-for': 'the-unknown' }],
    ['another scheme', { 'x-forwarded-proto': 'gopher' }],
    ['an empty host', { 'x-forwarded-host': '' }],
    ['no pair', { forwarded: 'for' }],
    ['an empty header', { forwarded: '' }],
    ['an open quote', { forwarded: 'for="203.0.113.9' }],
    ['a member twice', { forwarded: 'for=203.0.113.9;for=127.0.0.1' }],
    ['rubbish behind', { forwarded: 'for=203.0.113.9 x' }],
    [
      'both kinds, of which a client may have written one',
      { forwarded: 'for=127.0.0.1', 'x-forwarded-for': '203.0.113.9' },
    ],
  ])('is not guessed about: %s', (_, headers) => {
    expect(seen('10.0.0.1', headers)).toEqual({ problem: expect.any(String) });
  });

  it('is read in linear time', () => {
    // With the square of its length each would take minutes.
    for (const text of ['a=b;'.repeat(400_000), `for="${'\\'.repeat(1_600_000)}`, `${' '.repeat(1_600_000)}for=x`])
      expect(seen('10.0.0.1', { forwarded: text })).toHaveProperty('problem');
  });
});

describe('[DEV-052] networks of proxies', () => {
  it.each([
    '',
    '10.0.0.0/33',
    'fd00::/129',
    '10.0.0',
    'proxy.example',
    '10.0.0.0/8/8',
    '/10.0.0.0/8',
    'fe80::1%eth0',
    '10.0.0.0/-1',
  ])('are written as such, and not as "%s"', (text) => {
    expect(() => new Networks([text])).toThrow(/is not a network: write it as/);
  });

  it.each(['0.0.0.0/0', '::/0', '::ffff:0.0.0.0/96'])('are never everybody: %s', (text) => {
    expect(() => new Networks([text])).toThrow(/is every address there is/);
  });

  it('may be mapped ones', () => {
    const networks = new Networks(['::ffff:10.0.0.0/104']);
    expect([networks.has('10.200.0.1'), networks.has('11.0.0.1')]).toEqual([true, false]);
  });

  it.each([
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['1:2:3:4:5:6:7::', '1:2:3:4::/64'],
    ['::2:3:4:5:6:7:8', '0:2:3:4::/64'],
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ])('%s is counted as %s', (address, network) => {
    expect(countedNetwork(plainAddress(address) ?? '')).toBe(network);
  });
});

describe('[DEV-052] a server behind a proxy', () => {
  const start = async (behindProxy: readonly string[]) => {
    const log = vi.fn();
    const policy = { token: TOKEN, allowedHosts: ['agents.example'] };
    const options = { host: '127.0.0.1', policy, behindProxy, logger: { log }, clock: new TestClock() };
    return { ...(await startEcho(options)), log, clock: options.clock };
  };
  const client = (port: number, headers: Readonly<Record<string, string>>, token = TOKEN) => {
    const websocket = new WebSocket(`ws://127.0.0.1:${port}/?token=${token}`, { headers });
    websocket.on('error', () => {});
    onTestFinished(() => websocket.terminate());
    return websocket;
  };
  const page = {
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'agents.example',
    origin: 'https://agents.example',
  };
  const { 'x-forwarded-host': _, ...kept } = page;

  it('checks Host and Origin as the browser sent them', async () => {
    const { port } = await start(['127.0.0.1']);
    const statuses = (all: readonly Readonly<Record<string, string>>[]) =>
      Promise.all(all.map((headers) => statusOf(client(port, headers))));
    expect(
      await statuses([
        page,
        { ...page, 'x-forwarded-host': 'agents.example:8443', origin: 'https://agents.example:8443' },
        { ...kept, host: 'agents.example' },
      ]),
    ).toEqual([101, 101, 101]);
    expect(
      await statuses([
        { ...page, origin: 'http://agents.example' },
        { ...page, origin: 'https://agents.example:8444' },
        { ...page, 'x-forwarded-host': 'evil.test', origin: 'https://evil.test' },
        { ...kept, host: 'evil.test', origin: 'https://evil.test' },
        // A page on another port of this machine, which speaks to the host beside the proxy.
        { origin: 'http://localhost:3000', host: `localhost:${port}` },
        { origin: 'https://agents.example', host: 'agents.example' },
      ]),
    ).toEqual([403, 403, 403, 403, 403, 403]);
    expect(
      await statuses([
        { ...page, 'x-forwarded-for': 'evil' },
        { ...page, forwarded: 'for=127.0.0.1' },
      ]),
    ).toEqual([400, 400]);
  });

  it('believes nothing from another peer, so that a forged name or address gains nothing', async () => {
    const { port, log } = await start(['10.0.0.0/8']);
    expect(await statusOf(client(port, page))).toBe(403);
    expect(await statusOf(client(port, { ...kept, host: 'agents.example' }))).toBe(403);
    expect(await statusOf(client(port, { 'x-forwarded-for': '203.0.113.9' }, 'wrong'))).toBe(401);
    expect(JSON.stringify(log.mock.calls)).not.toContain('203.0.113.9');
  });

  it('[DEV-054] counts wrong tokens by the forwarded address, records it, and makes the next attempt wait', async () => {
    const { port, log, clock } = await start(['127.0.0.1']);
    const stranger = { 'x-forwarded-for': '127.0.0.1, 203.0.113.9' };
    for (let count = 0; count < FAILURES_PER_ADDRESS_MAX; count += 1)
      expect(await statusOf(client(port, stranger, 'wrong'))).toBe(401);
    expect(log).toHaveBeenCalledWith('warn', 'connection refused', expect.objectContaining({ from: '203.0.113.9' }));
    // The next one is not even looked at, right or wrong, before its time has come.
    const before = clock.pending;
    const right = statusOf(client(port, stranger));
    const wrong = statusOf(client(port, stranger, 'wrong'));
    await vi.waitFor(() => expect(clock.pending).toBe(before + 2), 10_000);
    expect(await statusOf(client(port, { 'x-forwarded-for': '203.0.113.10' }))).toBe(101);
    expect(await statusOf(client(port, {}))).toBe(101);
    clock.advance(1_000);
    expect([await right, await wrong]).toEqual([101, 401]);
  });

  it('[DEV-054] refuses attempts past those that wait, and forgets those that left', async () => {
    const { port, clock } = await start(['127.0.0.1']);
    const stranger = { 'x-forwarded-for': '203.0.113.9' };
    for (let count = 0; count < FAILURES_PER_ADDRESS_MAX; count += 1) await statusOf(client(port, stranger, 'wrong'));
    const waiting = Array.from({ length: 4 }, () => client(port, stranger, 'wrong'));
    await vi.waitFor(() => expect(clock.pending).toBe(4), 10_000);
    const fifth = client(port, stranger);
    const [, answer] = await once(fifth, 'unexpected-response');
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([429, '1']);
    for (const each of waiting) each.terminate();
    await vi.waitFor(() => expect(clock.pending).toBe(0), 10_000);
    void statusOf(client(port, stranger));
    await vi.waitFor(() => expect(clock.pending).toBe(1), 10_000);
  });

  it('[DEV-054] refuses upgrades past the rate, and takes them again later', async () => {
    const { port, clock } = await start(['127.0.0.1']);
    const stranger = { 'x-forwarded-for': '203.0.113.9' };
    const statuses: (number | undefined)[] = [];
    for (let count = 0; count <= UPGRADES_PER_ADDRESS_MAX; count += 1) {
      const websocket = client(port, stranger);
      statuses.push(await statusOf(websocket));
      websocket.terminate();
    }
    expect(statuses).toEqual([...Array<number>(UPGRADES_PER_ADDRESS_MAX).fill(101), 429]);
    expect(await statusOf(client(port, { 'x-forwarded-for': '203.0.113.10' }))).toBe(101);
    clock.advance(RATE_WINDOW_MS / UPGRADES_PER_ADDRESS_MAX);
    expect(await statusOf(client(port, stranger))).toBe(101);
  });

  it('[DEV-054] closes while attempts wait', async () => {
    const clock = new TestClock();
    const policy = { token: TOKEN };
    const server = await startServer({
      host: '127.0.0.1',
      policy,
      behindProxy: ['127.0.0.1'],
      clock,
      onConnection: echo,
    });
    const stranger = { 'x-forwarded-for': '203.0.113.9' };
    for (let count = 0; count < FAILURES_PER_ADDRESS_MAX; count += 1)
      await statusOf(client(server.port, stranger, 'wrong'));
    client(server.port, stranger, 'wrong');
    await vi.waitFor(() => expect(clock.pending).toBe(1), 10_000);
    await server.close();
    await vi.waitFor(() => expect(clock.pending).toBe(0), 10_000);
  });

  it('[DEV-055] tells browsers to stay with TLS when the proxy says that they came so, to a name', async () => {
    const { port } = await start(['127.0.0.1']);
    const hsts = async (headers: Headers) => {
      const sent = request({ host: '127.0.0.1', port, headers: headers as Record<string, string> }).end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      response.resume();
      return response.headers['strict-transport-security'];
    };
    expect(await hsts(page)).toMatch(/^max-age=\d+$/);
    expect(await hsts({ ...page, 'x-forwarded-proto': 'http' })).toBeUndefined();
    expect(await hsts({ host: 'agents.example' })).toBeUndefined();
  });
});

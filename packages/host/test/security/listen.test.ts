import { Server } from 'node:net';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { HEADERS_MAX_BYTES, HEADERS_TIMEOUT_MS, type ListenOptions, listen } from '../../src/server/listen.js';

async function opened(options: Partial<ListenOptions> = {}) {
  const listening = await listen({ host: 'localhost', port: 0, ...options });
  onTestFinished(() => {
    for (const server of listening.servers) server.close();
  });
  return listening;
}

/** Opening a port on the address fails this often. */
function failing(address: string, code: string, times = Number.POSITIVE_INFINITY) {
  const original = Server.prototype.listen;
  let left = times;
  return vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server, ...args: unknown[]) {
    const [{ host }] = args as [{ host: string }];
    if (host !== address || left <= 0) return Reflect.apply(original, this, args) as Server;
    left -= 1;
    queueMicrotask(() => this.emit('error', Object.assign(new Error(code), { code })));
    return this;
  });
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('the port of the host', () => {
  it('is one on both loopback addresses, for the name localhost', async () => {
    const { port, addresses, servers } = await opened();
    expect(addresses).toEqual(['127.0.0.1', '::1']);
    expect(servers.map((server) => server.address())).toMatchObject([{ port }, { port }]);
  });

  it.each(['127.0.0.1', '::1', '[::1]'])('is on %s alone when that is asked for', async (host) => {
    expect((await opened({ host })).addresses).toEqual([host.replace(/[[\]]/g, '')]);
  });

  it.each(['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EINVAL'])('needs no IPv6 where there is none: %s', async (code) => {
    failing('::1', code);
    expect((await opened()).addresses).toEqual(['127.0.0.1']);
  });

  it('is another when one address has it taken, and the first is given back', async () => {
    const spy = failing('::1', 'EADDRINUSE', 9);
    const close = vi.spyOn(Server.prototype, 'close');
    expect((await opened()).addresses).toHaveLength(2);
    expect(spy).toHaveBeenCalledTimes(20);
    expect(close.mock.contexts.length).toBeGreaterThanOrEqual(9);
  });

  it('is given up after ten tries, at once when it was asked for by number, and for any other reason', async () => {
    const busy = failing('::1', 'EADDRINUSE');
    await expect(opened()).rejects.toMatchObject({ code: 'EADDRINUSE' });
    expect(busy).toHaveBeenCalledTimes(20);
    busy.mockRestore();
    const { port } = await opened({ host: '127.0.0.1' });
    const spy = vi.spyOn(Server.prototype, 'listen');
    await expect(opened({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    expect(spy).toHaveBeenCalledOnce();
    spy.mockRestore();
    failing('127.0.0.1', 'EACCES');
    await expect(opened()).rejects.toMatchObject({ code: 'EACCES' });
  });

  it('[REL-098] bounds how long and how large the head of a request may be', async () => {
    const [server] = (await opened()).servers;
    expect(server).toMatchObject({ headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: 10_000 });
    expect(server).toMatchObject({ maxHeaderSize: HEADERS_MAX_BYTES, connectionsCheckingInterval: 1_000 });
    const [quick] = (await opened({ headersTimeoutMs: 50 })).servers;
    expect(quick).toMatchObject({ headersTimeout: 50, requestTimeout: 10_000, connectionsCheckingInterval: 50 });
    const [slow] = (await opened({ headersTimeoutMs: 20_000 })).servers;
    expect(slow).toMatchObject({ requestTimeout: 20_000, connectionsCheckingInterval: 1_000 });
  });
});

import { ErrorCode } from '@atrium/protocol';
import { describe, expect, it, vi } from 'vitest';
import { Channel } from '../../src/channels/channel.js';
import { DirectDelivery } from '../../src/channels/delivery.js';
import { Writer } from '../../src/channels/writer.js';
import { RequestError } from '../../src/contracts/request-error.js';
import { jsonText, LogFencedError, LogWriteError } from '../../src/log/log.js';
import { MemoryLog } from '../../src/log/memory-log.js';
import { CLIENT_GRACE_MS } from '../../src/sessions/limits.js';
import { silentLogger } from '../../src/util/logger.js';
import { Clients } from '../../src/wire/clients.js';
import type { Connection } from '../../src/wire/connection.js';
import { ConnectionRegistry } from '../../src/wire/connections.js';
import type { Identity } from '../../src/wire/handshake.js';
import { CLIENT_KEPT_MS, CLIENT_NOTED_EVERY_MS, CLIENTS_KEPT_MAX } from '../../src/wire/limits.js';

function testClock(start = 0) {
  const timers = new Set<{ ms: number; run: () => void }>();
  const clock = {
    time: start,
    now: () => clock.time,
    after: (ms: number, run: () => void) => {
      const timer = { ms, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    /** All timers that are due by now. */
    ring: () => {
      for (const timer of [...timers]) {
        timers.delete(timer);
        timer.run();
      }
    },
    timers,
  };
  return clock;
}

describe('the connections of clients', () => {
  function registry() {
    const clock = testClock();
    const calls = { left: vi.fn(), lost: vi.fn(), gone: vi.fn() };
    return { registry: new ConnectionRegistry({ clock, ...calls }), clock, ...calls };
  }
  function connection(methods: string[] = []) {
    const request = vi.fn();
    const close = vi.fn();
    const dialect = { canSend: (method: string) => methods.includes(method) };
    return { request, close, dialect } as unknown as Connection & { request: typeof request; close: typeof close };
  }

  it('stop reading while storing is behind, but for those that have not said who they are', () => {
    const { registry: connections } = registry();
    const [known, unknown] = [{ clientId: 'c' }, undefined].map((identity) => ({
      ...{ identity, pauseReading: vi.fn(), resumeReading: vi.fn() },
    }));
    for (const each of [known, unknown]) connections.add(each as never);
    connections.pauseReading();
    expect([known?.pauseReading.mock.calls.length, unknown?.pauseReading.mock.calls.length]).toEqual([1, 0]);
    connections.resumeReading();
    expect([known?.resumeReading.mock.calls.length, unknown?.resumeReading.mock.calls.length]).toEqual([1, 1]);
  });

  it('[DEV-023] that came with a credential change with it, and close when it is taken away', () => {
    const { registry: connections } = registry();
    const [mine, other] = ['a', 'b'].map((id) => ({
      ...{ access: { credential: { id } }, close: vi.fn(), changeAccess: vi.fn() },
    }));
    for (const each of [mine, other]) connections.add(each as never);
    const access = { role: 'viewer' } as never;
    connections.changeAccess('a', access);
    expect(mine?.changeAccess).toHaveBeenCalledExactlyOnceWith(access);
    connections.changeAccess('a', undefined);
    expect(mine?.close).toHaveBeenCalledExactlyOnceWith(4007, 'this access was removed');
    expect([other?.changeAccess.mock.calls.length, other?.close.mock.calls.length]).toEqual([0, 0]);
  });
  const identity = { clientId: 'c', dialect: { traits: { notifiesEveryone: false } } } as unknown as Identity;

  it('are one for each client: a newer one replaces the older, which does not make the client lost', () => {
    const { registry: all, left, lost } = registry();
    const [older, newer] = [connection(), connection()];
    for (const each of [older, newer]) {
      all.add(each);
      all.arrived(each, identity);
    }
    expect(older.close).toHaveBeenCalledExactlyOnceWith(4002, 'this client id has connected again');
    expect(newer.close).not.toHaveBeenCalled();
    all.left(older, identity);
    expect(left).toHaveBeenCalledExactlyOnceWith(older);
    expect(lost).not.toHaveBeenCalled();
    expect([all.of('c') === newer, all.isConnected('c'), [...all.all()].length]).toEqual([true, true, 1]);
  });

  it('[GRO-006] are told of the list of sessions unasked when their dialect has no subscription to it', () => {
    const { registry: all } = registry();
    const [asking, unasked] = [connection(), connection()];
    const other = { clientId: 'd', dialect: { traits: { notifiesEveryone: true } } } as unknown as Identity;
    all.arrived(asking, identity);
    all.arrived(unasked, other);
    expect([...all.unsubscribedAudience()]).toEqual([unasked]);
    all.left(unasked, other);
    expect([...all.unsubscribedAudience()]).toEqual([]);
  });

  it('have a time to come back in, and a client that has not is gone', () => {
    const { registry: all, clock, lost, gone } = registry();
    const first = connection();
    all.add(first);
    all.left(connection(), undefined);
    all.arrived(first, identity);
    all.left(first, identity);
    expect(lost).toHaveBeenCalledExactlyOnceWith('c');
    expect([...clock.timers].map(({ ms }) => ms)).toEqual([CLIENT_GRACE_MS]);
    expect([all.isConnected('c'), all.of('c')]).toEqual([false, undefined]);
    const back = connection();
    all.arrived(back, identity);
    expect(clock.timers.size).toBe(0);
    all.left(back, identity);
    clock.ring();
    expect(gone).toHaveBeenCalledExactlyOnceWith('c');
  });

  it('have no such time any more when the host stops', () => {
    const { registry: all, clock, gone } = registry();
    const first = connection();
    all.arrived(first, identity);
    all.left(first, identity);
    all.stop();
    clock.ring();
    expect(gone).not.toHaveBeenCalled();
  });

  it('are asked what they can, and not again what they do not know', async () => {
    const { registry: all } = registry();
    const asked = connection(['a', 'b']);
    const ask = (method: string) => all.ask('c', method as never, {} as never, 7);
    const may = () => ['a', 'b', 'd'].map((method) => all.canAsk('c', method as never));
    await expect(ask('a')).rejects.toThrow('not connected');
    expect(may()).toEqual([false, false, false]);
    all.arrived(asked, identity);
    asked.request.mockResolvedValueOnce('yes');
    expect(await ask('a')).toBe('yes');
    expect(asked.request).toHaveBeenCalledWith('a', {}, 7);
    asked.request.mockRejectedValueOnce(new RequestError(ErrorCode.InternalError, 'failed'));
    await expect(ask('a')).rejects.toThrow('failed');
    asked.request.mockRejectedValueOnce(new Error('broken'));
    await expect(ask('a')).rejects.toThrow('broken');
    expect(may()).toEqual([true, true, false]);
    for (const method of ['a', 'b']) {
      asked.request.mockRejectedValueOnce(new RequestError(ErrorCode.MethodNotFound, 'unknown'));
      await expect(ask(method)).rejects.toThrow('unknown');
      expect(all.canAsk('c', method as never)).toBe(false);
    }
    expect(may()).toEqual([false, false, false]);
    all.arrived(connection(['a']), identity);
    expect(all.canAsk('c', 'a' as never)).toBe(true);
  });
});

describe('what is remembered of a client', () => {
  class FailingLog extends MemoryLog {
    failure: Error | undefined;
    override async append(commit: Parameters<MemoryLog['append']>[0]) {
      if (this.failure) throw this.failure;
      return super.append(commit);
    }
  }

  function host(log = new FailingLog(), time = 1_000, isGone: (credential: string) => boolean = () => true) {
    const clock = testClock(time);
    const nothing = () => {};
    const delivery = new DirectDelivery({ shown: log.head, logger: silentLogger, show: nothing });
    const writer = new Writer({ log, clock, logger: silentLogger, delivery, undone: nothing, superseded: nothing });
    return { log, clock, writer, clients: new Clients(log, writer, clock, isGone) };
  }
  const greeting = { dialect: '1', locale: 'de' };

  it('is which wire it spoke, and since when; who is new is above all earlier numbers', async () => {
    const { clients, log } = host();
    expect(await clients.returning('c')).toBeUndefined();
    const epoch = await clients.begin('c', greeting);
    expect(epoch).toBeGreaterThan(1_000);
    expect(await clients.returning('c')).toEqual({ ...greeting, epoch, since: 1_000 });
    expect(await host(log).clients.returning('c')).toMatchObject(greeting);
    expect(await clients.begin('c', greeting)).toBe(epoch + 1);
  });

  it('is kept in memory while nothing can be stored, and stored later', async () => {
    const { clients, log, clock, writer } = host();
    log.failure = new LogWriteError('disk-full', 'the disk is full');
    await clients.begin('c', greeting);
    await clients.begin('d', greeting);
    expect(await clients.returning('c')).toMatchObject(greeting);
    expect(clock.timers.size).toBe(1);
    // A third try of the same client replaces what waits of it.
    await clients.begin('d', { ...greeting, locale: 'en' });
    expect(clock.timers.size).toBe(1);
    clock.ring();
    await vi.waitFor(() => expect(clock.timers.size).toBe(1), 10_000);
    expect(await log.record('client:c')).toBeUndefined();
    log.failure = undefined;
    clock.ring();
    await vi.waitFor(async () => expect(await log.record('client:d')).toBeDefined(), 10_000);
    expect(await host(log).clients.returning('c')).toMatchObject(greeting);
    expect(JSON.parse((await log.record('client:d')) ?? '')).toMatchObject({ locale: 'en' });
    expect(clock.timers.size).toBe(0);
    // From here on the log knows better than what waited.
    await writer.settled();
    writer.record({ key: 'client:c', value: jsonText({ ...greeting, locale: 'fr', epoch: 1, since: 1_000 }) });
    await writer.settled();
    expect(await clients.returning('c')).toMatchObject({ locale: 'fr' });
  });

  it('that came while another was being stored is stored after it', async () => {
    const { clients, log, clock, writer } = host();
    const full = new LogWriteError('disk-full', 'the disk is full');
    log.failure = full;
    await clients.begin('c', greeting);
    log.failure = undefined;
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const append = log.append.bind(log);
    vi.spyOn(log, 'append').mockImplementationOnce((commit) => held.then(() => append(commit)));
    clock.ring();
    vi.spyOn(writer, 'beginClient').mockRejectedValueOnce(full);
    await clients.begin('d', greeting);
    expect(clock.timers.size).toBe(0);
    release();
    await vi.waitFor(async () => expect(await log.records('client:')).toHaveLength(2), 10_000);
    expect(clock.timers.size).toBe(0);
  });

  it('is tried no more once another host has the log', async () => {
    const { clients, log, clock } = host();
    log.failure = new LogWriteError('disk-full', 'the disk is full');
    await clients.begin('c', greeting);
    log.failure = new LogFencedError('another host');
    clock.ring();
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(clock.timers.size).toBe(0);
  });

  it('is not kept by a host that has lost the log', async () => {
    const { clients, log, clock } = host();
    log.failure = new LogFencedError('another host');
    await expect(clients.begin('c', greeting)).rejects.toBe(log.failure);
    expect(clock.timers.size).toBe(0);
  });

  it('is when it was last here, to the day', async () => {
    const { clients, log, clock, writer } = host();
    await clients.begin('c', greeting);
    const since = async () => {
      await writer.settled();
      return JSON.parse((await log.record('client:c')) ?? '{}').since;
    };
    clock.time += CLIENT_NOTED_EVERY_MS;
    await clients.returning('c');
    expect(await since()).toBe(1_000);
    clock.time += 1;
    await clients.returning('c');
    expect(await since()).toBe(clock.time);
  });

  it('goes when it has been away for too long; who is here or just came back stays', async () => {
    const { clients, log, clock } = host();
    for (const id of ['away', 'here', 'back']) await clients.begin(id, greeting);
    clock.time += CLIENT_KEPT_MS;
    await clients.purge((id) => id === 'here');
    expect(await log.records('client:')).toHaveLength(3);
    clock.time += 1;
    const forgotten = vi.spyOn(log, 'forgetClient');
    await clients.returning('back');
    await clients.returning('stranger');
    await clients.purge((id) => id === 'here');
    const left = (await log.records('client:')).map(({ key }) => key);
    expect(left.sort()).toEqual(['client:back', 'client:here']);
    expect((await log.records('sent:')).some(({ key }) => key.includes('away'))).toBe(false);
    expect(forgotten.mock.calls).toEqual([['away']]);
  });

  it('[REL-098] is of so many clients: of more, those go that were away longest', async () => {
    const { clients, log, clock } = host();
    const known = (since: number) => JSON.stringify({ ...greeting, epoch: 1, since });
    const records = Array.from({ length: CLIENTS_KEPT_MAX + 2 }, (_, n) => ({
      key: `client:${n}`,
      value: known(n === 5 ? 0 : n === 7 ? 1 : 10 + n),
    }));
    await log.append({ entries: [], records, durability: 'normal' });
    clock.time = 20_000;
    await clients.purge(() => false);
    const left = new Set((await log.records('client:')).map(({ key }) => key));
    expect([left.size, left.has('client:5'), left.has('client:7')]).toEqual([CLIENTS_KEPT_MAX, false, false]);
  });

  it('stays in the log of numbers when it is back before all is forgotten', async () => {
    const { clients, log, clock } = host();
    await clients.begin('c', greeting);
    clock.time += CLIENT_KEPT_MS + 1;
    const forgotten = vi.spyOn(log, 'forgetClient');
    let isHere = false;
    await clients.purge(() => {
      const was = isHere;
      isHere = true;
      return was;
    });
    expect(forgotten).not.toHaveBeenCalled();
  });

  it('[DEV-006] belongs to the credential that came first, as long as one of its connections is still beginning', async () => {
    const { clients } = host();
    const ends: (() => void)[] = [];
    vi.spyOn(clients.received, 'begin').mockImplementation(
      () => new Promise((resolve) => ends.push(() => resolve({ epoch: 1, isStored: true }))),
    );
    const phone = { kind: 'device', id: 'phone' } as const;
    const tablet = { kind: 'device', id: 'tablet' } as const;
    const [first, second] = [clients.begin('c', greeting, phone), clients.begin('c', greeting, phone)];
    await vi.waitFor(() => expect(ends).toHaveLength(2), 10_000);
    await expect(clients.begin('c', greeting, tablet)).rejects.toThrow('belongs to another device');
    ends[0]?.();
    await first;
    await expect(clients.begin('c', greeting, tablet)).rejects.toThrow('belongs to another device');
    ends[1]?.();
    await second;
    // Nothing was stored of it here, so that it is free again.
    const third = clients.begin('c', greeting, tablet);
    await vi.waitFor(() => expect(ends).toHaveLength(3), 10_000);
    ends[2]?.();
    expect(await third).toBe(1);
  });

  it('[DEV-006] stays with the credential that used it first until that is gone, or the owner for good', async () => {
    const gone = new Set<string>();
    const { clients } = host(new FailingLog(), 1_000, (credential) => gone.has(credential));
    const [phone, tablet] = ['phone', 'tablet'].map((id) => ({ kind: 'device', id }) as const);
    const refused = 'belongs to another device';
    await clients.begin('c', greeting, phone);
    await clients.begin('c', greeting, phone);
    await expect(clients.begin('c', greeting, tablet)).rejects.toThrow(refused);
    await expect(clients.begin('c', greeting)).rejects.toThrow(refused);
    await clients.begin('mine', greeting);
    await clients.begin('mine', greeting, { kind: 'connection', id: 'connection' });
    await expect(clients.begin('mine', greeting, phone)).rejects.toThrow(refused);
    gone.add((await clients.returning('c', phone))?.credential ?? '');
    await clients.begin('c', greeting, tablet);
    await expect(clients.begin('mine', greeting, phone)).rejects.toThrow(refused);
  });

  it('[DEV-006] is free for the next when the owner gives its id away', async () => {
    const { clients, log } = host();
    expect(await clients.release('c')).toBe(false);
    await clients.begin('c', greeting);
    expect(await clients.release('c')).toBe(true);
    expect(await log.record('client:c')).toBeUndefined();
    expect(await clients.returning('c')).toBeUndefined();
    expect(await clients.release('c')).toBe(false);
  });

  it('tells which of its numbers were taken, and nothing to a stranger', async () => {
    const { clients, writer } = host();
    const epoch = await clients.begin('c', greeting);
    const channel = new Channel<number>('ahp-session:/s', (count) => count + 1, 0);
    writer.write({ channel, action: { type: 'session/ready' }, origin: { clientId: 'c', epoch, clientSeq: 4 } });
    const identity = { clientId: 'c', start: epoch } as Identity;
    expect(await clients.settled({ identity } as Connection, [3, 4])).toEqual([4]);
    expect(await clients.settled({ identity } as Connection, [])).toEqual([]);
    expect(await clients.settled({ identity: undefined } as Connection, [4])).toEqual([]);
  });
});

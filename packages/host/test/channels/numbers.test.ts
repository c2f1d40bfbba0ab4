import { Channel } from '@atrium/core/channels/channel.js';
import { DirectDelivery } from '@atrium/core/channels/delivery.js';
import { STORE_RETRY_MS, UNAVAILABLE_RETRIES_MAX } from '@atrium/core/channels/limits.js';
import { type CommittedBatch, Writer } from '@atrium/core/channels/writer.js';
import { type Commit, LogUnavailableError } from '@atrium/core/log/log.js';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import { silentLogger } from '@atrium/core/util/logger.js';
import { CloseCode } from '@atrium/core/wire/transport.js';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../support/fake-clock.js';
import { KeptLog } from '../support/logs.js';
import { answerTo, envelopesOf, openFixture, startHost, stateOf } from '../support/session-fixture.js';
import { ROOT, settle } from '../support/test-host.js';

const RENAMED = { type: 'session/titleChanged', title: 'renamed' } as const;
const SENSELESS = { type: 'session/turnCancelled', turnId: 'nowhere' } as const;

/** As another host that writes to the same log would. */
async function useNumber(log: KeptLog): Promise<void> {
  await log.append({ entries: [{ channel: '', time: 0, action: '' }], durability: 'normal' });
}

describe('the number of an action', () => {
  it('[CLU-001] is the one that the log gave it, whoever else wrote there', async () => {
    const log = new KeptLog();
    const { client, uri } = await openFixture({ log });
    await useNumber(log);
    const expected = log.head + 1;
    const renamed = client.dispatch(uri, RENAMED);
    expect((await answerTo(client, uri, renamed)).serverSeq).toBe(expected);
    await useNumber(log);
    const refused = client.dispatch(uri, SENSELESS);
    const rejection = await answerTo(client, uri, refused);
    expect([rejection.serverSeq, rejection.rejectionReason]).toEqual([
      expected + 2,
      expect.stringContaining('no turn'),
    ]);
    const entries = await log.read({ after: expected - 1 });
    expect(entries.map(({ seq, origin }) => [seq, origin?.clientSeq])).toEqual([
      [expected, renamed],
      [expected + 1, undefined],
      [expected + 2, refused],
    ]);
  });

  it('[CLU-001] [REL-012] is in the answer to a resend, also after a restart', async () => {
    const log = new KeptLog();
    const { client, uri, host, clock } = await openFixture({ log });
    await useNumber(log);
    const renamed = client.dispatch(uri, RENAMED);
    const { serverSeq } = await answerTo(client, uri, renamed);
    client.dispatch(uri, RENAMED, renamed);
    await settle();
    const echoes = envelopesOf(client, uri).filter(({ origin }) => origin?.clientSeq === renamed);
    expect(echoes.map((envelope) => envelope.serverSeq)).toEqual([serverSeq, serverSeq]);
    await host.stop();
    const again = (await startHost({ log, clock })).connect();
    again.continue(client);
    const seen = { lastSeenServerSeq: serverSeq, subscriptions: [uri] };
    await again.request('reconnect', { channel: ROOT, clientId: client.clientId, ...seen });
    again.dispatch(uri, RENAMED, renamed);
    expect((await answerTo(again, uri, renamed)).serverSeq).toBe(serverSeq);
    expect((await log.read({ after: 0 })).filter(({ origin }) => origin?.clientSeq === renamed)).toHaveLength(1);
  });
});

/** A log that cannot be reached for a while. */
class DistantLog extends KeptLog {
  unreachable = 0;
  readonly tried: Commit[] = [];

  override async append(commit: Commit) {
    if (this.unreachable > 0) {
      this.unreachable--;
      this.tried.push(commit);
      throw new LogUnavailableError('no connection');
    }
    return super.append(commit);
  }

  override async beginClient(...given: Parameters<KeptLog['beginClient']>) {
    if (this.unreachable > 0) throw new LogUnavailableError('no connection');
    return super.beginClient(...given);
  }

  override async missed(...given: Parameters<KeptLog['missed']>) {
    if (this.unreachable > 0) throw new LogUnavailableError('no connection');
    return super.missed(...given);
  }
}

describe('a log that cannot be reached', () => {
  it('[CLU-012] sends away clients that begin or come back meanwhile: they try again, and are told nothing else', async () => {
    const log = new DistantLog();
    const { host, client, uri } = await openFixture({ log });
    log.unreachable = 1;
    const hellos = [
      { id: 1, method: 'initialize', params: { channel: ROOT, clientId: 'new', protocolVersions: ['0.3.0'] } },
      {
        ...{ id: 1, method: 'reconnect' },
        params: { channel: ROOT, clientId: client.clientId, lastSeenServerSeq: 1, subscriptions: [uri] },
      },
    ];
    for (const hello of hellos) {
      const again = host.connect();
      again.send(hello);
      expect(await again.untilClosed()).toMatchObject({ code: CloseCode.NotStored });
      expect(again.received).toEqual([]);
    }
    log.unreachable = 0;
    const again = host.connect();
    again.continue(client);
    await again.request('reconnect', {
      channel: ROOT,
      clientId: client.clientId,
      lastSeenServerSeq: 1,
      subscriptions: [uri],
    });
  });

  it('[CLU-012] gets the same commit again until it answers: nothing is shown before, nothing is lost or doubled', async () => {
    const log = new DistantLog();
    const { client, uri, clock } = await openFixture({ log });
    const head = log.head;
    log.unreachable = 2;
    const first = client.dispatch(uri, RENAMED);
    await settle();
    const second = client.dispatch(uri, { ...RENAMED, title: 'again' });
    await clock.advance(STORE_RETRY_MS);
    expect([log.head, log.tried.length]).toEqual([head, 2]);
    expect(client.types(uri)).not.toContain(RENAMED.type);
    expect(log.tried[0]).toBe(log.tried[1]);
    await clock.advance(STORE_RETRY_MS);
    expect((await answerTo(client, uri, first)).serverSeq).toBe(head + 1);
    expect((await answerTo(client, uri, second)).serverSeq).toBe(head + 2);
    expect((await stateOf(client, uri)).summary.title).toBe('again');
    expect(client.closed).toBeUndefined();
  });

  it('[CLU-012] for a minute sends away those who wait, and their action is taken when they send it again', async () => {
    const log = new DistantLog();
    const { client, uri, clock, join } = await openFixture({ log });
    log.unreachable = UNAVAILABLE_RETRIES_MAX + 1;
    client.dispatch(uri, RENAMED);
    await settle();
    for (let retries = 0; retries < UNAVAILABLE_RETRIES_MAX; retries++) await clock.advance(STORE_RETRY_MS);
    expect(await client.untilClosed()).toMatchObject({ code: CloseCode.NotStored });
    const phone = await join('phone');
    const renamed = phone.dispatch(uri, RENAMED);
    expect((await answerTo(phone, uri, renamed)).rejectionReason).toBeUndefined();
  });
});

/** A channel that counts, and a delivery that shows ticks only when it is told to. */
function countingWriter() {
  const log = new MemoryLog();
  const held: CommittedBatch[] = [];
  const shown: CommittedBatch[] = [];
  const direct = new DirectDelivery({ shown: 0, logger: silentLogger, show: (batch) => shown.push(batch) });
  const writer = new Writer({
    ...{ log, clock: new FakeClock(), logger: silentLogger, undone: () => {}, superseded: () => {} },
    delivery: {
      get shown() {
        return direct.shown;
      },
      stored: (batch) => held.push(batch),
    },
  });
  const channel = new Channel<number>('ahp-session:/counted', (count) => count + 1, 0);
  const write = () => writer.write({ channel, action: { type: 'session/ready' } });
  const show = () => {
    for (const batch of held.splice(0)) direct.stored(batch);
  };
  return { log, writer, channel, write, show, shown, held };
}

describe('what is stored and not shown yet', () => {
  it('[REL-073] is in no snapshot, and its callbacks wait; both follow when it is shown', async () => {
    const { writer, channel, write, show, held, shown } = countingWriter();
    let calls = 0;
    write();
    writer.afterCommit(() => calls++);
    await expect.poll(() => held.length).toBe(1);
    expect([writer.shown, channel.committed, channel.live, channel.isSettled, calls]).toEqual([0, 0, 1, false, 0]);
    show();
    expect([writer.shown, channel.committed, channel.live, channel.isSettled, calls]).toEqual([1, 1, 1, true, 1]);
    expect(shown.map(({ first, last }) => [first, last])).toEqual([[1, 1]]);
  });

  it('[REL-073] stays when a later tick cannot be stored', async () => {
    const { log, writer, channel, write, show, held } = countingWriter();
    write();
    await expect.poll(() => held.length).toBe(1);
    await log.close();
    write();
    await expect(writer.settled()).rejects.toMatchObject({ kind: 'refused', reason: 'closed' });
    expect([channel.live, channel.committed, channel.isSettled]).toEqual([1, 0, false]);
    show();
    expect([channel.live, channel.committed, channel.isSettled]).toEqual([1, 1, true]);
  });
});

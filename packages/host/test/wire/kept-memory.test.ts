/** What a client can make the host keep by sending, over and over, what is turned down or forgotten. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { CLIENT_ID_MAX_CHARACTERS, OUTBOX_MERGE_BYTES } from '@atrium/core/wire/limits.js';
import type { StateAction } from '@atrium/protocol';
import { defaultChatUri } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { KeptLog } from '../support/logs.js';
import { answerTo, openFixture, openPuppetFixture, startHost } from '../support/session-fixture.js';
import { ROOT } from '../support/test-host.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heapMegabytes(): number {
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

const unknown = (name: string) => ({ type: `session/${name}` }) as unknown as StateAction;

describe('memory that a client takes', () => {
  it('[REL-098] is not that of whole actions for the reasons why they were turned down', async () => {
    const { client, uri } = await openFixture();
    const before = heapMegabytes();
    for (let clientSeq = 1; clientSeq <= 40; clientSeq++) {
      client.dispatch(uri, unknown(`${clientSeq} ${'x'.repeat(10 ** 6)}`), clientSeq);
      expect((await answerTo(client, uri, clientSeq)).rejectionReason).toHaveLength(1_000);
      client.received.length = 0;
    }
    expect(heapMegabytes() - before).toBeLessThan(15);
  });

  it('[REL-068] does not grow with how often it begins anew under one id', async () => {
    const { client, uri, host } = await openFixture();
    client.disconnect();
    const round = async () => {
      const client = await host.client('again');
      for (let clientSeq = 1; clientSeq <= 300; clientSeq++) {
        client.dispatch(uri, unknown(`${clientSeq} ${'y'.repeat(1_500)}`), clientSeq);
      }
      await answerTo(client, uri, 300);
      client.disconnect();
    };
    for (let rounds = 0; rounds < 5; rounds++) await round();
    const before = heapMegabytes();
    for (let rounds = 0; rounds < 40; rounds++) await round();
    expect(heapMegabytes() - before).toBeLessThan(8);
  });
});

describe('text for clients that do not read', () => {
  const PIECES = 1_000;
  const PIECE = 'A piece of an answer. '.repeat(200);

  /** What the heap grows by while an answer streams, in megabytes. */
  async function grownWith(stalled: number): Promise<number> {
    const { host, uri, puppet, client } = await openPuppetFixture({ joinText: false });
    const clients = [];
    for (let index = 0; index < stalled; index++) {
      const slow = await host.client(`slow-${index}`, { protocolVersions: [index % 2 === 0 ? '0.3.0' : '1.0.0'] });
      await slow.request('subscribe', { channel: index % 2 === 0 ? uri : defaultChatUri(uri) });
      // As a socket that the system takes nothing of.
      slow.bufferedBytes = OUTBOX_MERGE_BYTES + 1;
      clients.push(slow);
    }
    const before = heapMegabytes();
    for (let count = 0; count < PIECES; count++) {
      puppet.turn.text(PIECE);
      await new Promise((resolve) => setImmediate(resolve));
      client.received.length = 0;
    }
    const grown = heapMegabytes() - before;
    expect(clients.filter(({ closed }) => closed)).toEqual([]);
    await host.stop();
    return grown;
  }

  it('[REL-040] is kept once, however many they are', async () => {
    const text = (PIECES * PIECE.length) / 2 ** 20;
    const alone = await grownWith(0);
    expect((await grownWith(8)) - alone).toBeLessThan(text);
  });
});

it.each([
  ['clientId', { clientId: 'c'.repeat(CLIENT_ID_MAX_CHARACTERS + 1) }],
  ['locale', { clientId: 'c', locale: 'l'.repeat(CLIENT_ID_MAX_CHARACTERS + 1) }],
])('[REL-098] a %s that is too long is refused, and not stored', async (name, params) => {
  const log = new KeptLog();
  const host = await startHost({ log });
  const hello = { channel: ROOT, protocolVersions: ['0.3.0'], ...params };
  const { error } = await host.connect().ask('initialize', hello);
  expect(error).toMatchObject({ code: -32602, message: `initialize: /${name} may have at most 500 characters` });
  expect(await log.records('client:')).toEqual([]);
  const longest = { clientId: 'c'.repeat(CLIENT_ID_MAX_CHARACTERS), locale: 'l'.repeat(CLIENT_ID_MAX_CHARACTERS) };
  expect((await host.connect().ask('initialize', { ...hello, ...longest })).error).toBeUndefined();
});

/** What a client can make the host keep by sending, over and over, what is turned down or forgotten. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { CLIENT_ID_MAX_CHARACTERS } from '@atrium/core/wire/limits.js';
import type { StateAction } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { KeptLog } from '../support/logs.js';
import { answerTo, openFixture, startHost } from '../support/session-fixture.js';
import { ROOT } from '../support/test-host.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function heapMegabytes(): number {
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

const unknown = (name: string) => ({ type: `session/${name}` }) as unknown as StateAction;

describe('memory that a client takes', () => {
  it('[REL-057] is not that of whole actions for the reasons why they were turned down', async () => {
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

it.each([
  ['clientId', { clientId: 'c'.repeat(CLIENT_ID_MAX_CHARACTERS + 1) }],
  ['locale', { clientId: 'c', locale: 'l'.repeat(CLIENT_ID_MAX_CHARACTERS + 1) }],
])('[REL-057] a %s that is too long is refused, and not stored', async (name, params) => {
  const log = new KeptLog();
  const host = await startHost({ log });
  const hello = { channel: ROOT, protocolVersions: ['0.3.0'], ...params };
  const { error } = await host.connect().ask('initialize', hello);
  expect(error).toMatchObject({ code: -32602, message: `initialize: /${name} may have 500 characters` });
  expect(await log.records('client:')).toEqual([]);
});

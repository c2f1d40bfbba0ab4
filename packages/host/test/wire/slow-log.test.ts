/** A log that does not keep up: clients and agents wait for it. */
import { UNSTORED_MAX_MS } from '@atrium/core/channels/limits.js';
import { expect, it, onTestFinished, vi } from 'vitest';
import WebSocket from 'ws';
import { startServer } from '../../src/server/server.js';
import { failingLog } from '../support/failing-log.js';
import { ManualClock } from '../support/manual-clock.js';
import { nativeClient, nativeSession, userMessage } from '../support/native-client.js';
import { type RawClient, ROOT, settle, startTestHost } from '../support/test-host.js';

const MESSAGES = 400;
const CHARACTERS = 60_000;

/** Which of the drafts the client has seen, in their order. */
function numbersOf(client: RawClient, chat: string): number[] {
  return client.envelopes(chat).flatMap(({ action }) => {
    const { draft } = action as { draft?: { text: string } };
    return draft ? Number.parseInt(draft.text, 10) : [];
  });
}

it('[CLU-015] leaves what clients send in their sockets until it is stored, keeps them connected, and loses nothing', async () => {
  const log = failingLog();
  const clock = new ManualClock();
  const warnings = vi.fn();
  const logger = { log: (level: string, message: string) => level === 'warn' && warnings(message) };
  const host = await startTestHost({ log, clock, logger: logger as never });
  onTestFinished(() => host.stop());
  const observer = await nativeClient(host, 'observer');
  const { uri, chat } = await nativeSession(observer);
  const server = await startServer({ host: '127.0.0.1', policy: {}, onConnection: (t) => host.host.connect(t) });
  onTestFinished(() => server.close());
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}`);
  onTestFinished(() => socket.terminate());
  const closed = vi.fn();
  const received: { id?: number }[] = [];
  socket.on('close', closed).on('message', (data) => received.push(JSON.parse(String(data))));
  await new Promise((resolve) => socket.on('open', resolve));
  const send = (message: object) => socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
  const hello = { channel: ROOT, protocolVersions: ['1.0.0'], clientId: 'eager' };
  send({ id: 1, method: 'initialize', params: hello });
  await vi.waitFor(() => expect(received.some(({ id }) => id === 1)).toBe(true), 10_000);

  const release = log.hold();
  observer.dispatch(uri, { type: 'session/titleChanged', title: 'is being stored' } as { type: string });
  await settle();
  await clock.advance(UNSTORED_MAX_MS);
  expect(warnings.mock.calls.flat()).toEqual([expect.stringContaining('storing is slow')]);
  for (let clientSeq = 1; clientSeq <= MESSAGES; clientSeq++) {
    const draft = userMessage(`${clientSeq} `.padEnd(CHARACTERS, 'x'));
    const action = { type: 'chat/draftChanged', draft };
    send({ method: 'dispatchAction', params: { channel: chat, clientSeq, action } });
  }
  // Two buffers of a socket hold a few megabytes; the rest stays with the client for as long as it takes.
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(socket.bufferedAmount).toBeGreaterThan((MESSAGES * CHARACTERS) / 2);
  for (let beats = 0; beats < 5; beats++) await clock.advance(60_000);
  expect(closed).not.toHaveBeenCalled();

  release();
  await vi.waitFor(() => expect(numbersOf(observer, chat)).toHaveLength(MESSAGES), { timeout: 20_000 });
  expect(numbersOf(observer, chat)).toEqual(Array.from({ length: MESSAGES }, (_, at) => at + 1));
  expect(closed).not.toHaveBeenCalled();
}, 40_000);

it('[CLU-015] answers the pings of clients whose messages wait, so that they do not take it for dead', async () => {
  const log = failingLog();
  const clock = new ManualClock();
  const host = await startTestHost({ log, clock });
  onTestFinished(() => host.stop());
  const client = await nativeClient(host, 'desk');
  const { uri, chat } = await nativeSession(client);
  const server = await startServer({ host: '127.0.0.1', policy: {}, onConnection: (t) => host.host.connect(t) });
  onTestFinished(() => server.close());
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}`);
  onTestFinished(() => socket.terminate());
  const answered: number[] = [];
  socket.on('message', (data) => answered.push(JSON.parse(String(data)).id));
  await new Promise((resolve) => socket.on('open', resolve));
  const send = (message: object) => socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
  send({ id: 1, method: 'initialize', params: { channel: ROOT, protocolVersions: ['1.0.0'], clientId: 'phone' } });
  await vi.waitFor(() => expect(answered).toContain(1), 10_000);
  const release = log.hold();
  onTestFinished(release);
  client.dispatch(uri, { type: 'session/titleChanged', title: 'is being stored' } as { type: string });
  await settle();
  await clock.advance(UNSTORED_MAX_MS);
  for (let id = 2; id < 5; id++) {
    const action = { type: 'chat/draftChanged', draft: userMessage(`${id}`) };
    send({ method: 'dispatchAction', params: { channel: chat, clientSeq: id, action } });
    send({ id, method: 'ping', params: { channel: ROOT } });
    await vi.waitFor(() => expect(answered).toContain(id), 10_000);
  }
  expect(numbersOf(client, chat)).toEqual([]);
  release();
  await vi.waitFor(() => expect(numbersOf(client, chat)).toEqual([2, 3, 4]), 10_000);
}, 20_000);

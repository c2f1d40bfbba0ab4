/** The attacks, by name. */
import { setTimeout as pause } from 'node:timers/promises';
import {
  again,
  atOnce,
  begin,
  bound,
  closed,
  counts,
  flood,
  isOver,
  next,
  open,
  send,
  several,
  slowHandshake,
} from './attacking.mjs';

const MEGABYTE = 2 ** 20;
const TEN_THOUSAND = 10_000;
const UNKNOWN = '{"type":"future.thing"}';
const NEWS = JSON.stringify({ type: 'push', level: 'surface', event: 'news' });
const withMetadata = (json) => `{"type":"push","level":"keep","event":"x","metadata":${json}}`;
const deep = (levels) => withMetadata(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
/** As much work for a parser as fits into so many bytes. */
const dear = (bytes) => withMetadata(`{"a":[${'{},'.repeat(bytes / 3 - 40)}{}]}`);
const bomb = (index) => ({ match: { args: `(a+)+${index}$` }, action: 'deny', reason: 'never' });
const tools = (count, word = 'x') =>
  Array.from({ length: count }, (_, index) => ({
    name: `tool_${index}`,
    description: word.repeat(1_000),
    parameters: {},
  }));
const instances = (count) => several(count, (index) => bound({ instance: `${process.pid}-${index}` }));

export const ATTACKS = {
  pushes: async () => flood([await bound()], [NEWS], TEN_THOUSAND),
  unknown: async () => flood([await bound()], [UNKNOWN], TEN_THOUSAND),
  malformed: async () => flood([await bound()], ['{"type":', 'null', '\0', '{"type":"push"}'], TEN_THOUSAND),
  everything: async () => flood([await bound()], [NEWS, '{}', UNKNOWN]),
  crowd: async () => flood(await instances(40), [NEWS, UNKNOWN]),

  'long messages': async () => flood(await instances(4), [NEWS.replace('news', 'x'.repeat(2 * MEGABYTE - 100))]),
  'dear messages': async () => flood(await instances(4), [dear(2 * MEGABYTE)]),
  'long frames': async () => flood([await bound()], [UNKNOWN + ' '.repeat(15 * MEGABYTE), dear(8 * MEGABYTE)]),
  'endless frames': async () => {
    const endless = Buffer.alloc(17 * MEGABYTE, 'x');
    await again(async () => {
      const socket = await open();
      socket.send(endless, { binary: false }, () => {});
      counts.sent += 1;
      await closed(socket);
    });
  },
  'deep messages': async () => flood([await bound()], [deep(300_000), deep(20_000), deep(190)]),
  /** Short questions with long answers. */
  'dear answers': async () => {
    const socket = await bound();
    const streams = Array.from({ length: 9 }, (_, index) => `s${index}`);
    for (const stream of streams) send(socket, { type: 'push', stream, level: 'keep', event: 'x'.repeat(MEGABYTE) });
    await flood([socket], [JSON.stringify({ type: 'stream.query', queryId: 'q', streams, last: 100 })]);
  },

  'many rules': async () => {
    const onPreToolUse = Array.from({ length: 50 }, (_, index) => bomb(index));
    const socket = await bound({ tools: tools(100), hooks: { onPreToolUse } });
    socket.on('message', (data) => {
      const { type, id } = JSON.parse(data.toString());
      if (type === 'tool.call') socket.send(JSON.stringify({ type: 'tool.result', id, data: 'done' }));
    });
    const messages = [
      { type: 'hooks.update', onPreToolUse },
      { type: 'hooks.update', onPreToolUse: Array.from({ length: 5_000 }, (_, index) => bomb(index)) },
      { type: 'tools.update', tools: tools(1_500) },
      { type: 'filter.set', stream: 's', rules: [{ match: '(a+)+$', outcome: 'drop' }] },
      { type: 'push', stream: 's', level: 'keep', event: `${'a'.repeat(60)}!` },
    ];
    await flood(
      [socket],
      messages.map((message) => JSON.stringify(message)),
      1_000,
    );
  },
  updating: async () => {
    const socket = await bound({ tools: tools(100) });
    await again(async () => {
      send(socket, { type: 'tools.update', tools: tools(100, `${counts.sent % 10}`) });
      await next(socket, 'ack');
    });
  },
  rebinding: async () => {
    const hello = (index) => ({ type: 'hello', name: 'hostile', protocolVersion: 2, instance: `i${index}` });
    await flood(
      [await bound()],
      [0, 1, 2, 3].map((index) => JSON.stringify(hello(index))),
      TEN_THOUSAND,
    );
  },

  'coming and going': () =>
    again(async () => {
      const socket = await bound({ tools: tools(100) }).catch(() => pause(10));
      socket?.terminate();
    }),
  reconnecting: () =>
    again(async () => {
      for (const socket of await atOnce(60, open)) socket.terminate();
    }),
  'slow handshakes': () =>
    again(async () => {
      const sockets = await atOnce(60, slowHandshake);
      await pause(200);
      for (const socket of sockets) socket.destroy();
    }),
  /** Half a frame now and then, and nothing is ever read. */
  'half-open': async () => {
    const sockets = await several(40, open);
    for (const socket of sockets) socket.pause();
    for (begin(); !isOver(); await pause(50)) {
      for (const socket of sockets) socket._socket?.write(Buffer.from([0x81, 0xfe]));
    }
  },
  guessing: () =>
    again(async () => {
      const socket = await open();
      send(socket, { type: 'auth', token: `ptk-${Math.random()}` });
      await closed(socket);
    }),
  pairing: () =>
    again(async () => {
      const sockets = await atOnce(20, open);
      for (const socket of sockets) {
        send(socket, { type: 'auth', mode: 'pair' });
        send(socket, { type: 'auth.confirm', code: '000000' });
        send(socket, { type: 'auth.confirm', code: '000001' });
        for (let count = 0; count < 5; count++) send(socket, { type: 'hello' });
      }
      await Promise.all(sockets.map(closed));
    }),
};

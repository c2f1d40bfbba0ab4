/**
 * What it costs to bring a token to those who watch: CPU of the server for each delivered token, over the whole path
 * (reduce, store, frame, send), at the pace of a fast model. The limit is bare `ws` with one prepared frame for each token.
 */
import { absolute, paired, ratio, report, size } from './measure.mjs';
import {
  atriumServer,
  hocuspocusServer,
  preparedServer,
  sessionsOf,
  socketIoServer,
  stringServer,
} from './support/fanout-servers.mjs';
import { startHelper } from './support/helper.mjs';
import { paced } from './support/tokens.mjs';

const PER_SECOND = 200;
const TOKENS = size(400, 10);
const CLIENTS = size(100, 4);
const TEN = size(10, 2);
/** As when one read from the network brings several tokens. */
const BURST = 5;
const MIXED = ['1.0.0', '0.7.0', '0.2.0', '1'];

const hundred = { sessions: 1, clients: CLIENTS };
const tenByTen = { sessions: TEN, clients: TEN * TEN };
const inBursts = { ...hundred, burst: BURST };
const merging = (options) => atriumServer({ ...options });
const apart = (options) => atriumServer({ ...options, joinText: false });

const samples = await paired(import.meta.url, {
  paced100: {
    atrium: { merging: variant(merging, hundred), apart: variant(apart, hundred) },
    limits: {
      prepared: variant(preparedServer, hundred),
      string: variant(stringServer, hundred),
      socketIo: variant(socketIoServer, hundred),
      hocuspocus: variant(hocuspocusServer, hundred),
    },
  },
  burst100: {
    atrium: { merging: variant(merging, inBursts) },
    limits: { prepared: variant(preparedServer, inBursts) },
  },
  tenByTen: {
    atrium: { merging: variant(merging, tenByTen) },
    limits: { prepared: variant(preparedServer, tenByTen) },
  },
  dialects: {
    atrium: {
      alone: variant(apart, hundred),
      mixed: variant(apart, { ...hundred, dialects: MIXED }),
      older: variant(apart, { ...hundred, dialects: ['0.3.0'] }),
    },
  },
});

const bare = 'bare ws, one prepared frame per token';
const { paced100, burst100, tenByTen: ten, dialects } = samples;
report([
  ratio(paced100, {
    name: 'fanout.paced100',
    of: 'merging',
    to: 'prepared',
    limit: bare,
    target: { atMost: 0.7 },
    worse: 'frames',
  }),
  ratio(paced100, {
    name: 'fanout.paced100.unmerged',
    of: 'apart',
    to: 'prepared',
    limit: bare,
    target: { atMost: 1.3 },
    worse: 'commits',
  }),
  ratio(paced100, {
    name: 'fanout.socket.io',
    of: 'merging',
    to: 'socketIo',
    limit: 'socket.io, a room',
    target: { atMost: 0.5 },
    worse: 'frames',
  }),
  ratio(paced100, {
    name: 'fanout.hocuspocus',
    of: 'merging',
    to: 'hocuspocus',
    limit: 'Hocuspocus, a document',
    target: { atMost: 0.5 },
    worse: 'frames',
  }),
  ratio(paced100, {
    name: 'fanout.string',
    of: 'merging',
    to: 'string',
    limit: 'ws.send(string)',
    target: { atMost: 0.667 },
    worse: 'frames',
  }),
  ratio(burst100, {
    name: 'fanout.burst100',
    of: 'merging',
    to: 'prepared',
    limit: `${bare}, ${BURST} at a time`,
    target: { atMost: 0.7 },
    worse: 'writes',
  }),
  ratio(ten, {
    name: 'fanout.ten-by-ten',
    of: 'merging',
    to: 'prepared',
    limit: bare,
    target: { atMost: 1.3 },
    worse: 'commits',
  }),
  ratio(dialects, {
    name: 'fanout.dialects',
    of: 'mixed',
    to: 'alone',
    limit: '1.0 alone; mixed: 1.0, 0.7, 0.2.0, version 1',
    target: { atMost: 1.5 },
    worse: 'translation',
  }),
  ratio(dialects, {
    name: 'fanout.older',
    of: 'older',
    to: 'alone',
    limit: '1.0 alone; here: 0.3.0 alone',
    worse: 'translation',
  }),
  absolute(paced100, { name: 'fanout.delivery', of: 'merging', unit: 'µs', worse: 'frames' }),
  absolute(paced100, { name: 'fanout.delivery.bare', of: 'prepared', unit: 'µs', worse: 'load' }),
  ...[0.5, 0.99].map((share) =>
    absolute(paced100, {
      name: `fanout.delay.p${100 * share}`,
      of: 'merging',
      pick: (sample) => sample[`p${100 * share}`],
      unit: 'ms',
      worse: 'window',
    }),
  ),
]);

/** A server of this kind with its clients, in a process each. A slice is two seconds of tokens in every session. */
function variant(open, { sessions, clients, dialects: versions, burst = 1 }) {
  return async () => {
    const server = await open({ sessions });
    const receivers = startHelper('./receivers.mjs');
    const { kind, port } = server;
    await receivers.ask('join', { kind, port, count: clients, sessions: sessionsOf(sessions), dialects: versions });
    let last = 0;
    return {
      async slice() {
        const from = last + 1;
        last += TOKENS;
        await receivers.ask('expect', { last });
        const sent = await paced({
          count: TOKENS / burst,
          perSecond: PER_SECOND / burst,
          step: (index) => {
            for (let inner = 0; inner < burst; inner++)
              for (let session = 0; session < sessions; session++) server.say(session, from + index * burst + inner);
          },
        });
        const delays = await receivers.ask('arrived', { sent: sent.flatMap((at) => Array(burst).fill(at)), from });
        return { operations: TOKENS * clients, ...delays };
      },
      async close() {
        receivers.stop();
        await server.close();
      },
    };
  };
}

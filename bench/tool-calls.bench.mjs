/**
 * What the stages of a tool call add to a tool: one built-in tool through input check, gates, confirmation policy and
 * result, against its own function called directly. Sessions live in memory, so the disk plays no part.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { createHost, MemoryLog } from '@atrium/host';
import { readFileTool } from '../packages/host/dist/workspace/tools/read-file.js';
import { report, rounded } from './measure.mjs';
import { InProcessClient } from './support/in-process-client.mjs';

/** A turn has this many samples of so many calls; the best sample counts, for noise only ever adds time. */
const SAMPLES = 5;
const CALLS = 10;
const ROUNDS = 30;
const SESSION = 'ahp-session:/bench';
const GATES = [0, 1, 8, 32];
const INPUT = { path: 'a.txt' };

const folder = mkdtempSync(path.join(tmpdir(), 'atrium-bench-'));
writeFileSync(path.join(folder, 'a.txt'), 'some text\n'.repeat(20));

try {
  const best = {};
  for (let round = 0; round < ROUNDS; round++) {
    await measure(best, 'direct', direct);
    // A fresh session each time: a turn that has had thousands of calls is not what people have.
    for (const gates of GATES) {
      const { turn, stop } = await openFixture(gates);
      await measure(best, `gates${gates}`, () => called(turn));
      await stop();
    }
  }
  const added = Object.fromEntries(GATES.map((gates) => [gates, best[`gates${gates}`] - best.direct]));
  const most = GATES[GATES.length - 1];
  report(
    {
      'toolCalls.call': rounded(added[1] / 1_000),
      'toolCalls.call.ungated': rounded(added[0] / 1_000),
      'toolCalls.call.8gates': rounded(added[8] / 1_000),
      'toolCalls.call.32gates': rounded(added[32] / 1_000),
      'toolCalls.perGateMicroseconds': rounded((added[most] - added[0]) / most, 2),
      directMicroseconds: rounded(best.direct, 1),
    },
    {
      'toolCalls.call': 'milliseconds added to the tool by one gate and the policy; under 0.3',
      'toolCalls.call.ungated': 'the same without gates',
      'toolCalls.call.8gates': 'the same with 8',
      'toolCalls.call.32gates': 'the same with 32',
      'toolCalls.perGateMicroseconds':
        'what one more gate costs; gates are asked side by side, so it grows by count alone',
    },
  );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function direct() {
  const { signal } = new AbortController();
  return readFileTool.run(INPUT, { cwd: folder, signal, progress: () => {} });
}

async function called(turn) {
  const outcome = await turn.callTool({ name: 'read_file', input: INPUT });
  if (!outcome.success) throw new Error('the call failed');
}

/** Microseconds per call. */
async function measure(best, name, work) {
  for (let sample = 0; sample < SAMPLES; sample++) {
    const start = process.hrtime.bigint();
    for (let call = 0; call < CALLS; call++) await work();
    const spent = Number(process.hrtime.bigint() - start) / 1_000 / CALLS;
    best[name] = Math.min(best[name] ?? Number.POSITIVE_INFINITY, spent);
  }
}

/** A running turn whose agent is this program, with so many gates that answer in the next tick. */
async function openFixture(gates) {
  const { agent, turn } = handAgent();
  const extension = { id: 'gates', name: 'gates', gates: Array.from({ length: gates }, (_, index) => gate(index)) };
  const host = await createHost({
    log: new MemoryLog(),
    agents: [agent],
    tools: [readFileTool],
    extensions: [extension],
  });
  const client = new InProcessClient(host);
  await client.initialize('bench');
  await client.ask('createSession', { channel: SESSION, workingDirectory: pathToFileURL(folder).href });
  await client.ask('subscribe', { channel: SESSION });
  client.dispatch(SESSION, 1, { type: 'session/turnStarted', turnId: 't1', userMessage: { text: 'go' } });
  return { turn: await turn, stop: () => host.stop() };
}

function gate(index) {
  return { name: `gate ${index}`, concerns: () => true, check: async () => ({ kind: 'pass' }) };
}

/** An agent that hands its turn out and waits. */
function handAgent() {
  let hand;
  const turn = new Promise((resolve) => {
    hand = resolve;
  });
  const agent = {
    info: { provider: 'bench', displayName: 'Bench', description: '', models: [] },
    abilities: { tools: 'live', toolIntent: 'all', render: 'none', steer: false, cancelTool: true },
    sections: {},
    open: async () => ({
      runTurn: (given) => {
        hand(given);
        return new Promise((_resolve, reject) =>
          given.signal.addEventListener('abort', () => reject(given.signal.reason)),
        );
      },
      close: async () => {},
    }),
  };
  return { agent, turn };
}

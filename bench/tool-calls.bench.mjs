/**
 * What the stages of a tool call add to a tool: one built-in tool through input check, gates, confirmation policy and
 * result, against its own function called directly. Sessions live in memory, so the disk plays no part; `gateway.call`
 * has a log on the disk.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { figure, load, loadHost, paired, report, size } from './measure.mjs';
import { handAgent } from './support/hand-agent.mjs';
import { InProcessClient } from './support/in-process-client.mjs';

/** In one turn: one with hundreds of calls is not what people have. */
const CALLS = size(50, 2);
const SESSION = 'ahp-session:/bench';
const INPUT = { path: 'a.txt' };
const GATES = [0, 1, 8, 32];

const { calls } = await paired(import.meta.url, {
  calls: {
    warmups: size(20, 0),
    atrium: Object.fromEntries(GATES.map((gates) => [`gates${gates}`, () => gated(gates)])),
    limits: { direct },
  },
});

const limit = 'the function of the tool, called directly';
const most = GATES.at(-1);
report([
  added(1, { target: { atMost: 0.3 }, worse: 'stages' }),
  added(0, { worse: 'stages' }),
  added(8, { worse: 'gates' }),
  added(32, { worse: 'gates' }),
  figure({
    name: 'tool-calls.gate',
    samples: calls[`gates${most}`].map(({ cost }, round) => (cost - calls.gates0[round].cost) / most),
    unit: 'µs',
    limit: 'no gate; what one more adds',
    worse: 'gates',
  }),
]);

/** Milliseconds of CPU that a call costs beyond its tool. */
function added(gates, rest) {
  const name = gates === 1 ? 'tool-calls.call' : `tool-calls.call.${gates}-gates`;
  const over = (samples) => samples.map(({ cost }, round) => (cost - calls.direct[round].cost) / 1_000);
  const others = calls[`gates${gates} of the other build`];
  const samples = over(calls[`gates${gates}`]);
  const compared = others && { others: over(others), changes: over(others).map((value, at) => samples[at] / value) };
  return figure({ name, samples, ...compared, unit: 'ms', limit: `${limit}; added with ${gates} gates`, ...rest });
}

function workFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'atrium-bench-'));
  writeFileSync(join(folder, 'a.txt'), 'some text\n'.repeat(20));
  return folder;
}

async function direct() {
  const { readFileTool } = await load('host/dist/workspace/tools/read-file.js');
  const folder = workFolder();
  const { signal } = new AbortController();
  return {
    async slice() {
      for (let call = 0; call < CALLS; call++) {
        await readFileTool.run(INPUT, { cwd: folder, signal, progress: () => {} });
      }
      return CALLS;
    },
    close: () => rmSync(folder, { recursive: true }),
  };
}

/** A turn for each slice, with so many gates that answer in the next tick. Starting and ending it is not counted. */
async function gated(gates) {
  const { createHost, MemoryLog } = await loadHost();
  const { readFileTool } = await load('host/dist/workspace/tools/read-file.js');
  const folder = workFolder();
  const { agent, nextTurn } = handAgent();
  const extension = { id: 'gates', name: 'gates', gates: Array.from({ length: gates }, (_, index) => gate(index)) };
  const tools = [readFileTool];
  const host = await createHost({ log: new MemoryLog(), agents: [agent], tools, extensions: [extension] });
  const client = await InProcessClient.open(host);
  await client.createSession(SESSION, { workingDirectories: [pathToFileURL(folder).href] });
  let turns = 0;
  return {
    async slice() {
      client.startTurn(SESSION, `turn-${turns++}`);
      const { turn, end } = await nextTurn();
      const before = process.cpuUsage();
      for (let call = 0; call < CALLS; call++) {
        const outcome = await turn.callTool({ name: 'read_file', input: INPUT });
        if (!outcome.success) throw new Error('the call failed');
      }
      const { user, system } = process.cpuUsage(before);
      end();
      return { operations: CALLS, cpu: user + system };
    },
    async close() {
      await host.stop();
      rmSync(folder, { recursive: true });
    },
  };
}

function gate(index) {
  return { name: `gate ${index}`, concerns: () => true, check: async () => ({ kind: 'pass' }) };
}

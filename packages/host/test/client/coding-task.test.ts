/** A whole coding task: a model, real files, a real command, and two clients on real sockets. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Client, connect, type OpenSession } from '@atrium/client';
import type { ToolCallState } from '@atrium/protocol/ahp-1';
import { expect, it, onTestFinished } from 'vitest';
import { modelAgent } from '../../../agents/src/model/backend.js';
import { startServer } from '../../src/server/server.js';
import { builtinTools } from '../../src/workspace/tools/builtin.js';
import { ModelServer, type ServedAnswer } from '../support/model-server.js';
import { callsIn, startHost, textIn } from '../support/session-fixture.js';

const BROKEN =
  "const add = (a, b) => a - b;\nif (add(2, 2) !== 4) throw new Error('2 + 2 is ' + add(2, 2));\nconsole.log('ok');\n";

const ANSWERS: ServedAnswer[] = [
  { text: ['I read it first. '], calls: [{ name: 'read_file', input: { path: 'add.cjs' } }] },
  { calls: [{ name: 'edit_file', input: { path: 'add.cjs', oldText: 'a - b', newText: 'a + b' } }] },
  { calls: [{ name: 'shell', input: { command: 'node add.cjs' } }] },
  { text: ['Fixed: ', '`add` adds now, and its test says ok.'], usage: { input: 900, output: 60 } },
];

async function project(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'atrium-task-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(path.join(folder, 'add.cjs'), BROKEN);
  return folder;
}

/** A host on a port of this machine, with a model that says what it is told to. */
async function servedHost(): Promise<{ url: string; model: ModelServer }> {
  const model = await ModelServer.start(...ANSWERS);
  onTestFinished(() => model.stop());
  const models = [{ id: 'm-1', name: 'M 1' }];
  const options = { provider: 'model', displayName: 'Model', kind: 'openai-compatible', models, retries: 0 } as const;
  const { host } = await startHost({
    scripts: [],
    agents: [modelAgent({ ...options, baseURL: model.url })],
    tools: builtinTools(),
  });
  const server = await startServer({
    host: '127.0.0.1',
    policy: {},
    onConnection: (transport) => host.connect(transport),
  });
  onTestFinished(() => server.close());
  return { url: `ws://127.0.0.1:${server.port}`, model };
}

async function person(url: string, clientId: string): Promise<Client> {
  const client = await connect({ url, clientId });
  onTestFinished(() => client.close());
  return client;
}

/** Says yes to everything that is asked; tells what that was. */
function approveAll({ chat }: OpenSession): string[] {
  const asked: string[] = [];
  const seen = new Set<string>();
  chat.onChange(({ activeTurn }) => {
    for (const call of callsIn(activeTurn?.responseParts)) {
      if (call.status !== 'pending-confirmation' || seen.has(call.toolCallId)) continue;
      seen.add(call.toolCallId);
      asked.push(String(call.confirmationTitle));
      const target = { turnId: activeTurn?.id ?? '', toolCallId: call.toolCallId };
      void chat.dispatch({ type: 'chat/toolCallConfirmed', ...target, approved: true, confirmed: 'user-action' });
    }
  });
  return asked;
}

/** Every state of every call, as a client saw them go by. */
function watchCalls({ chat }: OpenSession): Map<string, ToolCallState['status'][]> {
  const seen = new Map<string, ToolCallState['status'][]>();
  chat.onChange(({ activeTurn }) => {
    for (const { toolName, status } of callsIn(activeTurn?.responseParts)) {
      const states = seen.get(toolName) ?? [];
      if (states.at(-1) !== status) seen.set(toolName, [...states, status]);
    }
  });
  return seen;
}

it('a model reads, edits with a yes, runs the test and reports; both clients end with the same state', async () => {
  const folder = await project();
  const { url, model } = await servedHost();
  const [client, phone] = [await person(url, 'desk'), await person(url, 'phone')];
  const uri = await client.createSession({ provider: 'model', workingDirectories: [pathToFileURL(folder).href] });
  const [mine, theirs] = [await client.open(uri), await phone.open(uri)];
  const asked = approveAll(theirs);
  const states = watchCalls(mine);
  const message = { text: 'Make add.cjs pass', origin: { kind: 'user' } } as const;
  await mine.dispatch({ type: 'chat/turnStarted', turnId: 't1', message });
  await expect.poll(() => mine.chat.confirmed.turns.length, { timeout: 20_000 }).toBe(1);
  await expect.poll(() => theirs.chat.confirmed.turns.length).toBe(1);

  const [turn] = mine.chat.confirmed.turns;
  expect(turn?.state).toBe('complete');
  expect(textIn(turn?.responseParts)).toBe('I read it first. Fixed: `add` adds now, and its test says ok.');
  expect(callsIn(turn?.responseParts)).toMatchObject([
    { toolName: 'read_file', status: 'completed', success: true, confirmed: 'not-needed' },
    { toolName: 'edit_file', status: 'completed', success: true, confirmed: 'user-action' },
    { toolName: 'shell', status: 'completed', success: true, confirmed: 'user-action' },
  ]);
  expect(asked).toEqual(['Edit add.cjs?', 'Run "node add.cjs"?']);
  expect(states.get('edit_file')?.slice(-3)).toEqual(['pending-confirmation', 'running', 'completed']);
  expect(await readFile(path.join(folder, 'add.cjs'), 'utf8')).toBe(BROKEN.replace('a - b', 'a + b'));
  // The model saw the file as it was, and what the command really said.
  expect(model.heard(1)).toContain('a - b');
  expect(model.heard(3)).toContain('ok\n[exit code 0]');
  await expect.poll(() => theirs.state).toEqual(mine.state);
  expect([...mine.session.pending, ...mine.chat.pending]).toEqual([]);
}, 30_000);

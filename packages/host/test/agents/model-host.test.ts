import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type ModelApi, modelAgent } from '../../../agents/src/model/backend.js';
import { PRELOAD_AFTER_MS } from '../../src/host.js';
import { builtinTools } from '../../src/workspace/tools/builtin.js';
import { FakeClock } from '../support/fake-clock.js';
import { ModelServer, type ServedAnswer } from '../support/model-server.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { callsIn, openPuppetFixture, startHost, stateOf, textIn, turnStarted } from '../support/session-fixture.js';
import { ROOT } from '../support/test-host.js';
import { echoTool } from '../support/tools.js';

async function folderWith(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'atrium-model-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
  return folder;
}

/** Two people around a session of a model that works in a folder. */
async function openProject(folder: string, answers: readonly ServedAnswer[]) {
  const server = await ModelServer.start(...answers);
  onTestFinished(() => server.stop());
  const models = [{ id: 'm-1', name: 'M 1' }];
  const options = { provider: 'model', displayName: 'Model', kind: 'openai-compatible', models, retries: 0 } as const;
  const agents = [modelAgent({ ...options, baseURL: server.url })];
  const host = await startHost({ scripts: [], agents, tools: builtinTools() });
  const client = await host.client('desk');
  const uri = await client.session(undefined, { provider: 'model', workingDirectory: pathToFileURL(folder).href });
  const phone = await host.client('phone');
  await phone.request('subscribe', { channel: uri });
  return { server, client, phone, uri };
}

describe('a coding task, with a model behind it', () => {
  it('shows the text of each answer of the model as a paragraph of its own', async () => {
    const { client, uri } = await openProject(await folderWith({}), [
      { calls: [{ name: 'list_files', input: {} }], text: ['Nothing ', 'here.'], callsFirst: true },
      { text: ['Done.'] },
    ]);
    client.dispatch(uri, turnStarted('t1', 'Look.'));
    await client.until(({ params }) => (params?.action as { type?: string })?.type === 'session/turnComplete');
    const parts = (await stateOf(client, uri)).turns[0]?.responseParts ?? [];
    const texts = parts.flatMap((part) => (part.kind === 'markdown' ? [part.content] : []));
    expect(texts).toEqual(['Nothing here.', 'Done.']);
  });

  it('lists, reads, runs a command that the second person approves, and reports', async () => {
    const folder = await folderWith({ 'greet.cjs': "console.log('hello ' + 6 * 7);\n", 'README.md': '# Greeter\n' });
    const { server, client, phone, uri } = await openProject(folder, [
      { reasoning: ['Look first.'], calls: [{ name: 'list_files', input: {} }] },
      { text: ['One script. '], calls: [{ name: 'read_file', input: { path: 'greet.cjs' } }] },
      { calls: [{ name: 'shell', input: { command: 'node greet.cjs' } }] },
      { text: ['It prints ', '**hello 42**.'], usage: { input: 900, output: 60 } },
    ]);
    client.dispatch(uri, turnStarted('t1', 'What does the script print?'));
    const { action } = await phone.action(
      uri,
      ({ type, ...more }) => type === 'session/toolCallReady' && 'options' in more,
    );
    expect(action.confirmationTitle).toContain('node greet.cjs');
    const approval = { type: 'session/toolCallConfirmed', approved: true, confirmed: 'user-action' };
    phone.dispatch(uri, { ...approval, turnId: 't1', toolCallId: action.toolCallId } as never);
    // A real command takes its time on a busy machine.
    await client.until(({ params }) => (params?.action as { type?: string })?.type === 'session/turnComplete', 15_000);

    const [turn] = (await stateOf(client, uri)).turns;
    expect(turn?.state).toBe('complete');
    expect(textIn(turn?.responseParts)).toBe('One script. It prints **hello 42**.');
    const calls = callsIn(turn?.responseParts).map(({ toolName, status }) => [toolName, status]);
    expect(calls).toEqual([
      ['list_files', 'completed'],
      ['read_file', 'completed'],
      ['shell', 'completed'],
    ]);
    expect(turn?.usage).toMatchObject({ inputTokens: 900, outputTokens: 60, model: 'm-1' });
    // The model saw what the tools really found.
    expect(server.requests.length).toBe(4);
    expect(server.heard(1)).toContain('greet.cjs');
    expect(server.heard(2)).toContain("console.log('hello ' + 6 * 7);");
    expect(server.heard(3)).toContain('hello 42');
    expect(server.heard(3)).toContain(folder);
    expect((await stateOf(phone, uri)).summary.title).toBe('What does the script print?');
  }, 20_000);
});

describe('the tools that a turn offers', () => {
  const taken = { name: 'echo', title: 'Not the one of the host' };

  it("are the host's, then the active client's, as they are now", async () => {
    const tools = [{ name: 'look', title: 'Look' }, taken];
    const fixture = await openPuppetFixture({
      tools: [echoTool('echo')],
      session: { activeClient: { clientId: 'desk', tools } },
    });
    const { turn } = fixture.puppet;
    expect(turn.tools()).toEqual([
      { name: 'echo' },
      { name: 'look', title: 'Look' },
      { ...taken, name: 'client_echo' },
    ]);
    fixture.client.dispatch(fixture.uri, { type: 'session/activeClientToolsChanged', tools: [{ name: 'see' }] });
    await fixture.client.action(fixture.uri, 'session/activeClientToolsChanged');
    expect(turn.tools().map(({ name }) => name)).toEqual(['echo', 'see']);
  });

  it("reach their owner under the name that they were offered by: a client's does not hide the host's", async () => {
    const echo = echoTool('echo');
    const fixture = await openPuppetFixture({
      tools: [echo],
      session: { activeClient: { clientId: 'desk', tools: [taken] } },
    });
    const outcome = fixture.puppet.turn.callTool({ id: 'c1', name: 'client_echo', input: {} });
    await fixture.client.action(fixture.uri, 'session/toolCallReady');
    const result = { success: true, pastTenseMessage: 'Did', content: [{ type: 'text' as const, text: 'by desk' }] };
    fixture.client.dispatch(fixture.uri, { type: 'session/toolCallComplete', turnId: 't1', toolCallId: 'c1', result });
    expect(await outcome).toMatchObject({ kind: 'completed', text: 'by desk' });
    expect(echo.runs).toEqual([]);
  });
});

describe('the AI SDK', () => {
  it('is not loaded by a host without a model: no module imports it but by type or on demand', async () => {
    const packages = fileURLToPath(new URL('../../..', import.meta.url));
    const sources = ['core', 'agents', 'host'].map((name) => path.join(packages, name, 'src'));
    const listed = await Promise.all(
      sources.map((source) => readdir(source, { recursive: true, withFileTypes: true })),
    );
    const files = listed.flat().filter(({ name }) => name.endsWith('.ts'));
    const texts = await Promise.all(files.map(({ parentPath, name }) => readFile(path.join(parentPath, name), 'utf8')));
    const eager = texts.flatMap(
      (text) => text.match(/^(?:import|export) (?!type)[^;]*?from '(?:ai|@ai-sdk\/[^']+)'/gm) ?? [],
    );
    expect(eager).toEqual([]);
    expect(texts.some((text) => text.includes("import('@ai-sdk/openai')"))).toBe(true);
    // Its providers are enough.
    expect(texts.filter((text) => text.includes("import('ai')"))).toEqual([]);
  });
});

describe('what the turns of an agent need', () => {
  const preloading = (preload: () => Promise<void>) => Object.assign(new PuppetAgent('lazy'), { preload });

  it('[REL-081] is loaded once the host has started, one agent after the other, also when one of them cannot be', async () => {
    const clock = new FakeClock();
    const logger = { log: vi.fn() };
    const first = vi.fn().mockRejectedValue(new Error('gone'));
    const second = vi.fn().mockResolvedValue(undefined);
    await startHost({ clock, logger, agents: [first, second].map((preload) => preloading(preload)) });
    await clock.advance(PRELOAD_AFTER_MS - 1);
    expect(first).not.toHaveBeenCalled();
    await clock.advance(1);
    expect([first.mock.calls, second.mock.calls]).toEqual([[[]], [[]]]);
    expect(logger.log).toHaveBeenCalledWith(
      'warn',
      'an agent could not be loaded',
      expect.objectContaining({ provider: 'lazy' }),
    );
  });

  it('[REL-081] is not loaded by a host that has stopped', async () => {
    const clock = new FakeClock();
    const preload = vi.fn().mockResolvedValue(undefined);
    const host = await startHost({ clock, agents: [preloading(preload)] });
    await host.stop();
    await clock.advance(PRELOAD_AFTER_MS);
    expect(preload).not.toHaveBeenCalled();
  });

  /** An agent around a model, and what becomes of its stand-in. */
  async function warmableAgent() {
    const server = await ModelServer.start();
    onTestFinished(() => server.stop());
    const real = modelAgent({
      ...{ provider: 'model', displayName: 'Model', kind: 'openai-compatible', baseURL: server.url },
      ...{ models: [{ id: 'm-1', name: 'M 1' }], apiKey: 'secret', headers: { 'x-secret': 'secret' } },
    });
    const played: string[] = [];
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const standIn = vi.fn(async () => {
      const standIn = await real.standIn?.();
      if (!standIn) throw new Error('it has none');
      const open: typeof standIn.agent.open = async (context) => {
        const session = await standIn.agent.open(context);
        const runTurn: typeof session.runTurn = (turn) => session.runTurn(turn).then(() => void played.push(turn.id));
        return { runTurn, close: () => session.close() };
      };
      const close = () => {
        standIn.close();
        end();
      };
      return { agent: { ...standIn.agent, open }, close };
    });
    return { agent: { ...real, standIn }, standIn, server, played, ended };
  }

  it('[REL-081] is tried in memory, with a model that knows no key and no address, and leaves nothing behind', async () => {
    const clock = new FakeClock();
    const { agent, server, played, ended } = await warmableAgent();
    const logger = { log: vi.fn() };
    const host = await startHost({ clock, logger, scripts: [], agents: [agent] });
    const client = await host.client('desk');
    await clock.advance(PRELOAD_AFTER_MS);
    await ended;
    expect(played).toEqual(['turn-1', 'turn-2', 'turn-3']);
    expect(server.requests).toEqual([]);
    expect(await client.request('listSessions', { channel: ROOT })).toMatchObject({ items: [] });
    expect(logger.log).not.toHaveBeenCalledWith('warn', expect.anything(), expect.anything());
  });

  it('[REL-081] is not tried where somebody is at work', async () => {
    const clock = new FakeClock();
    const { agent, standIn } = await warmableAgent();
    const puppet = new PuppetAgent('puppet');
    const host = await startHost({ clock, scripts: [], agents: [puppet, agent] });
    const client = await host.client('desk');
    const uri = await client.session(undefined, { provider: 'puppet' });
    client.dispatch(uri, turnStarted('t1', 'go'));
    await puppet.turn(0);
    await clock.advance(PRELOAD_AFTER_MS);
    await agent.preload?.();
    await new Promise(setImmediate);
    expect(standIn).not.toHaveBeenCalled();
  });

  it.each<ModelApi>(['openai-compatible', 'openai', 'anthropic'])(
    '[REL-081] can be loaded ahead (%s)',
    async (kind) => {
      const models = [{ id: 'm-1', name: 'M 1' }];
      const agent = modelAgent({ provider: 'm', displayName: 'M', kind, models, baseURL: 'http://127.0.0.1:1/v1' });
      await expect(agent.preload?.()).resolves.toBeUndefined();
    },
  );
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { copilotAgent } from '../../src/agents/copilot/copilot-agent.js';
import { runtimeEnvironment } from '../../src/agents/copilot/environment.js';
import { loadSdk } from '../../src/agents/copilot/sdk.js';
import { copilotUnderTest, hasCopilot, WHY_SKIPPED } from '../support/copilot-agent.js';
import { CopilotRoom, WAIT_MAX_MS } from '../support/copilot-room.js';
import { openSession } from '../support/fake-turn.js';
import { ModelServer } from '../support/model-server.js';
import { textIn } from '../support/session-room.js';
import { tempFolder } from '../support/temp-folder.js';

const text = (said: string) => ({ text: [said] });
const knownOf = (room: CopilotRoom, ...words: string[]) => words.filter((word) => room.heard().includes(word));

describe.skipIf(!hasCopilot)(`a Copilot session${WHY_SKIPPED}`, { timeout: 2 * WAIT_MAX_MS }, () => {
  it('goes on after the host was started anew, tool results and all', async () => {
    const view = { calls: [{ name: 'view', input: { path: 'a.txt' } }] };
    const room = await CopilotRoom.open([view, text('Plums.'), text('Still plums.')], { files: { 'a.txt': 'plums!' } });
    await room.turn('what is in a.txt?');
    await room.stop();
    expect(await room.copilot.pids()).toEqual([]);
    await room.restart();
    const turn = await room.turn('and now?');
    expect(textIn(turn.responseParts)).toBe('Still plums.');
    const words = ['what is in a.txt?', 'plums!', 'Plums.', 'and now?'];
    expect(knownOf(room, ...words)).toEqual(words);
    expect(room.heard()).not.toContain('Earlier in this session');
  });

  it('is told again what was said when its files are gone, and people are told that', async () => {
    const room = await CopilotRoom.open([text('A plum.'), text('It was a plum.')]);
    await room.turn('which fruit?');
    await room.stop();
    await rm(path.join(room.copilot.home, 'session-state'), { recursive: true });
    await room.restart();
    const turn = await room.turn('which was it?');
    expect(knownOf(room, 'Person: which fruit?', 'You: A plum.')).toEqual(['Person: which fruit?', 'You: A plum.']);
    expect(JSON.stringify(turn.responseParts)).toContain('told again');
    expect((await room.state()).summary.title).toBe('which fruit?');
  });

  it('begins with nothing when the host knows nothing of a session that had its name', async () => {
    const room = await CopilotRoom.open([text('A plum.'), text('No idea.')]);
    await room.turn('which fruit?');
    await room.startOver();
    await room.turn('which was it?');
    expect(knownOf(room, 'which fruit?', 'A plum.')).toEqual([]);
  });

  it('forgets what was cut off also after a restart', async () => {
    const room = await CopilotRoom.open([text('A plum.'), text('A walnut.'), text('Yes.')]);
    const { id } = await room.turn('which fruit?');
    await room.turn('which nut?');
    await room.restart();
    room.dispatch({ type: 'session/truncated', turnId: id });
    const turn = await room.turn('is it?');
    expect(JSON.stringify(turn.responseParts)).not.toContain('told again');
    expect(knownOf(room, 'which fruit?', 'A plum.', 'which nut?', 'A walnut.')).toEqual(['which fruit?', 'A plum.']);
  });

  it('survives the death of the runtime: the turn fails, the next one goes on', async () => {
    const room = await CopilotRoom.open([text('A plum.'), { text: ['well'], ending: 'hang' }, text('Still a plum.')]);
    await room.turn('which fruit?');
    const turnId = room.begin('sure?');
    await room.action(({ type, content }) => type === 'session/delta' && content === 'well');
    for (const pid of await room.copilot.pids()) process.kill(pid, 'SIGKILL');
    const { state, error } = await room.finished(turnId);
    expect([state, error?.errorType]).toEqual(['error', 'other']);
    expect(textIn((await room.turn('and now?')).responseParts)).toBe('Still a plum.');
    expect(knownOf(room, 'which fruit?', 'A plum.')).toEqual(['which fruit?', 'A plum.']);
  });

  it('is not held up by a runtime that does not react: it is killed, and the next turn goes on', async () => {
    const room = await CopilotRoom.open([text('A plum.'), { text: ['well'], ending: 'hang' }, text('Still a plum.')]);
    await room.turn('which fruit?');
    const turnId = room.begin('sure?');
    await room.action(({ type, content }) => type === 'session/delta' && content === 'well');
    const frozen = await room.copilot.pids();
    for (const pid of frozen) process.kill(pid, 'SIGSTOP');
    room.dispatch({ type: 'session/turnCancelled', turnId });
    expect(textIn((await room.turn('and now?')).responseParts)).toBe('Still a plum.');
    expect((await room.copilot.pids()).filter((pid) => frozen.includes(pid))).toEqual([]);
  });

  it('takes the next turn when one is cancelled at once', async () => {
    const room = await CopilotRoom.open([text('One.'), text('Two.')]);
    const turnId = room.begin('first');
    room.dispatch({ type: 'session/turnCancelled', turnId });
    const turn = await room.turn('second');
    expect([turn.state, textIn(turn.responseParts)]).toEqual(['complete', expect.stringMatching(/^(One|Two)\.$/)]);
    expect(room.heard()).toContain('second');
  });

  it('reaches nothing but its model server', async () => {
    const asked: string[] = [];
    const proxy = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.writeHead(502).end();
    });
    proxy.on('connect', (request, socket) => {
      asked.push(request.url ?? '');
      socket.end();
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void proxy.close());
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const env = { HTTP_PROXY: url, HTTPS_PROXY: url, http_proxy: url, https_proxy: url, NO_PROXY: '127.0.0.1' };
    const room = await CopilotRoom.open([text('A plum.')], { agent: { env } });
    await room.turn('which fruit?');
    expect(asked).toEqual([]);
    // The proxy would have seen it: a server elsewhere is asked for through it.
    const providerConfig = { type: 'openai', baseUrl: 'http://model.invalid/v1' } as const;
    const elsewhere = await CopilotRoom.open([], { agent: { env, providerConfig } });
    await elsewhere.turn('which fruit?');
    expect(asked).toEqual(['http://model.invalid/v1/chat/completions']);
  });

  it('ends its runtime when the host dies without a word', async () => {
    const { home, server, pids, close } = await copilotUnderTest([]);
    onTestFinished(close);
    const program = fileURLToPath(new URL('../support/copilot-child.ts', import.meta.url));
    const child = spawn(process.execPath, ['--import', 'tsx', program, home, server.url], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    expect((await pids()).length).toBe(1);
    child.kill('SIGKILL');
    await expect.poll(pids, { timeout: 5_000 }).toEqual([]);
  });

  it('shares one runtime with the others, which ends with the last of them', async () => {
    const { agent, pids, close } = await copilotUnderTest([]);
    onTestFinished(close);
    const [first, second] = [
      await openSession(agent),
      await agent.open({ ...(await contextOf()), session: 'ahp-session:/2' }),
    ];
    expect((await pids()).length).toBe(1);
    await first.close();
    expect((await pids()).length).toBe(1);
    await second.close();
    await expect.poll(pids).toEqual([]);
  });

  it('uses the model that was chosen', async () => {
    const room = await CopilotRoom.open([text('one'), text('two')]);
    await room.turn('one');
    room.dispatch({ type: 'session/modelChanged', model: { id: 'm-2' } });
    await room.turn('two');
    const models = room.copilot.server.requests.map(({ body }) => body.model);
    expect(models).toEqual(['m-1', 'm-2']);
  });

  for (const wire of ['completions', 'responses', 'anthropic'] as const) {
    it(`works with a model server that speaks ${wire}`, async () => {
      const server = await ModelServer.start(
        { reasoning: ['Hm.'], calls: [{ name: 'view', input: { path: 'a.txt' } }], usage: { input: 20, output: 5 } },
        { text: ['Pl', 'ums.'], usage: { input: 30, output: 2 } },
      );
      onTestFinished(() => server.stop());
      const openai = { type: 'openai', baseUrl: server.url, apiKey: 'none' } as const;
      const anthropic = { type: 'anthropic', baseUrl: server.url.replace(/\/v1$/, ''), apiKey: 'none' } as const;
      const providerConfig = wire === 'anthropic' ? anthropic : { ...openai, wireApi: wire };
      const room = await CopilotRoom.open([], { files: { 'a.txt': 'plums!' }, agent: { providerConfig } });
      const turn = await room.turn('what is in a.txt?');
      expect(turn.responseParts.map(({ kind }) => kind)).toEqual(['reasoning', 'toolCall', 'markdown']);
      expect(textIn(turn.responseParts)).toBe('Plums.');
      expect(turn.usage).toMatchObject({ inputTokens: 50, outputTokens: 7, model: 'm-1' });
      expect(server.heard()).toContain('plums!');
    });
  }

  it('cannot begin without a login, and says how to log in', async () => {
    const home = await tempFolder();
    const env = { GH_TOKEN: '', GITHUB_TOKEN: '', COPILOT_GITHUB_TOKEN: '', HOME: home, XDG_CONFIG_HOME: home };
    const agent = copilotAgent({ home, env });
    await expect(openSession(agent)).rejects.toMatchObject({
      errorType: 'auth',
      message: expect.stringContaining('copilot login'),
    });
  });
});

async function contextOf() {
  const nothing = { get: () => undefined, set: () => {} };
  const { signal } = new AbortController();
  return { workingDirectory: undefined, signal, history: async () => [], memory: nothing };
}

describe('the Copilot agent', () => {
  const providerConfig = { baseUrl: 'http://127.0.0.1:1/v1' };

  it('says what to install when the SDK is missing', async () => {
    await expect(loadSdk('@github/no-such-sdk')).rejects.toMatchObject({
      errorType: 'agent-missing',
      message: expect.stringContaining('npm install @github/copilot-sdk'),
    });
  });

  it('wants to know the models of a server of one’s own', () => {
    expect(() => copilotAgent({ home: '/nowhere', providerConfig })).toThrow('needs models');
  });

  it("keeps GitHub's keys from a runtime that works with another server", () => {
    const host = { PATH: '/bin', GH_TOKEN: 'a', GITHUB_TOKEN: 'b', COPILOT_GITHUB_TOKEN: 'c' };
    const own = runtimeEnvironment(host, { home: '/h', providerConfig, env: { X: '1' } });
    expect(own).toEqual({ PATH: '/bin', COPILOT_OFFLINE: 'true', X: '1' });
    expect(runtimeEnvironment(host, { home: '/h' })).toEqual(host);
  });
});

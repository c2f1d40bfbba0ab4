import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { copilotAgent } from '../../../agents/src/copilot/backend.js';
import { runtimeEnvironment } from '../../../agents/src/copilot/runtime.js';
import { loadSdk } from '../../../agents/src/copilot/sdk.js';
import { hasCopilot, WHY_SKIPPED } from '../support/copilot-agent.js';
import { CopilotFixture, WAIT_MAX_MS } from '../support/copilot-fixture.js';
import { openSession } from '../support/fake-turn.js';
import { ModelServer } from '../support/model-server.js';
import { textIn } from '../support/session-fixture.js';
import { tempFolder } from '../support/temp-folder.js';

const text = (said: string) => ({ text: [said] });

describe.skipIf(!hasCopilot)(`Copilot's model${WHY_SKIPPED}`, { timeout: 2 * WAIT_MAX_MS }, () => {
  it('is the one that was chosen', async () => {
    const fixture = await CopilotFixture.open([text('one'), text('two')]);
    await fixture.turn('one');
    fixture.dispatch({ type: 'session/modelChanged', model: { id: 'm-2' } });
    await fixture.turn('two');
    const models = fixture.copilot.server.requests.map(({ body }) => body.model);
    expect(models).toEqual(['m-1', 'm-2']);
  });

  for (const wire of ['completions', 'responses', 'anthropic'] as const) {
    it(`may be that of a server that speaks ${wire}`, async () => {
      const server = await ModelServer.start(
        { reasoning: ['Hm.'], calls: [{ name: 'view', input: { path: 'a.txt' } }], usage: { input: 20, output: 5 } },
        { text: ['Pl', 'ums.'], usage: { input: 30, output: 2 } },
      );
      onTestFinished(() => server.stop());
      const openai = { type: 'openai', baseUrl: server.url, apiKey: 'none' } as const;
      const anthropic = { type: 'anthropic', baseUrl: server.url.replace(/\/v1$/, ''), apiKey: 'none' } as const;
      const providerConfig = wire === 'anthropic' ? anthropic : { ...openai, wireApi: wire };
      const fixture = await CopilotFixture.open([], { files: { 'a.txt': 'plums!' }, agent: { providerConfig } });
      const turn = await fixture.turn('what is in a.txt?');
      expect(turn.responseParts.map(({ kind }) => kind)).toEqual(['reasoning', 'toolCall', 'markdown']);
      expect(textIn(turn.responseParts)).toBe('Plums.');
      expect(turn.usage).toMatchObject({ inputTokens: 50, outputTokens: 7, model: 'm-1' });
      expect(server.heard()).toContain('plums!');
    });
  }

  it('is all that is reached', async () => {
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
    const fixture = await CopilotFixture.open([text('A plum.')], { agent: { env } });
    await fixture.turn('which fruit?');
    expect(asked).toEqual([]);
    // The proxy would have seen it: a server elsewhere is asked for through it.
    const providerConfig = { type: 'openai', baseUrl: 'http://model.invalid/v1' } as const;
    const elsewhere = await CopilotFixture.open([], { agent: { env, providerConfig } });
    await elsewhere.turn('which fruit?');
    expect(asked).toEqual(['http://model.invalid/v1/chat/completions']);
  });

  it("needs a login when it is GitHub's, and says how to log in", async () => {
    const home = await tempFolder();
    const env = { GH_TOKEN: '', GITHUB_TOKEN: '', COPILOT_GITHUB_TOKEN: '', HOME: home, XDG_CONFIG_HOME: home };
    const agent = copilotAgent({ home, env });
    await expect(openSession(agent)).rejects.toMatchObject({
      errorType: 'auth',
      message: expect.stringContaining('copilot login'),
    });
  });
});

describe('the Copilot agent', () => {
  const providerConfig = { baseUrl: 'http://127.0.0.1:1/v1' };

  it('says what to install when the SDK is missing', async () => {
    await expect(loadSdk('@github/no-such-sdk')).rejects.toMatchObject({
      errorType: 'agent-missing',
      message: expect.stringContaining('npm install @github/copilot-sdk'),
    });
  });

  it('wants to know the models of a server that is not GitHub', () => {
    expect(() => copilotAgent({ home: '/nowhere', providerConfig })).toThrow('needs models');
  });

  it("keeps GitHub's keys from a runtime that works with another server", () => {
    const host = { PATH: '/bin', GH_TOKEN: 'a', GITHUB_TOKEN: 'b', COPILOT_GITHUB_TOKEN: 'c' };
    const own = runtimeEnvironment(host, { home: '/h', providerConfig, env: { X: '1' } });
    expect(own).toEqual({ PATH: '/bin', COPILOT_OFFLINE: 'true', X: '1' });
    expect(runtimeEnvironment(host, { home: '/h' })).toEqual(host);
  });
});

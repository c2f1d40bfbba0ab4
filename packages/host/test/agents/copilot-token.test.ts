/** Tokens that clients show for GitHub: asked for where they are needed, taken when GitHub takes them, told to nobody. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MemoryLog } from '@atrium/core/log/memory-log.js';
import type { RootState } from '@atrium/protocol';
import { describe, expect, it, onTestFinished } from 'vitest';
import { copilotAgent, protectedResources } from '../../../agents/src/copilot/backend.js';
import { sessionConfig } from '../../../agents/src/copilot/connection.js';
import { CopilotPrompt } from '../../../agents/src/copilot/prompt.js';
import { CopilotRuntime } from '../../../agents/src/copilot/runtime.js';
import type { ClientOptions, CopilotSdk, SdkClient } from '../../../agents/src/copilot/sdk.js';
import { createHost } from '../../src/host.js';
import { hasCopilot, WHY_SKIPPED } from '../support/copilot-agent.js';
import { openSession } from '../support/fake-turn.js';
import { tempFolder } from '../support/temp-folder.js';
import { RawClient, ROOT } from '../support/test-host.js';

const GITHUB = 'https://api.github.com';

/** A runtime that takes tokens that begin with "good", and says what it was started with. */
function standIn(isLoggedIn = false) {
  const started: ClientOptions[] = [];
  const stopped: ClientOptions[] = [];
  class Client implements Partial<SdkClient> {
    constructor(private readonly options: ClientOptions) {}
    async start() {
      started.push(this.options);
      if (this.options.gitHubToken === 'broken') throw new Error('cannot start with broken');
    }
    async stop() {
      stopped.push(this.options);
    }
    async forceStop() {
      stopped.push(this.options);
    }
    async ping() {}
    async getAuthStatus() {
      const { gitHubToken, useLoggedInUser } = this.options;
      return { isAuthenticated: gitHubToken?.startsWith('good') ?? (useLoggedInUser && isLoggedIn) };
    }
  }
  const sdk = { CopilotClient: Client } as unknown as CopilotSdk;
  return { started, stopped, load: async () => sdk };
}

const tokens = (options: readonly ClientOptions[]) => options.map(({ gitHubToken }) => gitHubToken);

async function runtimeWith(standIn_: ReturnType<typeof standIn>, options: object = {}) {
  return new CopilotRuntime({ home: await tempFolder(), ...options }, standIn_.load);
}

describe('what Copilot wants a token for', () => {
  const wanted = (options: object, host: Record<string, string> = {}) =>
    protectedResources({ home: '/h', ...options }, host).map(({ required }) => required);

  it('[AHP-211] is GitHub, unless it works with a model server of its own', () => {
    expect(protectedResources({ home: '/h' }, {})).toEqual([
      {
        resource: GITHUB,
        resource_name: 'GitHub',
        authorization_servers: ['https://github.com/login/oauth'],
        scopes_supported: ['read:user'],
        required: false,
      },
    ]);
    expect(wanted({ providerConfig: { baseUrl: 'http://127.0.0.1:1/v1' } })).toEqual([]);
  });

  it('[AHP-211] is needed only where nothing else may serve', () => {
    expect(wanted({})).toEqual([false]);
    expect(wanted({ useLoggedInUser: false })).toEqual([true]);
    expect(wanted({ useLoggedInUser: false, gitHubToken: 'x' })).toEqual([false]);
    expect(wanted({ useLoggedInUser: false }, { GH_TOKEN: 'x' })).toEqual([false]);
    expect(wanted({ useLoggedInUser: false, env: { GH_TOKEN: '' } }, { GH_TOKEN: 'x' })).toEqual([true]);
  });
});

describe('a token for Copilot', () => {
  it('goes to sessions from the next start on, and not to the runtime, whose commands could read it', async () => {
    const sdk = standIn();
    const runtime = await runtimeWith(sdk);
    runtime.join();
    await expect(runtime.client()).rejects.toMatchObject({ errorType: 'auth' });
    await runtime.authenticate('good-1');
    await runtime.client();
    expect(tokens(sdk.started)).toEqual([undefined, 'good-1', undefined]);
    // It was tried without any other login that could step in for it.
    expect(sdk.started.map(({ useLoggedInUser }) => useLoggedInUser)).toEqual([true, false, true]);
    expect(JSON.stringify(sdk.started[2])).not.toContain('good-1');
    const side = { options: { home: '/h' }, folder: '/f', prompt: new CopilotPrompt(), turn: () => undefined };
    const chosen = { model: undefined, tools: new Map(), hidden: [], further: [] };
    expect(sessionConfig(side, { ...chosen, gitHubToken: runtime.token }).gitHubToken).toBe('good-1');
    expect('gitHubToken' in sessionConfig(side, chosen)).toBe(false);
    await runtime.release();
    expect(sdk.stopped).toHaveLength(3);
  });

  it('[AHP-040] that GitHub does not take is refused, and changes nothing', async () => {
    const sdk = standIn(true);
    const runtime = await runtimeWith(sdk);
    runtime.join();
    const before = await runtime.client();
    await expect(runtime.authenticate('bad')).rejects.toMatchObject({ errorType: 'auth' });
    expect(await runtime.client()).toBe(before);
    await expect(runtime.authenticate('broken')).rejects.toThrow('cannot start with [hidden]');
    await runtime.release();
  });

  it('restarts a runtime that does nothing, and waits for one that is at work', async () => {
    const sdk = standIn();
    const runtime = await runtimeWith(sdk, { gitHubToken: 'good-own' });
    runtime.join();
    const first = await runtime.client();
    let finish = () => {};
    const turn = runtime.during(() => new Promise<void>((resolve) => (finish = resolve)));
    await runtime.authenticate('good-1');
    expect(await runtime.client()).toBe(first);
    finish();
    await turn;
    const second = await runtime.client();
    expect(second).not.toBe(first);
    await runtime.authenticate('good-2');
    expect(await runtime.client()).not.toBe(second);
    expect(tokens(sdk.started)).toEqual(['good-own', 'good-1', 'good-own', 'good-2', 'good-own']);
    // Each was stopped before the next one began: two would be in each other's files.
    expect(tokens(sdk.stopped)).toEqual(['good-1', 'good-own', 'good-2', 'good-own']);
    await runtime.release();
    expect(sdk.stopped).toHaveLength(sdk.started.length);
  });
});

describe.skipIf(!hasCopilot)(`the real Copilot${WHY_SKIPPED}`, { timeout: 40_000 }, () => {
  it('[AHP-045] [AHP-213] asks for a token, tries it at GitHub, and tells nobody', async () => {
    const asked: string[] = [];
    const proxy = createServer();
    proxy.on('connect', (request, socket) => {
      asked.push(request.url ?? '');
      socket.end();
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void proxy.close());
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const home = await tempFolder();
    const none = { GH_TOKEN: '', GITHUB_TOKEN: '', COPILOT_GITHUB_TOKEN: '', HOME: home, XDG_CONFIG_HOME: home };
    const env = { ...none, HTTPS_PROXY: url, https_proxy: url, HTTP_PROXY: url, http_proxy: url, NO_PROXY: '' };
    const agent = copilotAgent({ home, env, useLoggedInUser: false });
    const logged: unknown[] = [];
    const logger = { log: (...entry: unknown[]) => void logged.push(entry) };
    const host = await createHost({ log: new MemoryLog(), agents: [agent], logger });
    onTestFinished(() => host.stop());
    const client = new RawClient();
    host.connect(client.transport);
    const { snapshots } = await client.initialize('desk');
    const [root] = snapshots as { state: RootState }[];
    expect(root?.state.agents[0]?.protectedResources).toMatchObject([{ resource: GITHUB, required: true }]);
    const { error } = await client.ask('createSession', { channel: 'ahp-session:/a' });
    expect(error).toMatchObject({ code: -32007, data: { resources: [{ resource: GITHUB }] } });
    expect(asked).toEqual([]);
    const token = 'ghp_verysecret0123456789verysecret012345';
    const refused = await client.ask('authenticate', { channel: ROOT, resource: GITHUB, token });
    expect(refused.error).toMatchObject({ code: -32007, data: { resources: [{ resource: GITHUB }] } });
    expect(asked).toContain('api.github.com:443');
    expect(JSON.stringify([logged, client.received])).not.toContain('verysecret');
    await expect(openSession(agent)).rejects.toMatchObject({ errorType: 'auth' });
  });
});

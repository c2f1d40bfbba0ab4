/** Parts of 1.0 that this host does not have: a client can tell, and nothing is half there. */
import type { SessionState } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { chatState, nativeClient, nativeSession } from '../../support/native-client.js';
import { PuppetAgent } from '../../support/puppet-agent.js';
import { startHost } from '../../support/session-fixture.js';

describe('what is left out', () => {
  it('[UP-052] the MCP side channel has no name, no methods, and is not offered to clients with apps', async () => {
    const host = await startHost({ agents: [new PuppetAgent()] });
    const client = await nativeClient(host, 'desk', { capabilities: { mcpApps: {} } });
    const { uri } = await nativeSession(client, { provider: 'puppet' });
    expect((await client.ask('subscribe', { channel: 'mcp:notes' })).error?.code).toBeLessThan(-32000);
    for (const method of ['tools/list', 'tools/call', 'resources/read', 'sampling/createMessage', 'logging/setLevel'])
      expect((await client.ask(method, { channel: 'mcp:notes' })).error?.code).toBe(-32601);
    expect(JSON.stringify(await client.state<SessionState>(uri))).not.toMatch(/mcpApp|"channel":"mcp:/);
  });

  it('[UP-021] [UP-045] canvases and movable chats are not said of any chat', async () => {
    const host = await startHost({ agents: [new PuppetAgent()] });
    const client = await nativeClient(host, 'desk');
    const { chat } = await nativeSession(client, { provider: 'puppet' });
    const state = await chatState(client, chat);
    expect(state).not.toHaveProperty('canvases');
    expect(state.movable ?? false).toBe(false);
    expect((await client.ask('subscribe', { channel: 'ahp-canvas:/x' })).error?.code).toBeLessThan(-32000);
    const destination = { kind: 'newSession' };
    expect((await client.ask('moveChat', { channel: chat, destination, requestId: 'r' })).error?.code).toBe(-32601);
  });
});

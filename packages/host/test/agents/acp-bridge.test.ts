import type { AgentTurn } from '@atrium/core/contracts/agent.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BRIDGE_BODY_MAX_BYTES, isBridgedCall, ToolBridge } from '../../../agents/src/acp/tool-bridge.js';
import { completed, FakeTurn } from '../support/fake-turn.js';

const tools = [
  { name: 'note', description: 'Notes a text.', inputSchema: { type: 'object' as const, properties: {} } },
];

async function started(turn: () => AgentTurn | undefined) {
  const bridge = await ToolBridge.start({ turn });
  onTestFinished(() => bridge.close());
  const address = bridge.addressAt(bridge.port);
  if (!('url' in address)) throw new Error('the bridge speaks HTTP');
  const headers = Object.fromEntries(address.headers.map(({ name, value }) => [name, value]));
  const connect = async () => {
    const client = new Client({ name: 'orchard', version: '1.0.0' });
    await client.connect(new StreamableHTTPClientTransport(new URL(address.url), { requestInit: { headers } }));
    onTestFinished(() => client.close());
    return client;
  };
  return { bridge, url: address.url, headers, connect };
}

describe('the bridge to the tools of the host', () => {
  it('[UNI-087] lists the tools of the turn, and hands calls to it with what comes of them', async () => {
    const turn = new FakeTurn('hello', {
      tools,
      callTool: async ({ input }) => completed(`noted ${JSON.stringify(input)}`),
    });
    const client = await (await started(() => turn)).connect();
    expect((await client.listTools()).tools).toMatchObject([{ name: 'note', description: 'Notes a text.' }]);
    const { content, isError } = await client.callTool({ name: 'note', arguments: { text: 'plums' } });
    expect([content, isError]).toEqual([[{ type: 'text', text: 'noted {"text":"plums"}' }], false]);
  });

  it('[UNI-089] tells why a call was denied', async () => {
    const turn = new FakeTurn('hello', {
      tools,
      callTool: async () => ({ kind: 'denied', reason: 'not on a Sunday' }),
    });
    const client = await (await started(() => turn)).connect();
    const { content, isError } = await client.callTool({ name: 'note', arguments: {} });
    expect([content, isError]).toEqual([[{ type: 'text', text: 'The call was denied: not on a Sunday' }], true]);
  });

  it('runs nothing between two turns, but still knows the tools', async () => {
    let turn: AgentTurn | undefined = new FakeTurn('hello', { tools });
    const client = await (await started(() => turn)).connect();
    await client.listTools();
    turn = undefined;
    expect((await client.listTools()).tools).toHaveLength(1);
    expect((await client.callTool({ name: 'note', arguments: {} })).isError).toBe(true);
  });

  it('answers nobody without the token, and nothing but what it is for', async () => {
    const { url, headers } = await started(() => undefined);
    const status = async (init: RequestInit, address = url) => (await fetch(address, init)).status;
    const post = { method: 'POST', body: '{}', headers: { ...headers, 'Content-Type': 'application/json' } };
    expect(await status({ method: 'POST', body: '{}' })).toBe(401);
    expect(await status({ ...post, headers: { Authorization: 'Bearer wrong' } })).toBe(401);
    expect(await status({ headers })).toBe(405);
    expect(await status(post, `${url}/other`)).toBe(404);
    expect(await status({ ...post, body: 'no JSON' })).toBe(406);
    const long = await status({ ...post, body: ' '.repeat(BRIDGE_BODY_MAX_BYTES + 1) }).catch(() => 'hung up');
    expect([413, 'hung up']).toContain(long);
  });
});

describe('calls that the host shows itself', () => {
  const isBridged = (title: string, kind?: string) =>
    isBridgedCall({ toolCallId: 'c', title, ...(kind && { kind }) }, ['note', 'find']);

  it('are known by the whole name, as agents write it', () => {
    for (const title of ['mcp__atrium__note', 'atrium/find', 'Tool: atrium/note', 'note (atrium MCP Server)']) {
      expect(isBridged(title), title).toBe(true);
    }
    expect(isBridged('mcp__atrium__note', 'other')).toBe(true);
  });

  it('are not known by a part of a name, nor where it is a command', () => {
    expect(isBridged('cat atrium/note')).toBe(false);
    expect(isBridged('atrium/notes')).toBe(false);
    expect(isBridged('note')).toBe(false);
    expect(isBridged('atrium/note', 'execute')).toBe(false);
  });

  it('may be called by the tool alone once both were named', () => {
    expect(isBridgedCall({ toolCallId: 'c', title: 'note', kind: 'other' }, ['note'], true)).toBe(true);
    expect(isBridgedCall({ toolCallId: 'c', title: 'note', kind: 'execute' }, ['note'], true)).toBe(false);
    expect(isBridgedCall({ toolCallId: 'c', title: 'rm note', kind: 'other' }, ['note'], true)).toBe(false);
  });
});

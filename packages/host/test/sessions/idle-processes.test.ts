import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { PROCESSES_IDLE_MS } from '@atrium/core/sessions/limits.js';
import type { SessionState } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { STOP_GRACE_MS } from '../../src/gateway/project/provider-process.js';
import { type FolderTrust, NO_TRUST } from '../../src/plugins/trust/folder-trust.js';
import { MCP_PROGRAM, openCustomFixture, POLL, PromptPuppet } from '../support/custom-fixture.js';
import { FakeClock } from '../support/fake-clock.js';
import { openGateway, TRUSTING, until } from '../support/gateway-connections.js';
import { McpClock } from '../support/mcp-clock.js';
import { isAlive } from '../support/mcp-fixture.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { envelopesOf, openFixture, startHost, stateOf, turnStarted } from '../support/session-fixture.js';
import { tempFolder } from '../support/temp-folder.js';

const SOCKETS = createRequire(import.meta.url).resolve('ws');

/** Says who it is: the name of its process is what `echo` of this server tells. */
const mcpServer = (file: string) => ({ command: process.execPath, args: [MCP_PROGRAM, 'counted', file] });

/** A provider with one tool and a gate in front of `guarded`, which writes down each start. */
const PROVIDER = `
const fs = require('node:fs');
const WebSocket = require(process.argv[2]);
fs.appendFileSync('provider-starts', process.pid + '\\n');
const socket = new WebSocket(process.env.TAP_GATEWAY_URL);
const send = (message) => socket.send(JSON.stringify(message));
socket.onopen = () => send({ type: 'auth', token: process.env.TAP_PROVIDER_TOKEN });
socket.onmessage = ({ data }) => {
  const message = JSON.parse(data);
  if (message.type === 'sessions') send({ type: 'hello', name: 'ci', protocolVersion: 2,
    tools: [{ name: 'ci_status', description: 'CI', parameters: {} }] });
  if (message.type === 'tool.call') send({ type: 'tool.result', callId: message.callId, data: 'green' });
};
`;

function pidsIn(file: string): number[] {
  try {
    return readFileSync(file, 'utf8').trim().split('\n').map(Number);
  } catch {
    return [];
  }
}

/** A session whose project has the provider `ci`, which is bound. */
async function openProject(program: string, trust: FolderTrust = TRUSTING, ownProcess = true) {
  const clock = new McpClock();
  const folder = await tempFolder({
    'atrium.json': JSON.stringify({ providers: { ci: { command: process.execPath, args: ['ci.cjs', SOCKETS] } } }),
    'ci.cjs': program,
  });
  const agent = keepingProcess(new PuppetAgent(), ownProcess);
  const host = await startHost({ clock, trust, agents: [agent] });
  await openGateway(host);
  const client = await host.client('desk');
  const uri = await client.session(undefined, { workingDirectory: pathToFileURL(folder).href, provider: 'puppet' });
  if (trust === TRUSTING)
    await until(async () => toolsIn(await stateOf(client, uri)).includes('ci_status') || undefined);
  return { clock, agent, client, uri, folder };
}

/** An agent of which something runs between turns. */
function keepingProcess(agent: PuppetAgent, ownProcess = true): PuppetAgent {
  return Object.assign(agent, { abilities: { ...agent.abilities, ownProcess } });
}

const toolsIn = ({ serverTools }: SessionState) => (serverTools ?? []).map(({ name }) => name);

describe('the processes of a resting session', { timeout: 60_000 }, () => {
  it('[REL-060] MCP servers end while somebody watches, stay listed, and are back before the next turn runs', async () => {
    const clock = new McpClock();
    const file = path.join(await tempFolder(), 'starts');
    const user = { 'plugins/tools/.mcp.json': JSON.stringify({ mcpServers: { notes: mcpServer(file) } }) };
    const fixture = await openCustomFixture({ user, clock, agent: new PromptPuppet() });
    const name = 'mcp__plugin_tools_notes__echo';
    await expect.poll(() => fixture.toolNames(), POLL).toContain(name);
    const first = await fixture.turn();
    await clock.advance(PROCESSES_IDLE_MS * 2);
    expect(pidsIn(file).map(isAlive)).toEqual([true]);
    first.finish();
    await expect.poll(async () => (await fixture.state()).turns.length, POLL).toBe(1);
    await clock.advance(PROCESSES_IDLE_MS - 1);
    expect(pidsIn(file).map(isAlive)).toEqual([true]);
    const stateOfServer = async () =>
      (await fixture.entries()).find(({ name: entry }) => entry === 'tools')?.children?.[0]?.state;
    // The host publishes the state of a server a moment after its tools, by the real clock.
    await expect.poll(stateOfServer, POLL).toEqual({ kind: 'ready' });
    const told = fixture.client.envelopes(fixture.uri).length;
    const since = () => fixture.client.envelopes(fixture.uri).slice(told);
    await clock.advance(1);
    await expect.poll(() => pidsIn(file).map(isAlive), POLL).toEqual([false]);
    expect(await fixture.toolNames()).toContain(name);
    expect(await stateOfServer()).toEqual({ kind: 'ready' });
    // Nothing of this is news to anybody.
    expect(since()).toEqual([]);

    const second = await fixture.turn();
    expect(pidsIn(file).map(isAlive)).toEqual([false, true]);
    expect(second.turn.tools().map((tool) => tool.name)).toContain(name);
    expect(await second.turn.callTool({ name, input: { text: 'hi' } })).toMatchObject({ success: true, text: 'hi' });
    const flapping = since()
      .map(({ action }) => (action as { type: string }).type)
      .filter((type) => type === 'session/serverToolsChanged' || type.startsWith('session/customization'));
    expect(flapping).toEqual([]);
    second.finish();
  });

  it('[REL-060] providers of the project end with them, and are bound again before the agent hears of the turn', async () => {
    const { clock, agent, client, uri, folder } = await openProject(PROVIDER);
    const file = path.join(folder, 'provider-starts');
    const told = envelopesOf(client, uri).length;
    await clock.advance(PROCESSES_IDLE_MS);
    await expect.poll(() => pidsIn(file).map(isAlive), POLL).toEqual([false]);
    // Also when its place is not kept for it any longer.
    await clock.advance(10 * 60_000);
    expect(toolsIn(await stateOf(client, uri))).toContain('ci_status');
    expect(envelopesOf(client, uri).length).toBe(told);

    client.dispatch(uri, turnStarted('t1'));
    const puppet = await agent.turn(0);
    expect(pidsIn(file).map(isAlive)).toEqual([false, true]);
    expect(puppet.turn.tools().map(({ name }) => name)).toContain('ci_status');
    puppet.finish();
    expect(toolsIn(await stateOf(client, uri))).toContain('ci_status');
  });

  it('[REL-060] a provider that does not come back leaves nothing behind', async () => {
    const once = `if (require('node:fs').existsSync('provider-starts')) process.exit(1);\n${PROVIDER}`;
    const { clock, agent, client, uri, folder } = await openProject(once);
    await clock.advance(PROCESSES_IDLE_MS);
    await expect.poll(() => pidsIn(path.join(folder, 'provider-starts')).map(isAlive), POLL).toEqual([false]);
    await clock.advance(10 * 60_000);
    client.dispatch(uri, turnStarted('t1'));
    const puppet = await agent.turn(0);
    expect(puppet.turn.tools().map(({ name }) => name)).not.toContain('ci_status');
    puppet.finish();
  });

  it('[REL-060] also a turn in place of one that was cancelled waits for what comes back', async () => {
    const stubborn = `process.on('SIGTERM', () => {});\n${PROVIDER}`;
    const { clock, agent, client, uri, folder } = await openProject(stubborn, TRUSTING, false);
    await clock.advance(PROCESSES_IDLE_MS);
    const active = async () => (await stateOf(client, uri)).activeTurn?.id;
    client.dispatch(uri, turnStarted('t1'));
    await expect.poll(active, POLL).toBe('t1');
    client.dispatch(uri, { type: 'session/turnCancelled', turnId: 't1' });
    client.dispatch(uri, turnStarted('t2'));
    await expect.poll(active, POLL).toBe('t2');
    const coming = agent.turn(0);
    // On a busy machine the host starts its timer only after a while, so time passes until the provider has been killed.
    const [first = 0] = pidsIn(path.join(folder, 'provider-starts'));
    const isKilled = async () => {
      if (isAlive(first)) await clock.advance(STOP_GRACE_MS / 50);
      return !isAlive(first);
    };
    await expect.poll(isKilled, POLL).toBe(true);
    const puppet = await coming;
    expect(pidsIn(path.join(folder, 'provider-starts')).map(isAlive)).toEqual([false, true]);
    expect(puppet.turn.tools().map(({ name }) => name)).toContain('ci_status');
    puppet.finish();
  });

  it('[REL-060] an agent with a process is closed, and opened again with the next turn; others stay open', async () => {
    for (const ownProcess of [true, false]) {
      const clock = new FakeClock();
      const agent = keepingProcess(new PuppetAgent(), ownProcess);
      const { client, uri } = await openFixture({ clock, agent, session: { provider: 'puppet' } });
      await expect.poll(() => agent.openings.length).toBe(1);
      await clock.advance(PROCESSES_IDLE_MS);
      expect(agent.closings).toBe(ownProcess ? 1 : 0);
      client.dispatch(uri, turnStarted('t1'));
      const puppet = await agent.turn(0);
      expect(agent.openings.length).toBe(ownProcess ? 2 : 1);
      puppet.finish();
    }
  });

  it('[REL-060] nothing ends while somebody is asked something', async () => {
    const { clock, agent, client, uri } = await openProject(PROVIDER, NO_TRUST);
    const asked = async () => (await stateOf(client, uri)).inputRequests ?? [];
    await expect.poll(async () => (await asked()).length, POLL).toBe(1);
    await clock.advance(PROCESSES_IDLE_MS * 10);
    expect(agent.closings).toBe(0);
    const [request] = await asked();
    client.dispatch(uri, { type: 'session/inputCompleted', requestId: request?.id ?? '', response: 'decline' });
    await expect.poll(async () => (await asked()).length, POLL).toBe(0);
    await clock.advance(PROCESSES_IDLE_MS);
    expect(agent.closings).toBe(1);
  });

  it('[REL-060] everything ends at once when the session is archived', async () => {
    const agent = keepingProcess(new PuppetAgent());
    const { client, uri } = await openFixture({ agent, session: { provider: 'puppet' } });
    await expect.poll(() => agent.openings.length).toBe(1);
    await expect.poll(async () => (await stateOf(client, uri)).lifecycle).toBe('ready');
    client.dispatch(uri, { type: 'session/isArchivedChanged', isArchived: true });
    await expect.poll(() => agent.closings).toBe(1);
  });

  it('[REL-060] the time can be chosen, and there may be no end to it', async () => {
    for (const [restProcessesAfterMs, closings] of [
      [5_000, 1],
      [Number.POSITIVE_INFINITY, 0],
    ] as const) {
      const clock = new FakeClock();
      const agent = keepingProcess(new PuppetAgent());
      await openFixture({ clock, agent, restProcessesAfterMs, session: { provider: 'puppet' } });
      await expect.poll(() => agent.openings.length).toBe(1);
      await clock.advance(5_000);
      expect(agent.closings).toBe(closings);
    }
  });
});

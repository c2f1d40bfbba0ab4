import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Customization, SessionState } from '@atrium/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CustomRoom, type CustomRoomOptions, MCP_PROGRAM, openCustomRoom, POLL } from '../support/custom-room.js';
import { json, McpHttpServer } from '../support/mcp-http-server.js';
import { envelopesOf, refusalOf } from '../support/session-room.js';
import { tempFolder } from '../support/temp-folder.js';

const server = (kind = 'good', file = '') => ({ command: process.execPath, args: [MCP_PROGRAM, kind, file] });

/** A user's plugin with these servers. */
function plugin(servers: Record<string, object>, name = 'tools'): CustomRoomOptions {
  return { user: { [`plugins/${name}/.mcp.json`]: JSON.stringify({ mcpServers: servers }) } };
}

async function child(room: CustomRoom, container: string, name: string) {
  return (await room.entries()).find((entry) => entry.name === container)?.children?.find((one) => one.name === name);
}

function untilChild(room: CustomRoom, name: string, kind: string, container = 'tools') {
  return expect.poll(async () => (await child(room, container, name))?.state?.kind, POLL).toBe(kind);
}

function untilBare(room: CustomRoom, kind: string, name = 'notes') {
  return room.entry(name, ({ state }) => state?.kind === kind);
}

describe('MCP servers of a session', { timeout: 60_000 }, () => {
  it('[CUS-065] [CUS-068] [CUS-069] [AHP-191] start with the session, and each change comes with the whole container', async () => {
    const room = await openCustomRoom(plugin({ one: server(), two: server() }));
    await untilChild(room, 'one', 'ready');
    await untilChild(room, 'two', 'ready');
    expect(await room.toolNames()).toContain('mcp__plugin_tools_one__echo');
    const updates = room.desk
      .envelopes(room.uri)
      .map(({ action }) => action as { type: string; customization?: { name: string; children?: unknown[] } })
      .filter(({ type, customization }) => type === 'session/customizationUpdated' && customization?.name === 'tools');
    expect(updates.length).toBeGreaterThan(1);
    for (const { customization } of updates) {
      expect(customization?.children).toHaveLength(2);
      for (const one of customization?.children ?? [])
        expect(one).toMatchObject({ enabled: true, state: { kind: expect.any(String) } });
    }
    const { turn } = await room.turn();
    const name = 'mcp__plugin_tools_two__echo';
    expect(await turn.callTool({ name, input: { text: 'hi' } })).toMatchObject({ success: true, text: 'hi' });
  });

  it('[CUS-079] [CUS-094] make their container degraded while one of them fails, and loaded when it recovers', async () => {
    const mark = path.join(await tempFolder(), 'mark');
    const room = await openCustomRoom(plugin({ weak: server('recovers', mark), good: server() }));
    // It may not last long enough to be seen in the state.
    const degraded = () =>
      envelopesOf(room.desk, room.uri).flatMap(({ action }) => {
        const { load } = (action.customization ?? {}) as Customization;
        return load?.kind === 'degraded' ? load.message : [];
      });
    await expect.poll(degraded, POLL).toContainEqual(expect.stringContaining('The MCP server "weak" does not run'));
    await untilChild(room, 'weak', 'ready');
    await room.entry('tools', ({ load }) => load?.kind === 'loaded');
  });

  it('[CUS-087] [CUS-118] stop when their container is switched off, and their tools go', async () => {
    const room = await openCustomRoom(plugin({ one: server(), two: server() }));
    await untilChild(room, 'one', 'ready');
    const { id } = await room.entry('tools');
    room.toggle(id, false);
    await untilChild(room, 'one', 'stopped');
    await expect.poll(() => room.toolNames(), POLL).not.toContain('mcp__plugin_tools_one__echo');
    expect((await room.entry('tools')).children).toHaveLength(2);
  });

  it('[CUS-088] are switched one by one too; toggling any other child is refused', async () => {
    const files = { 'plugins/tools/commands/go.md': 'Go.' };
    const options = plugin({ one: server(), two: server() });
    const room = await openCustomRoom({ user: { ...options.user, ...files } });
    await untilChild(room, 'one', 'ready');
    await untilChild(room, 'two', 'ready');
    const one = await child(room, 'tools', 'one');
    const go = await child(room, 'tools', 'go');
    const refused = { type: 'session/customizationToggled', id: go?.id ?? '', enabled: false } as const;
    expect(await refusalOf(room.desk, room.uri, refused)).toContain('no customization');
    expect(await refusalOf(room.desk, room.uri, { ...refused, id: one?.id ?? '' })).toBeUndefined();
    await untilChild(room, 'one', 'stopped');
    expect(await child(room, 'tools', 'one')).toMatchObject({ enabled: false });
    expect(await child(room, 'tools', 'two')).toMatchObject({ enabled: true, state: { kind: 'ready' } });
    await expect.poll(() => room.toolNames(), POLL).not.toContain('mcp__plugin_tools_one__echo');
    expect(await room.toolNames()).toContain('mcp__plugin_tools_two__echo');
  });

  it('[CUS-089] [CUS-119] come back as they were when their container is switched on again', async () => {
    const room = await openCustomRoom(plugin({ one: server(), two: server() }));
    await untilChild(room, 'one', 'ready');
    const { id } = await room.entry('tools');
    room.toggle((await child(room, 'tools', 'one'))?.id ?? '', false);
    await untilChild(room, 'one', 'stopped');
    room.toggle(id, false);
    await untilChild(room, 'two', 'stopped');
    expect(await child(room, 'tools', 'two')).toMatchObject({ enabled: true });
    room.toggle(id, true);
    await untilChild(room, 'two', 'ready');
    expect(await child(room, 'tools', 'one')).toMatchObject({ enabled: false, state: { kind: 'stopped' } });
  });

  it('[CUS-070] [CUS-087] [CUS-117] on their own are switched by any client, and leave with their declaration', async () => {
    const room = await openCustomRoom({ config: { mcpServers: { notes: server() } } });
    const { id } = await untilBare(room, 'ready');
    expect(await room.toolNames()).toContain('mcp__notes__echo');
    const phone = await room.join('phone');
    room.toggle(id, false, phone);
    expect(await untilBare(room, 'stopped')).toMatchObject({ enabled: false });
    expect(await room.toolNames()).not.toContain('mcp__notes__echo');
    room.toggle(id, true, phone);
    await untilBare(room, 'ready');
    await room.withoutConfig();
    await expect.poll(async () => (await room.entries()).map(({ name }) => name), POLL).not.toContain('notes');
    expect(room.desk.types(room.uri)).toContain('session/customizationRemoved');
    await expect.poll(() => room.toolNames(), POLL).not.toContain('mcp__notes__echo');
  });

  /** Leaves a mark when it is started; beside it is a server of the user, which is. */
  async function openStrangerRoom() {
    const mark = path.join(await tempFolder(), 'mark');
    const project = { 'atrium.json': JSON.stringify({ mcpServers: { notes: server('recovers', mark) } }) };
    const room = await openCustomRoom({ project, config: { mcpServers: { own: server() } } });
    await untilBare(room, 'ready', 'own');
    return { room, isStarted: () => existsSync(mark) };
  }

  it('[CUS-057] of a project wait for trust, and are listed as stopped until then', async () => {
    const { room, isStarted } = await openStrangerRoom();
    const { turn } = await room.turn();
    expect(turn.tools().map(({ name }) => name)).toContain('mcp__own__echo');
    expect(await room.entry('notes')).toMatchObject({ state: { kind: 'stopped' } });
    expect(isStarted()).toBe(false);
    expect(await room.answer('accept')).toContain('MCP server notes');
    await untilBare(room, 'ready');
    expect(isStarted()).toBe(true);
  });

  it('[CUS-057] of a project are never started when somebody says no, also not by switching them on', async () => {
    const { room, isStarted } = await openStrangerRoom();
    await room.answer('decline');
    const [notes, own] = [await room.entry('notes'), await room.entry('own')];
    for (const { id } of [notes, own]) room.toggle(id, false);
    await untilBare(room, 'stopped', 'own');
    for (const { id } of [notes, own]) room.toggle(id, true);
    await untilBare(room, 'ready', 'own');
    expect(await room.entry('notes')).toMatchObject({ enabled: true, state: { kind: 'stopped' } });
    expect(isStarted()).toBe(false);
  });

  it('[CUS-108] of an untrusted plugin do not take the place of those of the user, whatever name its manifest has', async () => {
    const skill = (text: string) => `---\nname: greet\ndescription: Greets.\n---\n${text}`;
    const project = {
      '.agents/plugins/another/.plugin/plugin.json': JSON.stringify({ name: 'tools' }),
      '.agents/plugins/another/.mcp.json': JSON.stringify({ mcpServers: { one: server() } }),
      '.agents/plugins/another/skills/greet/SKILL.md': skill('Of the project.'),
    };
    const user = { ...plugin({ one: server() }).user, 'plugins/tools/skills/greet/SKILL.md': skill('Of the user.') };
    const room = await openCustomRoom({ project, user });
    const servers = async () => {
      const all = (await room.entries()).filter(({ name, children }) => name === 'tools' && children);
      const states = all.map(({ uri, children }) => {
        const found = children?.find(({ type }) => type === 'mcpServer');
        return [uri.startsWith(pathToFileURL(room.userFolder).href) ? 'user' : 'project', found?.state?.kind] as const;
      });
      return Object.fromEntries(states);
    };
    await expect.poll(servers, POLL).toEqual({ user: 'ready', project: 'error' });
    const { turn } = await room.turn('/tools:greet');
    expect(turn.context.join()).toContain('Of the user.');
    expect(turn.context.join()).not.toContain('Of the project.');
  });

  it('[CUS-108] of an untrusted project do not take the place of the one of the user', async () => {
    const project = { 'atrium.json': JSON.stringify({ mcpServers: { notes: server('exits') } }) };
    const room = await openCustomRoom({ project, config: { mcpServers: { notes: server() } } });
    await untilBare(room, 'ready');
    expect((await room.entries()).filter(({ name }) => name === 'notes')).toHaveLength(1);
  });

  it('on their own are started anew when their declaration changes', async () => {
    const room = await openCustomRoom({ config: { mcpServers: { notes: server('exits') } } });
    await untilBare(room, 'error');
    await writeFile(room.configFile, JSON.stringify({ mcpServers: { notes: server() } }));
    await untilBare(room, 'ready');
  });

  it('are started anew when their declaration changes', async () => {
    const room = await openCustomRoom(plugin({ one: server('exits') }));
    await untilChild(room, 'one', 'error');
    const file = path.join(room.userFolder, 'plugins/tools/.mcp.json');
    await writeFile(file, JSON.stringify({ mcpServers: { one: server() } }));
    await untilChild(room, 'one', 'ready');
  });
});

describe('an MCP server that wants somebody to sign in', { timeout: 60_000 }, () => {
  let remote: McpHttpServer;
  let token = 'plum-token-1';
  beforeEach(async () => {
    token = 'plum-token-1';
    remote = await McpHttpServer.start();
    remote.intercept = (request, response) => {
      if (request.url?.startsWith('/.well-known/')) return json(response, { resource: `${remote.origin}/mcp` });
      if (request.headers.authorization === `Bearer ${token}`) return false;
      response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
      return true;
    };
  });
  afterEach(() => remote.stop());

  const openRemote = () => openCustomRoom({ config: { mcpServers: { notes: { url: `${remote.origin}/mcp` } } } });
  const authenticate = (room: CustomRoom, resource: string, given: string) =>
    room.desk.ask('authenticate', { channel: 'ahp-root://', resource, token: given });

  it('[CUS-080] [CUS-081] [CUS-083] [AHP-212] is announced to those who watch, and goes on with the token', async () => {
    const room = await openRemote();
    const entry = await untilBare(room, 'authRequired');
    const resource = `${remote.origin}/mcp`;
    expect(entry.state).toMatchObject({ resource: { resource }, reason: 'required' });
    const notice = await room.desk.until(({ method }) => method === 'auth/required', 20_000);
    expect(notice.params).toEqual({ channel: room.uri, resource, reason: 'required' });
    expect((await authenticate(room, 'https://elsewhere.example', 'plum-token-1')).error?.code).toBe(-32602);
    expect(await authenticate(room, resource, 'plum-token-1')).toMatchObject({ result: {} });
    await untilBare(room, 'ready');
    await room.state();
    expect(JSON.stringify([room.desk.received, room.warnings])).not.toContain('plum-token');
  });

  it('[CUS-082] [AHP-214] raises a question when that happens in the middle of a turn', async () => {
    const room = await openRemote();
    await untilBare(room, 'authRequired');
    await authenticate(room, `${remote.origin}/mcp`, 'plum-token-1');
    await untilBare(room, 'ready');
    const { turn } = await room.turn();
    token = 'plum-token-2';
    const approve = { type: 'session/configChanged', config: { autoApprove: true } } as const;
    expect(await refusalOf(room.desk, room.uri, approve)).toBeUndefined();
    const outcome = await turn.callTool({ name: 'mcp__notes__echo', input: {} });
    expect(outcome).toMatchObject({ success: false });
    const notice = await room.desk.until(({ params }) => params?.reason === 'expired', 20_000);
    expect(notice).toMatchObject({ method: 'auth/required', params: { channel: room.uri } });
    const asked = async () => (await room.desk.state<SessionState>(room.uri)).inputRequests?.[0]?.message;
    await expect.poll(asked, POLL).toContain('wants you to sign in');
    expect((await room.state()).summary.status & 24).toBe(24);
    await authenticate(room, `${remote.origin}/mcp`, 'plum-token-2');
    await untilBare(room, 'ready');
    await expect.poll(asked, POLL).toBeUndefined();
  });
});

describe('clients of other versions', { timeout: 30_000 }, () => {
  it('[CUS-072] see the same entries with 0.2.0 as with 0.3.0, and none with the first version', async () => {
    const room = await openCustomRoom({ config: { mcpServers: { notes: server() } } });
    await untilBare(room, 'ready');
    const entries = await room.entries();
    const older = await room.client('phone', undefined, { protocolVersions: ['0.2.0'] });
    expect((await room.state(older)).customizations).toEqual(entries);
    const first = await room.client('tablet', undefined, { protocolVersion: 1, protocolVersions: undefined });
    const snapshot = await first.request('subscribe', { resource: room.uri.replace('ahp-session:', 'puppet:') });
    expect(JSON.stringify(snapshot)).toContain('lifecycle');
    expect(JSON.stringify(snapshot)).not.toContain('ustomizations');
  });
});

import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Customization, SessionState } from '@atrium/protocol';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type CustomFixture,
  type CustomFixtureOptions,
  MCP_PROGRAM,
  openCustomFixture,
  POLL,
} from '../support/custom-fixture.js';
import { json, McpHttpServer } from '../support/mcp-http-server.js';
import { envelopesOf, refusalOf } from '../support/session-fixture.js';
import { tempFolder } from '../support/temp-folder.js';

const server = (kind = 'good', file = '') => ({ command: process.execPath, args: [MCP_PROGRAM, kind, file] });

/** A user's plugin with these servers. */
function plugin(servers: Record<string, object>, name = 'tools'): CustomFixtureOptions {
  return { user: { [`plugins/${name}/.mcp.json`]: JSON.stringify({ mcpServers: servers }) } };
}

async function child(fixture: CustomFixture, container: string, name: string) {
  return (await fixture.entries())
    .find((entry) => entry.name === container)
    ?.children?.find((one) => one.name === name);
}

function untilChild(fixture: CustomFixture, name: string, kind: string, container = 'tools') {
  return expect.poll(async () => (await child(fixture, container, name))?.state?.kind, POLL).toBe(kind);
}

function untilBare(fixture: CustomFixture, kind: string, name = 'notes') {
  return fixture.entry(name, ({ state }) => state?.kind === kind);
}

describe('MCP servers of a session', { timeout: 60_000 }, () => {
  it('[CUS-065] [CUS-068] [CUS-069] [AHP-191] start with the session, and each change comes with the whole container', async () => {
    const fixture = await openCustomFixture(plugin({ one: server(), two: server() }));
    await untilChild(fixture, 'one', 'ready');
    await untilChild(fixture, 'two', 'ready');
    expect(await fixture.toolNames()).toContain('mcp__plugin_tools_one__echo');
    const updates = fixture.client
      .envelopes(fixture.uri)
      .map(({ action }) => action as { type: string; customization?: { name: string; children?: unknown[] } })
      .filter(({ type, customization }) => type === 'session/customizationUpdated' && customization?.name === 'tools');
    expect(updates.length).toBeGreaterThan(1);
    for (const { customization } of updates) {
      expect(customization?.children).toHaveLength(2);
      for (const one of customization?.children ?? [])
        expect(one).toMatchObject({ enabled: true, state: { kind: expect.any(String) } });
    }
    const { turn } = await fixture.turn();
    const name = 'mcp__plugin_tools_two__echo';
    expect(await turn.callTool({ name, input: { text: 'hi' } })).toMatchObject({ success: true, text: 'hi' });
  });

  it('[CUS-079] [CUS-094] make their container degraded while one of them fails, and loaded when it recovers', async () => {
    const mark = path.join(await tempFolder(), 'mark');
    const fixture = await openCustomFixture(plugin({ weak: server('recovers', mark), good: server() }));
    // It may not last long enough to be seen in the state.
    const degraded = () =>
      envelopesOf(fixture.client, fixture.uri).flatMap(({ action }) => {
        const { load } = (action.customization ?? {}) as Customization;
        return load?.kind === 'degraded' ? load.message : [];
      });
    await expect.poll(degraded, POLL).toContainEqual(expect.stringContaining('The MCP server "weak" does not run'));
    await untilChild(fixture, 'weak', 'ready');
    await fixture.entry('tools', ({ load }) => load?.kind === 'loaded');
  });

  it('[CUS-087] [CUS-118] stop when their container is switched off, and their tools go', async () => {
    const fixture = await openCustomFixture(plugin({ one: server(), two: server() }));
    await untilChild(fixture, 'one', 'ready');
    const { id } = await fixture.entry('tools');
    fixture.toggle(id, false);
    await untilChild(fixture, 'one', 'stopped');
    await expect.poll(() => fixture.toolNames(), POLL).not.toContain('mcp__plugin_tools_one__echo');
    expect((await fixture.entry('tools')).children).toHaveLength(2);
  });

  it('[CUS-088] are switched one by one too; toggling any other child is refused', async () => {
    const files = { 'plugins/tools/commands/go.md': 'Go.' };
    const options = plugin({ one: server(), two: server() });
    const fixture = await openCustomFixture({ user: { ...options.user, ...files } });
    await untilChild(fixture, 'one', 'ready');
    await untilChild(fixture, 'two', 'ready');
    const one = await child(fixture, 'tools', 'one');
    const go = await child(fixture, 'tools', 'go');
    const refused = { type: 'session/customizationToggled', id: go?.id ?? '', enabled: false } as const;
    expect(await refusalOf(fixture.client, fixture.uri, refused)).toContain('no customization');
    expect(await refusalOf(fixture.client, fixture.uri, { ...refused, id: one?.id ?? '' })).toBeUndefined();
    await untilChild(fixture, 'one', 'stopped');
    expect(await child(fixture, 'tools', 'one')).toMatchObject({ enabled: false });
    expect(await child(fixture, 'tools', 'two')).toMatchObject({ enabled: true, state: { kind: 'ready' } });
    await expect.poll(() => fixture.toolNames(), POLL).not.toContain('mcp__plugin_tools_one__echo');
    expect(await fixture.toolNames()).toContain('mcp__plugin_tools_two__echo');
  });

  it('[CUS-089] [CUS-119] come back as they were when their container is switched on again', async () => {
    const fixture = await openCustomFixture(plugin({ one: server(), two: server() }));
    await untilChild(fixture, 'one', 'ready');
    const { id } = await fixture.entry('tools');
    fixture.toggle((await child(fixture, 'tools', 'one'))?.id ?? '', false);
    await untilChild(fixture, 'one', 'stopped');
    fixture.toggle(id, false);
    await untilChild(fixture, 'two', 'stopped');
    expect(await child(fixture, 'tools', 'two')).toMatchObject({ enabled: true });
    fixture.toggle(id, true);
    await untilChild(fixture, 'two', 'ready');
    expect(await child(fixture, 'tools', 'one')).toMatchObject({ enabled: false, state: { kind: 'stopped' } });
  });

  it('[CUS-070] [CUS-087] [CUS-117] on their own are switched by any client, and leave with their declaration', async () => {
    const fixture = await openCustomFixture({ config: { mcpServers: { notes: server() } } });
    const { id } = await untilBare(fixture, 'ready');
    expect(await fixture.toolNames()).toContain('mcp__notes__echo');
    const phone = await fixture.join('phone');
    fixture.toggle(id, false, phone);
    expect(await untilBare(fixture, 'stopped')).toMatchObject({ enabled: false });
    expect(await fixture.toolNames()).not.toContain('mcp__notes__echo');
    fixture.toggle(id, true, phone);
    await untilBare(fixture, 'ready');
    await fixture.withoutConfig();
    await expect.poll(async () => (await fixture.entries()).map(({ name }) => name), POLL).not.toContain('notes');
    expect(fixture.client.types(fixture.uri)).toContain('session/customizationRemoved');
    await expect.poll(() => fixture.toolNames(), POLL).not.toContain('mcp__notes__echo');
  });

  /** Leaves a mark when it is started; beside it is a server of the user, which is. */
  async function openStrangerFixture() {
    const mark = path.join(await tempFolder(), 'mark');
    const project = { 'atrium.json': JSON.stringify({ mcpServers: { notes: server('recovers', mark) } }) };
    const fixture = await openCustomFixture({ project, config: { mcpServers: { own: server() } } });
    await untilBare(fixture, 'ready', 'own');
    return { fixture, isStarted: () => existsSync(mark) };
  }

  it('[CUS-057] of a project wait for trust, and are listed as stopped until then', async () => {
    const { fixture, isStarted } = await openStrangerFixture();
    const { turn } = await fixture.turn();
    expect(turn.tools().map(({ name }) => name)).toContain('mcp__own__echo');
    expect(await fixture.entry('notes')).toMatchObject({ state: { kind: 'stopped' } });
    expect(isStarted()).toBe(false);
    expect(await fixture.answer('accept')).toContain('MCP server notes');
    await untilBare(fixture, 'ready');
    expect(isStarted()).toBe(true);
  });

  it('[CUS-057] of a project are never started when somebody says no, also not by switching them on', async () => {
    const { fixture, isStarted } = await openStrangerFixture();
    await fixture.answer('decline');
    const [notes, own] = [await fixture.entry('notes'), await fixture.entry('own')];
    for (const { id } of [notes, own]) fixture.toggle(id, false);
    await untilBare(fixture, 'stopped', 'own');
    for (const { id } of [notes, own]) fixture.toggle(id, true);
    await untilBare(fixture, 'ready', 'own');
    expect(await fixture.entry('notes')).toMatchObject({ enabled: true, state: { kind: 'stopped' } });
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
    const fixture = await openCustomFixture({ project, user });
    const servers = async () => {
      const all = (await fixture.entries()).filter(({ name, children }) => name === 'tools' && children);
      const states = all.map(({ uri, children }) => {
        const found = children?.find(({ type }) => type === 'mcpServer');
        return [
          uri.startsWith(pathToFileURL(fixture.userFolder).href) ? 'user' : 'project',
          found?.state?.kind,
        ] as const;
      });
      return Object.fromEntries(states);
    };
    await expect.poll(servers, POLL).toEqual({ user: 'ready', project: 'error' });
    const { turn } = await fixture.turn('/tools:greet');
    expect(turn.context.join()).toContain('Of the user.');
    expect(turn.context.join()).not.toContain('Of the project.');
  });

  it('[CUS-108] of an untrusted project do not take the place of the one of the user', async () => {
    const project = { 'atrium.json': JSON.stringify({ mcpServers: { notes: server('exits') } }) };
    const fixture = await openCustomFixture({ project, config: { mcpServers: { notes: server() } } });
    await untilBare(fixture, 'ready');
    expect((await fixture.entries()).filter(({ name }) => name === 'notes')).toHaveLength(1);
  });

  it('on their own are started anew when their declaration changes', async () => {
    const fixture = await openCustomFixture({ config: { mcpServers: { notes: server('exits') } } });
    await untilBare(fixture, 'error');
    await writeFile(fixture.configFile, JSON.stringify({ mcpServers: { notes: server() } }));
    await untilBare(fixture, 'ready');
  });

  it('are started anew when their declaration changes', async () => {
    const fixture = await openCustomFixture(plugin({ one: server('exits') }));
    await untilChild(fixture, 'one', 'error');
    const file = path.join(fixture.userFolder, 'plugins/tools/.mcp.json');
    await writeFile(file, JSON.stringify({ mcpServers: { one: server() } }));
    await untilChild(fixture, 'one', 'ready');
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

  const openRemote = () => openCustomFixture({ config: { mcpServers: { notes: { url: `${remote.origin}/mcp` } } } });
  const authenticate = (fixture: CustomFixture, resource: string, given: string) =>
    fixture.client.ask('authenticate', { channel: 'ahp-root://', resource, token: given });

  it('[CUS-080] [CUS-081] [CUS-083] [AHP-212] is announced to those who watch, and goes on with the token', async () => {
    const fixture = await openRemote();
    const entry = await untilBare(fixture, 'authRequired');
    const resource = `${remote.origin}/mcp`;
    expect(entry.state).toMatchObject({ resource: { resource }, reason: 'required' });
    const notice = await fixture.client.until(({ method }) => method === 'auth/required', 20_000);
    expect(notice.params).toEqual({ channel: fixture.uri, resource, reason: 'required' });
    expect((await authenticate(fixture, 'https://elsewhere.example', 'plum-token-1')).error?.code).toBe(-32602);
    expect(await authenticate(fixture, resource, 'plum-token-1')).toMatchObject({ result: {} });
    await untilBare(fixture, 'ready');
    await fixture.state();
    expect(JSON.stringify([fixture.client.received, fixture.warnings])).not.toContain('plum-token');
  });

  it('[CUS-082] [AHP-214] raises a question when that happens in the middle of a turn', async () => {
    const fixture = await openRemote();
    await untilBare(fixture, 'authRequired');
    await authenticate(fixture, `${remote.origin}/mcp`, 'plum-token-1');
    await untilBare(fixture, 'ready');
    const { turn } = await fixture.turn();
    token = 'plum-token-2';
    const approve = { type: 'session/configChanged', config: { autoApprove: true } } as const;
    expect(await refusalOf(fixture.client, fixture.uri, approve)).toBeUndefined();
    const outcome = turn.callTool({ name: 'mcp__notes__echo', input: {} });
    const notice = await fixture.client.until(({ params }) => params?.reason === 'expired', 20_000);
    expect(notice).toMatchObject({ method: 'auth/required', params: { channel: fixture.uri } });
    const asked = async () => (await fixture.client.state<SessionState>(fixture.uri)).inputRequests?.[0]?.message;
    await expect.poll(asked, POLL).toContain('wants you to sign in');
    expect((await fixture.state()).summary.status & 24).toBe(24);
    await authenticate(fixture, `${remote.origin}/mcp`, 'plum-token-2');
    await untilBare(fixture, 'ready');
    await expect.poll(asked, POLL).toBeUndefined();
    expect(await outcome).toMatchObject({ success: true });
  });
});

describe('clients of other versions', { timeout: 30_000 }, () => {
  it('[CUS-072] see the same entries with 0.2.0 as with 0.3.0, and none with the first version', async () => {
    const fixture = await openCustomFixture({ config: { mcpServers: { notes: server() } } });
    await untilBare(fixture, 'ready');
    const entries = await fixture.entries();
    const older = await fixture.connect('phone', undefined, { protocolVersions: ['0.2.0'] });
    expect((await fixture.state(older)).customizations).toEqual(entries);
    const first = await fixture.connect('tablet', undefined, { protocolVersion: 1, protocolVersions: undefined });
    const snapshot = await first.request('subscribe', { resource: fixture.uri.replace('ahp-session:', 'puppet:') });
    expect(JSON.stringify(snapshot)).toContain('lifecycle');
    expect(JSON.stringify(snapshot)).not.toContain('ustomizations');
  });
});

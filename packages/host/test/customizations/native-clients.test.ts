/** Plugins of several active clients, and custom agents of messages, as AHP 1.0 has them. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type {
  ClientPluginCustomization,
  CustomizationEnablement,
  McpServerCustomization,
  SessionState,
} from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import {
  type Answer,
  type CustomFixture,
  MCP_PROGRAM,
  openCustomFixture,
  POLL,
  servedFiles,
} from '../support/custom-fixture.js';
import { refusalOf } from '../support/session-fixture.js';
import type { RawClient } from '../support/test-host.js';

const skill = (name: string) => ({
  '.plugin/plugin.json': JSON.stringify({ name: `of-${name}` }),
  [`skills/${name}/SKILL.md`]: `---\nname: ${name}\ndescription: Says ${name}.\n---\nBODY OF ${name}`,
});

const uriOf = (name: string) => `virtual://${name}/plugin`;

async function join(fixture: CustomFixture, clientId: string, answer?: Answer): Promise<RawClient> {
  const client = await fixture.connect(clientId, answer, { protocolVersions: ['1.0.0'] });
  await client.request('subscribe', { channel: fixture.uri });
  return client;
}

function publish(fixture: CustomFixture, client: RawClient, plugin: Partial<ClientPluginCustomization>, tools = []) {
  const customization = {
    type: 'plugin',
    id: `p-${client.clientId}`,
    uri: uriOf(client.clientId),
    name: 'P',
    ...plugin,
  };
  const activeClient = { clientId: client.clientId, tools, customizations: [customization] };
  return refusalOf(client, fixture.uri, { type: 'session/activeClientSet', activeClient } as { type: string });
}

async function pluginsIn(fixture: CustomFixture, client: RawClient): Promise<readonly string[]> {
  const { customizations = [] } = await client.state<SessionState>(fixture.uri);
  return customizations.flatMap((entry) =>
    entry.type === 'plugin' && entry.clientId !== undefined && entry.load?.kind === 'loaded' ? [entry.clientId] : [],
  );
}

describe('plugins of several active clients', { timeout: 60_000 }, () => {
  it('[UP-170] [UP-071] are there side by side, and each goes with its client', async () => {
    const fixture = await openCustomFixture();
    const one = await join(fixture, 'one', servedFiles(uriOf('one'), skill('alpha')));
    const two = await join(fixture, 'two', servedFiles(uriOf('two'), skill('beta')));
    expect(await publish(fixture, one, {})).toBeUndefined();
    expect(await publish(fixture, two, {})).toBeUndefined();
    await expect.poll(() => pluginsIn(fixture, one), POLL).toEqual(['one', 'two']);
    const both = await fixture.turn('/alpha');
    expect(both.turn.context.join()).toContain('BODY OF alpha');
    both.finish();
    expect(await refusalOf(one, fixture.uri, leave('one'))).toBeUndefined();
    await expect.poll(() => pluginsIn(fixture, two), POLL).toEqual(['two']);
    await fixture.client.action(fixture.uri, 'session/turnComplete');
    expect((await fixture.turn('/beta')).turn.context.join()).toContain('BODY OF beta');
  });

  it('[UP-151] [UP-170] are not read again when a client sends the same claim, or only changes its tools', async () => {
    const asked: string[] = [];
    const fixture = await openCustomFixture();
    const one = await join(fixture, 'one', servedFiles(uriOf('one'), skill('alpha'), asked));
    await publish(fixture, one, {});
    await expect.poll(() => pluginsIn(fixture, one), POLL).toEqual(['one']);
    const before = asked.length;
    await publish(fixture, one, {});
    await publish(fixture, one, {}, [{ name: 'look', inputSchema: { type: 'object' } }] as never);
    expect(await pluginsIn(fixture, one)).toEqual(['one']);
    expect(asked.length).toBe(before);
    await publish(fixture, one, { nonce: 'new' });
    await expect.poll(() => asked.length, POLL).toBeGreaterThan(before);
  });

  it('[UP-068] [UP-069] begin as their client decided, and so do the servers in them', async () => {
    const fixture = await openCustomFixture();
    const servers = { notes: { command: process.execPath, args: [MCP_PROGRAM, 'good', ''] } };
    const files = { ...skill('alpha'), '.mcp.json': JSON.stringify({ mcpServers: servers }) };
    const one = await join(fixture, 'one', servedFiles(uriOf('one'), files));
    const off = [{ kind: 'global', enabled: false }] as const;
    await publish(fixture, one, { enablement: [...off], childEnablement: { notes: [...off] } });
    await expect.poll(() => pluginsIn(fixture, one), POLL).toEqual(['one']);
    const { customizations = [] } = await one.state<SessionState>(fixture.uri);
    const entry = customizations.find(({ id }) => id === 'p-one');
    expect(entry).toMatchObject({ enablement: off });
    const children = (entry && 'children' in entry && entry.children) || [];
    const server = children.find((child): child is McpServerCustomization => child.type === 'mcpServer');
    expect(server?.enablement).toEqual(off);
    expect((await fixture.turn('/alpha')).turn.context).toEqual([]);
  });
});

describe('what a client decides about its own plugin', { timeout: 60_000 }, () => {
  it('[UP-068] [UP-069] counts when it publishes that, but for what was decided for the session', async () => {
    const asked: string[] = [];
    const fixture = await openCustomFixture();
    const one = await join(fixture, 'one', servedFiles(uriOf('one'), skill('alpha'), asked));
    const on: CustomizationEnablement = { kind: 'global', enabled: true };
    const off: CustomizationEnablement = { kind: 'global', enabled: false };
    const enablement = async () => {
      const { customizations = [] } = await one.state<SessionState>(fixture.uri);
      const entry = customizations.find(({ id }) => id === 'p-one');
      return entry?.type === 'plugin' ? entry.enablement : undefined;
    };
    await publish(fixture, one, { nonce: '1' });
    await expect.poll(() => pluginsIn(fixture, one), POLL).toEqual(['one']);
    const before = asked.length;
    await publish(fixture, one, { nonce: '1', enablement: [off] });
    await expect.poll(enablement, POLL).toEqual([off]);
    const first = await fixture.turn('/alpha');
    expect(first.turn.context).toEqual([]);
    first.finish();
    await fixture.client.action(fixture.uri, 'session/turnComplete');
    // Another person switches it on, here.
    fixture.toggle('p-one', true);
    await expect.poll(async () => (await enablement())?.length, POLL).toBe(2);
    await publish(fixture, one, { nonce: '1', enablement: [on] });
    await expect.poll(enablement, POLL).toEqual([{ kind: 'session', enabled: true }, on]);
    await publish(fixture, one, { nonce: '1', childEnablement: { alpha: [off] } });
    await expect.poll(enablement, POLL).toEqual([{ kind: 'session', enabled: true }]);
    const second = await fixture.turn('/alpha');
    expect(second.turn.context).toEqual([]);
    second.finish();
    expect(asked.length).toBe(before);
  });
});

function leave(clientId: string): { type: string } {
  return { type: 'session/activeClientRemoved', clientId } as { type: string };
}

describe('the custom agent of a message', { timeout: 60_000 }, () => {
  it('[UP-074] holds for the turn of that message alone', async () => {
    const file = 'plugins/crew/agents/reader.md';
    const user = { [file]: '---\nname: reader\ndescription: Reads.\ntools: [read_file]\n---\nONLY READ.' };
    const fixture = await openCustomFixture({ user });
    await fixture.entry('crew');
    const client = await join(fixture, 'one');
    const { defaultChat = '' } = await client.state<SessionState>(fixture.uri);
    const agent = { uri: pathToFileURL(path.join(fixture.userFolder, file)).href };
    const start = (turnId: string, members: object) =>
      client.dispatch(defaultChat, {
        ...{ type: 'chat/turnStarted', turnId, message: { text: 'go', origin: { kind: 'user' }, ...members } },
      } as { type: string });
    start('n1', { agent });
    const first = await fixture.agent.turn(0);
    expect((await first.turn.renderPrompt()).get('custom_instructions')).toContain('ONLY READ.');
    expect(first.turn.tools().map(({ name }) => name)).toEqual(['read_file']);
    first.finish();
    await fixture.client.action(fixture.uri, 'session/turnComplete');
    start('n2', {});
    const second = await fixture.agent.turn(1);
    expect((await second.turn.renderPrompt()).get('custom_instructions') ?? '').not.toContain('ONLY READ.');
    expect(second.turn.tools().length).toBeGreaterThan(1);
    second.finish();
  });
});

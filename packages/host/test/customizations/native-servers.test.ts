/** MCP servers of a session as clients of AHP 1.0 see them, start them and stop them. */
import type { ChatState, CustomizationEnablement, McpServerCustomization, SessionState } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import {
  type CustomFixture,
  type CustomFixtureOptions,
  MCP_PROGRAM,
  openCustomFixture,
  POLL,
} from '../support/custom-fixture.js';
import { refusalOf } from '../support/session-fixture.js';
import type { RawClient } from '../support/test-host.js';

const ECHO = 'mcp__plugin_tools_notes__echo';

const GOOD = { command: process.execPath, args: [MCP_PROGRAM, 'good', ''] };

function withServer(notes: object): CustomFixtureOptions {
  return { user: { 'plugins/tools/.mcp.json': JSON.stringify({ mcpServers: { notes } }) } };
}

async function openNative(server: object = GOOD) {
  const fixture = await openCustomFixture(withServer(server));
  const client = await fixture.connect('editor', undefined, { protocolVersions: ['1.0.0'] });
  await client.request('subscribe', { channel: fixture.uri });
  return { fixture, client };
}

async function serverOf(fixture: CustomFixture, client: RawClient): Promise<McpServerCustomization | undefined> {
  const { customizations = [] } = await client.state<SessionState>(fixture.uri);
  const children = customizations.flatMap((entry) => ('children' in entry && entry.children) || []);
  return children.find((child): child is McpServerCustomization => child.type === 'mcpServer');
}

async function inState(fixture: CustomFixture, client: RawClient, kind: string): Promise<McpServerCustomization> {
  await expect.poll(async () => (await serverOf(fixture, client))?.state.kind, POLL).toBe(kind);
  return (await serverOf(fixture, client)) as McpServerCustomization;
}

function requested(request: 'Start' | 'Stop' | 'Background', id: string): { type: string } {
  return { type: `session/mcpServer${request}Requested`, id } as { type: string };
}

describe('an MCP server, for a client of 1.0', { timeout: 60_000 }, () => {
  it('[UP-105] [UP-104] stops and starts when a person asks for it, and clients of 0.3.0 see that', async () => {
    const { fixture, client } = await openNative();
    const { id } = await inState(fixture, client, 'ready');
    expect(await fixture.toolNames()).toContain(ECHO);
    client.dispatch(fixture.uri, requested('Stop', id));
    await inState(fixture, client, 'stopped');
    await expect.poll(() => fixture.toolNames(), POLL).not.toContain(ECHO);
    const shown = async () => (await fixture.entry('tools')).children?.map(({ state }) => state?.kind);
    expect(await shown()).toEqual(['stopped']);
    // A turn does not start what a person stopped.
    (await fixture.turn()).finish();
    expect(await shown()).toEqual(['stopped']);
    client.dispatch(fixture.uri, requested('Start', id));
    await inState(fixture, client, 'ready');
    await expect.poll(() => fixture.toolNames(), POLL).toContain(ECHO);
    expect(await shown()).toEqual(['ready']);
  });

  it('[UP-070] [UP-105] says why it failed, and is started anew on request', async () => {
    const { fixture, client } = await openNative({ command: '/nowhere/server' });
    const { id, state } = await inState(fixture, client, 'error');
    expect(state).toMatchObject({ kind: 'error', error: { errorType: 'mcp-server', message: expect.any(String) } });
    const before = client.envelopes(fixture.uri).length;
    client.dispatch(fixture.uri, requested('Start', id));
    const restarted = () =>
      client
        .envelopes(fixture.uri)
        .slice(before)
        .some(({ action }) => action.type === 'session/mcpServerStartRequested');
    await expect.poll(restarted, POLL).toBe(true);
    await inState(fixture, client, 'error');
  });

  it('[UP-102] [UP-105] is not started while it is switched off, nor when there is none', async () => {
    const { fixture, client } = await openNative();
    const { id, enablement } = await inState(fixture, client, 'ready');
    expect(enablement).toBeUndefined();
    const off: CustomizationEnablement[] = [{ kind: 'session', enabled: false }];
    client.dispatch(fixture.uri, { type: 'session/customizationToggled', id, enablement: off } as { type: string });
    expect((await inState(fixture, client, 'stopped')).enablement).toEqual(off);
    expect(await refusalOf(client, fixture.uri, requested('Start', id))).toContain('is switched off');
    const unknown = await refusalOf(client, fixture.uri, requested('Start', 'nothing'));
    expect(unknown).toContain('there is no MCP server nothing');
  });

  it('[UP-118] is named by the calls of its tools; clients of 0.3.0 see nothing of it', async () => {
    const { fixture, client } = await openNative();
    const { id } = await inState(fixture, client, 'ready');
    const { defaultChat = '' } = await client.state<SessionState>(fixture.uri);
    const { turn, finish } = await fixture.turn();
    expect(await turn.callTool({ name: ECHO, input: { text: 'hi' } })).toMatchObject({ success: true, text: 'hi' });
    const part = (await client.state<ChatState>(defaultChat)).activeTurn?.responseParts[0];
    expect(part).toMatchObject({ toolCall: { contributor: { kind: 'mcp', customizationId: id } } });
    const shown = (await fixture.state()).activeTurn?.responseParts[0];
    expect(shown).toMatchObject({ toolCall: { toolName: ECHO } });
    expect(JSON.stringify(shown)).not.toContain('contributor');
    finish();
  });

  it('[UP-106] is not sent to the background when nothing waits for it', async () => {
    const { fixture, client } = await openNative();
    const { id } = await inState(fixture, client, 'ready');
    expect(await refusalOf(client, fixture.uri, requested('Background', id))).toContain('nothing waits');
  });

  it('[UP-068] [UP-102] [UP-210] goes by the most specific decision, whoever took it', async () => {
    const { fixture, client } = await openNative();
    const { id } = await inState(fixture, client, 'ready');
    const wide: CustomizationEnablement = { kind: 'global', enabled: true };
    client.dispatch(fixture.uri, { type: 'session/customizationToggled', id, enablement: [wide] } as { type: string });
    await expect.poll(async () => (await serverOf(fixture, client))?.enablement, POLL).toEqual([wide]);
    fixture.toggle(id, false);
    const { enablement } = await inState(fixture, client, 'stopped');
    expect(enablement).toEqual([{ kind: 'session', enabled: false }, wide]);
    expect((await fixture.entry('tools')).children?.[0]).toMatchObject({ enabled: false, state: { kind: 'stopped' } });
  });
});

/** As versions before 0.9 have it. */
interface OlderServer extends Omit<McpServerCustomization, 'enablement'> {
  readonly enabled?: boolean;
}

describe('an MCP server, for clients of versions below 1.0', { timeout: 60_000 }, () => {
  it.each(['0.7.0', '0.6.0', '0.5.2', '0.5.1'])(
    '[UP-210] [UP-224] is switched and shown as %s has it',
    async (version) => {
      const fixture = await openCustomFixture(withServer(GOOD));
      const client = await fixture.connect('editor', undefined, { protocolVersions: [version] });
      await client.request('subscribe', { channel: fixture.uri });
      const { id, ...server } = (await inState(fixture, client, 'ready')) as OlderServer;
      expect(server).toMatchObject({ enabled: true, state: { kind: 'ready' } });
      expect(server).not.toHaveProperty('enablement');
      const toggled = (enabled: boolean) => ({ type: 'session/customizationToggled', id, enabled }) as { type: string };
      expect(await refusalOf(client, fixture.uri, toggled(false))).toBeUndefined();
      expect(((await inState(fixture, client, 'stopped')) as OlderServer).enabled).toBe(false);
      expect(await refusalOf(client, fixture.uri, toggled(true))).toBeUndefined();
      expect(((await inState(fixture, client, 'ready')) as OlderServer).enabled).toBe(true);
      if (version === '0.5.1') return;
      client.dispatch(fixture.uri, requested('Stop', id));
      await inState(fixture, client, 'stopped');
    },
  );
});

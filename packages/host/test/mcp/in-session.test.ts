import type { SessionState, StateAction } from '@atrium/protocol';
import { afterEach, describe, expect, it } from 'vitest';
import { inState, McpFixture, POLL, processConfig } from '../support/mcp-fixture.js';
import { callsIn, envelopesOf, openPuppetFixture, runningCall, stateOf } from '../support/session-fixture.js';

const fixture = new McpFixture();
afterEach(() => fixture.close());

/** A running turn in a session that has the tools of a real server. */
async function openMcpFixture() {
  const { server } = await fixture.ready(processConfig('good'), { id: 'mcp:1', name: 'notes', isOfUser: true });
  const extension = { id: server.id, name: server.name, tools: server.tools };
  return { server, ...(await openPuppetFixture({ extensions: [extension] })) };
}

const confirmed = (toolCallId: string, selectedOptionId: string): StateAction => ({
  ...{ type: 'session/toolCallConfirmed', turnId: 't1', toolCallId, selectedOptionId },
  ...{ approved: true, confirmed: 'user-action' },
});

function toolNamesIn({ serverTools }: SessionState): string[] {
  return (serverTools ?? []).map(({ name }) => name);
}

describe('an MCP tool in a session', { timeout: 30_000 }, () => {
  it('[CUS-084] [CUS-085] is a server tool, whose calls say which server and tool they are of', async () => {
    const { client, uri, puppet } = await openMcpFixture();
    expect(toolNamesIn(await stateOf(client, uri))).toContain('mcp__notes__echo');
    const outcome = await puppet.turn.callTool({ id: 'c1', name: 'mcp__notes__echo', input: { text: 'hi' } });
    expect(outcome).toMatchObject({ kind: 'completed', success: true, text: 'hi' });
    const start = envelopesOf(client, uri).find(({ action }) => action.type === 'session/toolCallStart')?.action;
    expect(start).toMatchObject({
      ...{ toolCallId: 'c1', toolName: 'mcp__notes__echo', displayName: 'Echo' },
      _meta: { mcp: { customizationId: 'mcp:1', server: 'notes', tool: 'echo' } },
    });
    expect(start).not.toHaveProperty('toolClientId');
  });

  it('[UNI-026] asks a person first, and leaves its structured value in the state', async () => {
    const { client, uri, puppet } = await openMcpFixture();
    const outcome = puppet.turn.callTool({ id: 'c1', name: 'mcp__notes__blocks', input: {} });
    const call = await runningCall(client, uri, 'pending-confirmation');
    expect(call).toMatchObject({ confirmationTitle: 'Use notes: blocks of the MCP server notes?' });
    client.dispatch(uri, confirmed('c1', 'allow-session'));
    expect(await outcome).toMatchObject({ kind: 'completed', success: true });
    const [done] = callsIn((await stateOf(client, uri)).activeTurn?.responseParts);
    expect(done).toMatchObject({ status: 'completed', structuredContent: { answer: 42 } });
    const again = await puppet.turn.callTool({ id: 'c2', name: 'mcp__notes__blocks', input: {} });
    expect(again).toMatchObject({ kind: 'completed', success: true });
  });

  it('fails as a call, and not as a turn, when the server crashes', async () => {
    const { server, client, uri, puppet } = await openMcpFixture();
    const outcome = puppet.turn.callTool({ id: 'c1', name: 'mcp__notes__crash', input: {} });
    await runningCall(client, uri, 'pending-confirmation');
    client.dispatch(uri, confirmed('c1', 'approve'));
    expect(await outcome).toMatchObject({ kind: 'completed', success: false });
    await inState(server, 'error');
    puppet.finish();
    await expect.poll(async () => (await stateOf(client, uri)).turns.at(-1)?.state, POLL).toBe('complete');
  });
});

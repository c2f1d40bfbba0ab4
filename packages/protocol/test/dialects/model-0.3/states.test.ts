/** How clients of 0.3.0 see states that 1.0 says in other words. */
import { describe, expect, it } from 'vitest';
import type * as Ahp1 from '../../../src/ahp-1/index.js';
import { customizationDown, terminalDown } from '../../../src/dialects/model-0.3/states.js';

const base = { id: 'server', uri: 'file:///mcp', name: 'server' };

function serverIn(state: Ahp1.McpServerState, enablement?: Ahp1.CustomizationEnablement[]) {
  const server: Ahp1.McpServerCustomization = {
    ...{ type: 'mcpServer', ...base, state, channel: 'mcp:/1' },
    ...(enablement && { enablement }),
  };
  const plugin: Ahp1.Customization = { type: 'plugin', id: 'plugin', uri: 'file:///p', name: 'p', children: [server] };
  return [customizationDown(server), customizationDown(plugin).children?.[0]];
}

describe('an MCP server', () => {
  it('[UP-070] [UP-210] shows whether it is on and whether it runs, on its own and in a plugin', () => {
    for (const shown of serverIn({ kind: 'ready' })) {
      expect(shown).toEqual({ type: 'mcpServer', ...base, enabled: true, state: { kind: 'ready' } });
    }
  });

  it('[UP-068] [UP-210] is switched off when the most specific decision says so', () => {
    const off = { kind: 'session', enabled: false } as const;
    for (const shown of serverIn({ kind: 'stopped' }, [off, { kind: 'global', enabled: true }])) {
      expect(shown).toMatchObject({ enabled: false, state: { kind: 'stopped' } });
    }
  });

  it('[UP-070] says why it failed, or what it needs, in the words of older hosts', () => {
    for (const shown of serverIn({ kind: 'error', error: { errorType: 'x', message: 'No such program' } })) {
      expect(shown).toMatchObject({ state: { kind: 'error', message: 'No such program' } });
    }
    const resource = { resource: 'https://mcp.example' };
    for (const shown of serverIn({ kind: 'authRequired', reason: 'expired', resource, description: 'Sign in' })) {
      expect(shown).toMatchObject({ state: { kind: 'authRequired', reason: 'expired', resource, message: 'Sign in' } });
    }
    for (const shown of serverIn({ kind: 'starting', blocking: true })) {
      expect(shown).toMatchObject({ state: { kind: 'starting' } });
    }
  });
});

describe('a terminal', () => {
  const claim = { kind: 'session', session: 'ahp-session:/s', chat: 'ahp-chat:/c' } as const;
  const terminal = { title: 'sh', content: [], claim, isPty: true };

  it('[UP-211] has an exit code when it ended with one, and its session for an owner', () => {
    const owner = { kind: 'session', session: 'ahp-session:/s' };
    expect(terminalDown({ ...terminal, lifecycle: { status: 'running' } })).toEqual({
      ...{ title: 'sh', content: [], claim: owner },
    });
    expect(terminalDown({ ...terminal, lifecycle: { status: 'exited', exitCode: 2 } })).toMatchObject({ exitCode: 2 });
  });
});

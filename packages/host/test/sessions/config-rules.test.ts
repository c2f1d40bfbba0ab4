import { sessionRefusal } from '@atrium/core/sessions/session-rules.js';
import type { Customization, StateAction } from '@atrium/protocol';
import type { SessionState } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { PuppetAgent } from '../support/puppet-agent.js';
import { openFixture, refusalOf, stateOf } from '../support/session-fixture.js';

function configured(values: Record<string, unknown>): SessionState {
  return {
    provider: 'mock',
    title: '',
    status: 1,
    lifecycle: 'ready',
    activeClients: [],
    chats: [],
    config: {
      schema: {
        type: 'object',
        properties: {
          mode: { type: 'string', title: 'Mode', enum: ['a', 'b'], sessionMutable: true },
          branch: { type: 'string', title: 'Branch', enum: ['main'], enumDynamic: true, sessionMutable: true },
          fixed: { type: 'string', title: 'Fixed' },
        },
      },
      values,
    },
  };
}

function verdict(config: Record<string, unknown>, replace?: boolean): string | undefined {
  const action = { type: 'session/configChanged' as const, config, ...(replace && { replace }) };
  return sessionRefusal(action, { state: configured({ mode: 'a', fixed: 'x' }), clientId: 'desk' });
}

describe('changing the configuration', () => {
  it('[AHP-139] is taken for what may change, and everyone sees the new value', async () => {
    const { client, uri, join } = await openFixture();
    const phone = await join('phone');
    const reason = await refusalOf(client, uri, { type: 'session/configChanged', config: { autoApprove: true } });
    expect(reason).toBeUndefined();
    expect((await stateOf(phone, uri)).config?.values).toEqual({ mode: 'ask', autoApprove: true });
    await phone.action(uri, 'session/configChanged');
  });

  const WRONG: Record<string, unknown>[] = [{ autoApprove: 'yes' }, { autoApprove: 1 }, { other: true }];

  it.each([...WRONG, { constructor: true }])('[AHP-139] is refused for %j, and nothing changes', async (config) => {
    const { client, uri } = await openFixture();
    expect(await refusalOf(client, uri, { type: 'session/configChanged', config } as StateAction)).toBeDefined();
    expect((await stateOf(client, uri)).config?.values).toEqual({ mode: 'ask', autoApprove: false });
  });

  it('[AHP-139] is refused for what cannot change after creation, unless it stays as it is', () => {
    expect(verdict({ fixed: 'y' })).toContain('fixed');
    expect(verdict({ fixed: 'x', mode: 'b' })).toBeUndefined();
  });

  it('[AHP-139] is refused for a value that is not listed, unless more may be looked up', () => {
    expect(verdict({ mode: 'c' })).toContain('a, b');
    expect(verdict({ branch: 'feature' })).toBeUndefined();
  });

  it('[AHP-139] may not drop what cannot change by replacing everything', () => {
    expect(verdict({ mode: 'b' }, true)).toContain('fixed');
    expect(verdict({ mode: 'b', fixed: 'x' }, true)).toBeUndefined();
    expect(verdict({ fixed: 'x' }, true)).toBeUndefined();
  });
});

describe('toggling a customization', () => {
  const plugin = {
    type: 'plugin',
    id: 'plugin',
    uri: 'file:///p',
    name: 'P',
    children: [
      { type: 'mcpServer', id: 'server', uri: 'file:///p/s', name: 'S', state: { kind: 'stopped' } },
      { type: 'prompt', id: 'prompt', uri: 'file:///p/q', name: 'Q' },
    ],
  } as unknown as Customization;

  it('[AHP-141] is taken for one that is there, and for a server inside of it, and refused for all others', async () => {
    const { client, uri } = await openFixture({
      agent: new PuppetAgent('puppet', { customizations: [plugin] as never }),
      session: { provider: 'puppet' },
    });
    const toggle = (id: string) => refusalOf(client, uri, { type: 'session/customizationToggled', id, enabled: false });
    expect(await toggle('plugin')).toBeUndefined();
    expect((await stateOf(client, uri)).customizations).toMatchObject([{ id: 'plugin', enabled: false }]);
    expect(await toggle('prompt')).toContain('prompt');
    expect(await toggle('nowhere')).toContain('nowhere');
    expect(await toggle('server')).toBeUndefined();
    const { action } = await client.action(uri, 'session/customizationUpdated');
    expect(action.customization).toMatchObject({ id: 'plugin', enabled: false });
    const [container] = (await stateOf(client, uri)).customizations ?? [];
    expect(container?.children).toMatchObject([{ id: 'server', enabled: false }, { id: 'prompt' }]);
  });

  it('[AHP-141] is refused when there are none', async () => {
    const { client, uri } = await openFixture();
    const action = { type: 'session/customizationToggled' as const, id: 'x', enabled: true };
    expect(await refusalOf(client, uri, action)).toContain('x');
  });
});

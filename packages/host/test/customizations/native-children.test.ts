/** Skills, rules, agents, prompts and hooks that clients of AHP 1.0 switch off one by one. */
import type { ChildCustomization, SessionState } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { type CustomFixture, openCustomFixture, POLL, servedFiles } from '../support/custom-fixture.js';
import { KeptLog } from '../support/logs.js';
import { refusalOf } from '../support/session-fixture.js';
import type { RawClient } from '../support/test-host.js';

const FILES = {
  '.plugin/plugin.json': '{"name":"kit"}',
  'skills/hello/SKILL.md': '---\nname: hello\ndescription: Says hello.\n---\nHELLO BODY',
  'skills/bye/SKILL.md': '---\nname: bye\ndescription: Says bye.\n---\nBYE BODY',
  'rules/short.md': '---\ndescription: s\nalwaysApply: true\n---\nSHORT LINES',
  'agents/reader.md': '---\nname: reader\ndescription: Reads.\n---\nONLY READ.',
};

const USER = Object.fromEntries(Object.entries(FILES).map(([name, text]) => [`plugins/kit/${name}`, text]));

async function join(fixture: CustomFixture): Promise<RawClient> {
  const client = await fixture.connect('editor', servedFiles('virtual://kit', FILES), { protocolVersions: ['1.0.0'] });
  await client.request('subscribe', { channel: fixture.uri });
  return client;
}

async function openNative(log = new KeptLog()) {
  const fixture = await openCustomFixture({ user: USER, log });
  await fixture.entry('kit');
  return { fixture, client: await join(fixture) };
}

async function child(fixture: CustomFixture, client: RawClient, name: string): Promise<ChildCustomization> {
  const find = async () => {
    const { customizations = [] } = await client.state<SessionState>(fixture.uri);
    const children = customizations.flatMap((entry) => ('children' in entry && entry.children) || []);
    return children.find((each) => each.name === name);
  };
  await expect.poll(find, POLL).toBeTruthy();
  return (await find()) as ChildCustomization;
}

const isOff = (found: ChildCustomization) => 'enabled' in found && found.enabled === false;

async function toggle(fixture: CustomFixture, client: RawClient, name: string, enabled: boolean): Promise<void> {
  const { id } = await child(fixture, client, name);
  const action = { type: 'session/customizationToggled', id, enablement: [{ kind: 'session', enabled }] };
  expect(await refusalOf(client, fixture.uri, action as { type: string })).toBeUndefined();
}

describe('a part of a plugin, for a client of 1.0', { timeout: 60_000 }, () => {
  it('[UP-069] [UP-102] is used no more when it is switched off, and again when it is on; its neighbours stay', async () => {
    const { fixture, client } = await openNative();
    for (const name of ['hello', 'short']) await toggle(fixture, client, name, false);
    expect(isOff(await child(fixture, client, 'hello'))).toBe(true);
    const first = await fixture.turn('/hello');
    expect(first.turn.context).toEqual([]);
    const prompt = (await first.turn.renderPrompt()).get('custom_instructions') ?? '';
    expect(prompt).not.toContain('SHORT LINES');
    expect(prompt).toContain('bye');
    expect(prompt).not.toContain('hello');
    first.finish();
    await fixture.client.action(fixture.uri, 'session/turnComplete');
    for (const name of ['hello', 'short']) await toggle(fixture, client, name, true);
    const second = await fixture.turn('/hello');
    expect(second.turn.context.join()).toContain('HELLO BODY');
    expect((await second.turn.renderPrompt()).get('custom_instructions')).toContain('SHORT LINES');
    second.finish();
  });

  it('[UP-102] cannot be chosen as an agent while it is off', async () => {
    const { fixture, client } = await openNative();
    const { uri } = await child(fixture, client, 'reader');
    await toggle(fixture, client, 'reader', false);
    const choice = { type: 'session/agentChanged', agent: { uri } } as const;
    expect(await refusalOf(fixture.client, fixture.uri, choice)).toContain('the agent reader is switched off');
    await toggle(fixture, client, 'reader', true);
    expect(await refusalOf(fixture.client, fixture.uri, choice)).toBeUndefined();
  });

  it('[UP-069] stays off when its files are read again, and over a restart of the host', async () => {
    const { fixture, client } = await openNative();
    await toggle(fixture, client, 'hello', false);
    await fixture.restart();
    const later = await join(fixture);
    expect(isOff(await child(fixture, later, 'hello'))).toBe(true);
    const { turn, finish } = await fixture.turn('/hello');
    expect(turn.context).toEqual([]);
    finish();
    expect(isOff(await child(fixture, later, 'hello'))).toBe(true);
    expect(isOff(await child(fixture, later, 'bye'))).toBe(false);
  });

  it('[UP-069] of a client begins as that client decided', async () => {
    const fixture = await openCustomFixture();
    const client = await join(fixture);
    const childEnablement = { hello: [{ kind: 'global', enabled: false }] };
    const customizations = [{ type: 'plugin', id: 'p', uri: 'virtual://kit', name: 'kit', childEnablement }];
    const activeClient = { clientId: 'editor', tools: [], customizations };
    const claim = { type: 'session/activeClientSet', activeClient } as { type: string };
    expect(await refusalOf(client, fixture.uri, claim)).toBeUndefined();
    expect(isOff(await child(fixture, client, 'hello'))).toBe(true);
    const { turn, finish } = await fixture.turn('/hello');
    expect(turn.context).toEqual([]);
    finish();
    expect(isOff(await child(fixture, client, 'bye'))).toBe(false);
  });

  it('[UP-069] [CUS-097] stays off when its client publishes the plugin anew', async () => {
    const fixture = await openCustomFixture();
    const client = await join(fixture);
    const publish = async (nonce: string, members: object = {}) => {
      const plugin = { type: 'plugin', id: 'p', uri: 'virtual://kit', name: 'kit', nonce, ...members };
      const activeClient = { clientId: 'editor', tools: [], customizations: [plugin] };
      const claim = { type: 'session/activeClientSet', activeClient } as { type: string };
      expect(await refusalOf(client, fixture.uri, claim)).toBeUndefined();
    };
    await publish('1', { childEnablement: { bye: [{ kind: 'global', enabled: false }] } });
    await toggle(fixture, client, 'hello', false);
    expect(isOff(await child(fixture, client, 'bye'))).toBe(true);
    for (const nonce of ['2', '3']) {
      await publish(nonce);
      expect(isOff(await child(fixture, client, 'hello'))).toBe(true);
      expect(isOff(await child(fixture, client, 'bye'))).toBe(false);
    }
    const { turn, finish } = await fixture.turn('/hello');
    expect(turn.context).toEqual([]);
    finish();
  });

  it('[UP-210] is not switched by clients of 0.3.0, which do not see that it can be', async () => {
    const { fixture, client } = await openNative();
    const { id } = await child(fixture, client, 'hello');
    const action = { type: 'session/customizationToggled', id, enabled: false } as const;
    expect(await refusalOf(fixture.client, fixture.uri, action)).toContain('there is no customization');
    expect(isOff(await child(fixture, client, 'hello'))).toBe(false);
  });
});

import { MATCH_INPUT_MAX_CHARACTERS } from '@atrium/core/util/patterns.js';
import { HOOK_RULES_PER_PROVIDER_MAX } from '@atrium/protocol/provider';
import { describe, expect, it } from 'vitest';
import { PATHS_MAX } from '../../../src/gateway/hooks/pre-tool-rules.js';
import {
  answerNext,
  call,
  openProviderFixture,
  type ProviderFixture,
  refusalTo,
  tool,
  updated,
} from '../../support/provider-fixture.js';
import { callsIn, type FixtureOptions, openPuppetFixture, stateOf } from '../../support/session-fixture.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';
import { echoTool } from '../../support/tools.js';

const deny = (match: object, reason = 'not now') => ({ match, action: 'deny', reason });
const note = (match: object, content: string) => ({ match, action: 'context', content });
const gate = (match: object, more: object = {}) => ({ match, action: 'gate', gateId: 'g', ...more });

function guarded(rules: object[], options: FixtureOptions = {}): Promise<ProviderFixture> {
  const tools = ['shell', 'write_file', 'echo'].map((name) => echoTool(name));
  return openProviderFixture({ hooks: { onPreToolUse: rules } }, { tools, ...options });
}

async function isDenied(fixture: ProviderFixture, name: string, input: object = {}): Promise<boolean> {
  return (await call(fixture, name, input)).kind === 'denied';
}

describe('rules of a provider', () => {
  it('[GW-134] [GW-135] hold for tools of the host, of the agent, of extensions and of other providers', async () => {
    const mcp = { ...echoTool('mcp_tool'), owner: 'mcp-server:/x' };
    const extension = { id: 'mcp-server:/x', name: 'x', tools: [mcp] };
    const rules = ['shell', 'mcp_tool', 'their_tool', 'own_thing'].map((name) => deny({ tool: name }));
    const fixture = await guarded(rules, { extensions: [extension] });
    const other = await TestProvider.bound(fixture.host, { name: 'other', tools: [tool('their_tool')] });
    const count = fixture.provider.received.length;
    for (const name of ['shell', 'mcp_tool', 'their_tool'])
      expect(await call(fixture, name)).toEqual({ kind: 'denied', reason: 'ci: not now' });
    const own = fixture.puppet.turn.agentRunCall({ name: 'own_thing', displayName: 'Own' });
    expect(await own.check({}, 'Do it')).toEqual({ kind: 'denied', reason: 'ci: not now' });
    expect(other.of('tool.call')).toEqual([]);
    expect(fixture.provider.received).toHaveLength(count);
    expect(await isDenied(fixture, 'echo')).toBe(false);
  });

  it('[GW-136] [UNI-018] may add a note, which the model reads once and people see', async () => {
    const fixture = await guarded([note({ tool: 'echo' }, 'remember the milk'), note({}, 'and the bread')]);
    const outcome = await call(fixture, 'echo');
    expect(outcome).toMatchObject({ kind: 'completed', success: true });
    const { text } = outcome as { text: string };
    expect(text.split('remember the milk')).toHaveLength(2);
    expect(text).toContain('[Note of ci: remember the milk\nand the bread]');
    await settle();
    const parts = (await stateOf(fixture.client, fixture.uri)).activeTurn?.responseParts ?? [];
    expect(parts.filter(({ kind }) => kind === 'systemNotification')).toMatchObject([
      { content: 'ci: remember the milk\nand the bread' },
    ]);
    expect(JSON.stringify(callsIn(parts))).not.toContain('milk');
  });

  it('[GW-144] match by tool, by arguments and by provider, and by all of them together', async () => {
    const fixture = await guarded([
      deny({ tool: 'shell', args: 'git push' }),
      deny({ provider: 'other' }),
      deny({ provider: 'third', tool: 'c', args: 'x' }),
      deny({ args: 'everywhere' }),
    ]);
    await TestProvider.bound(fixture.host, { name: 'other', tools: [tool('b')] });
    const third = await TestProvider.bound(fixture.host, { name: 'third', tools: [tool('c'), tool('d')] });
    const cases: [string, object, boolean][] = [
      ['shell', { command: 'git push origin' }, true],
      ['shell', { command: 'git pull' }, false],
      ['echo', { text: 'git push' }, false],
      ['echo', { text: 'everywhere' }, true],
      ['b', {}, true],
    ];
    for (const [name, input, expected] of cases)
      expect([name, await isDenied(fixture, name, input)]).toEqual([name, expected]);
    expect(await isDenied(fixture, 'c', { a: 'x' })).toBe(true);
    for (const [name, input] of [
      ['c', { a: 'y' }],
      ['d', { a: 'x' }],
    ] as const) {
      const passed = call(fixture, name, input);
      await answerNext(third);
      expect(await passed).toMatchObject({ success: true });
    }
  });

  it('[GW-145] name a tool as the host does, and mean what agents call it', async () => {
    const fixture = await guarded([deny({ tool: 'shell' }), note({ tool: '*' }, 'any'), note({}, 'all')]);
    const own = async (name: string) =>
      (await fixture.puppet.turn.agentRunCall({ name, displayName: name }).check({}, name)).kind;
    expect(await own('bash')).toBe('denied');
    expect(await own('Bash')).toBe('denied');
    expect(await own('SHELL')).toBe('granted');
    const outcome = await call(fixture, 'echo');
    expect(outcome).toMatchObject({ text: expect.stringContaining('ci: any\nall') });
    const other = await TestProvider.bound(fixture.host, { name: 'other', tools: [tool('bash')] });
    const theirs = call(fixture, 'bash');
    await answerNext(other);
    expect(await theirs).toMatchObject({ success: true });
  });

  it('[GW-146] see the arguments as compact JSON in the order in which they came', async () => {
    const input = { z: 'ü€😀', a: { nested: [1, true, null, 'x"y\\\n'] }, m: 1.5 };
    const escaped = JSON.stringify(input).replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
    const fixture = await guarded([deny({ tool: 'echo', args: `^${escaped}$` })]);
    expect(await isDenied(fixture, 'echo', input)).toBe(true);
    expect(await isDenied(fixture, 'echo', { a: input.a, z: input.z, m: 1.5 })).toBe(false);
  });

  it('[GW-146] see also what is no object', async () => {
    const fixture = await guarded([deny({ args: 'rm -rf' })]);
    const own = fixture.puppet.turn.agentRunCall({ name: 'run', displayName: 'Run' });
    expect((await own.check('rm -rf /', 'Run')).kind).toBe('denied');
  });

  it('[GW-147] [REL-045] that would run for ever do not stop the host', async () => {
    const fixture = await guarded([deny({ tool: 'echo', args: '(a+)+$' })]);
    // Left to itself the pattern would run for hours.
    for (let time = 0; time < 5; time++)
      expect(await isDenied(fixture, 'echo', { text: `${'a'.repeat(40)}b` })).toBe(true);
  });

  it('[GW-148] apply when nobody can tell, unless they only add text', async () => {
    const bomb = { tool: 'echo', args: '(a+)+$' };
    const fuse = { text: `${'a'.repeat(40)}b` };
    const denied = await call(await guarded([deny(bomb)]), 'echo', fuse);
    expect(denied).toMatchObject({
      kind: 'denied',
      reason: expect.stringMatching(/^ci: not now \(whether this rule applies/),
    });
    const noted = await call(await guarded([note(bomb, 'unsure')]), 'echo', fuse);
    expect((noted as { text: string }).text).not.toContain('unsure');
    const asking = await guarded([gate(bomb)]);
    const asked = call(asking, 'echo', fuse);
    const { callId } = await asking.provider.next('gate.check');
    asking.provider.send({ type: 'gate.result', gateId: 'g', callId, decision: 'allow' });
    expect(await asked).toMatchObject({ kind: 'completed' });
  });

  it('[GW-148] apply to arguments that are too long to look at', async () => {
    const fixture = await guarded([deny({ tool: 'echo', args: 'never there' }), deny({ tool: 'shell' })]);
    expect(await isDenied(fixture, 'echo', { text: 'x'.repeat(MATCH_INPUT_MAX_CHARACTERS) })).toBe(true);
    expect(await isDenied(fixture, 'echo', { text: 'x'.repeat(1_000) })).toBe(false);
  });

  it('[GW-149] [GW-150] that make no sense are refused with all that came along', async () => {
    const fixture = await guarded([deny({ tool: 'echo' })]);
    const bad = [{ args: '(' }, { branch: 'main' }, { args: 'x'.repeat(1_001) }, { file: 'x'.repeat(1_001) }];
    for (const match of bad) {
      const update = { type: 'hooks.update', requestId: 'r', onPreToolUse: [note({}, 'new'), deny(match)] };
      expect(await refusalTo(fixture.provider, update)).toMatchObject({
        code: 'INVALID_JSON',
        replyTo: 'hooks.update',
      });
      const hello = {
        type: 'hello',
        name: 'fresh',
        protocolVersion: 2,
        tools: [tool('t')],
        hooks: { onPreToolUse: [deny(match)] },
      };
      expect(await refusalTo(TestProvider.connect(fixture.host), hello)).toMatchObject({ code: 'INVALID_JSON' });
    }
    expect(await isDenied(fixture, 'echo')).toBe(true);
    expect(fixture.puppet.turn.tools().map(({ name }) => name)).not.toContain('t');
  });

  it('[GW-150] match files by a glob on the arguments that are paths', async () => {
    const fixture = await guarded([deny({ file: '*.sql' }), deny({ tool: 'write_file', file: 'secret/**' })]);
    const cases: [string, object, boolean][] = [
      ['echo', { path: 'db/x.sql' }, true],
      ['echo', { path: 'db/x.ts' }, false],
      ['echo', { text: 'db/x.sql' }, false],
      ['write_file', { file_path: 'public/../secret/a' }, true],
      ['echo', { file_path: 'secret/a' }, false],
    ];
    for (const [name, input, expected] of cases)
      expect([input, await isDenied(fixture, name, input)]).toEqual([input, expected]);
  });

  it('[GW-150] [GW-148] apply when there are more paths than can be looked at, unless they only add text', async () => {
    const paths = Array.from({ length: PATHS_MAX + 1 }, (_, index) => `${index}.ts`);
    const fixture = await guarded([deny({ file: '*.sql' })]);
    expect(await isDenied(fixture, 'echo', { paths })).toBe(true);
    expect(await isDenied(fixture, 'echo', { paths: paths.slice(1) })).toBe(false);
    const noted = await call(await guarded([note({ file: '*.sql' }, 'unsure')]), 'echo', { paths });
    expect(noted).toMatchObject({ kind: 'completed', text: expect.not.stringContaining('unsure') });
  });

  it('[GW-151] [GW-216] are fifty at most', async () => {
    const many = (count: number) => Array.from({ length: count }, () => note({ tool: 'echo' }, 'x'));
    const fixture = await guarded(many(HOOK_RULES_PER_PROVIDER_MAX));
    const update = { type: 'hooks.update', requestId: 'r' };
    const refusal = await refusalTo(fixture.provider, {
      ...update,
      onPreToolUse: many(HOOK_RULES_PER_PROVIDER_MAX + 1),
    });
    expect(refusal).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', requestId: 'r' });
    await updated(fixture.provider, { type: 'hooks.update', onPreToolUse: many(HOOK_RULES_PER_PROVIDER_MAX) });
  });

  it('[GW-152] hold in the sessions of their provider only', async () => {
    const fixture = await guarded([deny({ tool: 'echo' })]);
    const elsewhere = await fixture.client.session(undefined, { provider: 'puppet' });
    fixture.client.dispatch(elsewhere, { type: 'session/turnStarted', turnId: 't9', userMessage: { text: 'go' } });
    const { turn } = await fixture.agent.turn(1);
    expect(await isDenied(fixture, 'echo')).toBe(true);
    expect((await turn.callTool({ name: 'echo', input: {} })).kind).toBe('completed');
  });

  it('[GW-154] are replaced as a whole, and only when a new list comes', async () => {
    const fixture = await guarded([deny({ tool: 'echo' })]);
    await updated(fixture.provider, { type: 'hooks.update', transforms: { tone: { action: 'append', content: 'x' } } });
    expect(await isDenied(fixture, 'echo')).toBe(true);
    await updated(fixture.provider, { type: 'hooks.update', onPreToolUse: [deny({ tool: 'shell' })] });
    expect([await isDenied(fixture, 'echo'), await isDenied(fixture, 'shell')]).toEqual([false, true]);
    await updated(fixture.provider, { type: 'hooks.update', onPreToolUse: [] });
    expect(await isDenied(fixture, 'shell')).toBe(false);
  });

  it('[UNI-047] stop applying where their provider is switched off, and people are told', async () => {
    const fixture = await guarded([deny({ tool: 'echo' }), gate({ tool: 'shell' })]);
    const [entry] = (await stateOf(fixture.client, fixture.uri)).customizations ?? [];
    const toggle = (enabled: boolean) => {
      fixture.client.dispatch(fixture.uri, { type: 'session/customizationToggled', id: entry?.id ?? '', enabled });
      return settle();
    };
    await toggle(false);
    expect([await isDenied(fixture, 'echo'), await isDenied(fixture, 'shell')]).toEqual([false, false]);
    expect(fixture.provider.of('gate.check')).toEqual([]);
    const parts = (await stateOf(fixture.client, fixture.uri)).activeTurn?.responseParts;
    expect(JSON.stringify(parts)).toContain('switched off');
    await toggle(true);
    expect(await isDenied(fixture, 'echo')).toBe(true);
  });

  it('of several instances speak once', async () => {
    const hello = (instance: string) => ({ name: 'p', instance, hooks: { onPreToolUse: [note({}, 'same words')] } });
    const fixture = await openPuppetFixture({ tools: [echoTool('echo')] });
    for (const instance of ['one', 'two']) await TestProvider.bound(fixture.host, hello(instance));
    const { text } = (await call(fixture, 'echo')) as { text: string };
    expect(text.split('same words')).toHaveLength(2);
  });
});

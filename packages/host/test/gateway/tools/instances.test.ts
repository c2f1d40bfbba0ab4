import { describe, expect, it } from 'vitest';
import {
  answerNext,
  call,
  callsOf,
  offer,
  offered,
  openProviderFixture,
  type ProviderFixture,
  refusalTo,
  tool,
} from '../../support/provider-fixture.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';

const SHOT = tool('screenshot', { parameters: { properties: { full: { type: 'boolean' } } } });

function tab(instance: string, more: object = {}): object {
  return { name: 'browser', instance, tools: [SHOT], metadata: { title: `Title\n of ${instance}` }, ...more };
}

interface Tabs extends ProviderFixture {
  readonly second: TestProvider;
}

async function openTabs(first: object = tab('tab-1'), second: object = tab('tab-2')): Promise<Tabs> {
  const fixture = await openProviderFixture(first);
  return { ...fixture, second: await TestProvider.bound(fixture.host, second) };
}

function targetOf(fixture: ProviderFixture, key = 'target') {
  const { properties } = offer(fixture, 'screenshot')?.inputSchema ?? {};
  return (properties as Record<string, { description: string }> | undefined)?.[key];
}

describe('instances of one provider', () => {
  it('[GW-104] [GW-105] [UNI-017] share one tool, with a target that lists them and follows them', async () => {
    const fixture = await openTabs();
    await TestProvider.bound(fixture.host, tab('tab-3', { metadata: {} }));
    expect(offered(fixture)).toEqual(['screenshot', 'list_browser_instances']);
    const { inputSchema, _meta } = offer(fixture, 'screenshot') ?? {};
    expect(Object.keys(inputSchema?.properties ?? {})).toEqual(['full', 'target']);
    expect(inputSchema?.required ?? []).not.toContain('target');
    expect(targetOf(fixture)).toMatchObject({ type: 'string' });
    expect(targetOf(fixture)?.description).toContain('tab-1 (Title of tab-1), tab-2 (Title of tab-2), tab-3.');
    expect(_meta?.gateway).toMatchObject({ provider: 'browser', instances: ['tab-1', 'tab-2', 'tab-3'] });
    fixture.second.drop();
    await settle();
    expect(targetOf(fixture)?.description).not.toContain('tab-2');
    fixture.provider.send({ type: 'goodbye' });
    await settle();
    expect(targetOf(fixture)).toBeUndefined();
    expect(offered(fixture)).toEqual(['screenshot']);
  });

  it('[GW-106] are chosen by target, which they do not see', async () => {
    const fixture = await openTabs();
    for (const [target, provider] of [
      ['tab-2', fixture.second],
      ['tab-1', fixture.provider],
    ] as const) {
      const outcome = call(fixture, 'screenshot', { full: true, target });
      expect(await answerNext(provider)).toMatchObject({ args: { full: true } });
      expect(provider.of('tool.call').at(-1)?.args).not.toHaveProperty('target');
      expect(await outcome).toMatchObject({ success: true });
    }
  });

  it('[GW-107] without a target, the one that was heard last is called', async () => {
    const fixture = await openTabs();
    for (const provider of [fixture.provider, fixture.second, fixture.provider]) {
      provider.send({ type: 'push', level: 'keep', event: 'somebody clicked' });
      await settle();
      const outcome = call(fixture, 'screenshot');
      await answerNext(provider);
      expect(await outcome).toMatchObject({ success: true });
    }
  });

  it('[GW-108] that do not exist are not called, and nobody else is', async () => {
    const fixture = await openTabs();
    const unknown = await call(fixture, 'screenshot', { target: 'tab-9' });
    expect(unknown).toMatchObject({ success: false, text: 'there is no such instance; connected are tab-1, tab-2' });
    expect((await callsOf(fixture))[0]).toMatchObject({ status: 'completed', error: { code: 'NOT_FOUND' } });
    fixture.second.drop();
    await settle();
    // The model chose it while it was there: the other tab is not what it meant.
    expect(await call(fixture, 'screenshot', { target: 'tab-2' })).toMatchObject({ success: false });
    expect(fixture.provider.of('tool.call')).toEqual([]);
    const own = call(fixture, 'screenshot', { target: 'tab-1' });
    expect((await answerNext(fixture.provider)).args).toEqual({});
    expect(await own).toMatchObject({ success: true });
  });

  it('[GW-109] are listed by a tool of the gateway, with what they say about themselves', async () => {
    const fixture = await openTabs(
      tab('tab-1', { metadata: { title: 'One', url: 'https://a.test', instance: 'tab-2' } }),
      tab('tab-2', { metadata: { title: 'Two' } }),
    );
    const outcome = await call(fixture, 'list_browser_instances');
    expect(outcome.kind === 'completed' && JSON.parse(outcome.text)).toEqual([
      { instance: 'tab-1', title: 'One', url: 'https://a.test' },
      { instance: 'tab-2', title: 'Two' },
    ]);
  });

  it('[GW-110] must agree on the parameters of a tool, in whatever order they write them', async () => {
    const parameters = { type: 'object', properties: { a: { type: 'string' }, b: {} } };
    const turned = { properties: { b: {}, a: { type: 'string' } }, type: 'object' };
    const fixture = await openTabs(
      tab('tab-1', { tools: [tool('screenshot', { parameters })] }),
      tab('tab-2', { tools: [tool('screenshot', { parameters: turned })] }),
    );
    const third = TestProvider.connect(fixture.host);
    const other = tab('tab-3', { tools: [tool('screenshot', { parameters: { properties: { a: {} } } })] });
    const refusal = await refusalTo(third, { type: 'hello', protocolVersion: 2, ...other });
    expect(refusal).toMatchObject({ code: 'TOOL_CONFLICT', message: expect.stringContaining('browser (tab-1)') });
  });

  it('[GW-110] a tool keeps a target of its own, and is chosen by _target', async () => {
    const own = tool('screenshot', { parameters: { properties: { target: { type: 'string' } } } });
    const fixture = await openTabs(tab('tab-1', { tools: [own] }), tab('tab-2', { tools: [own] }));
    expect(targetOf(fixture, '_target')?.description).toContain('tab-1');
    const outcome = call(fixture, 'screenshot', { target: '#main', _target: 'tab-1' });
    expect((await answerNext(fixture.provider)).args).toEqual({ target: '#main' });
    expect(await outcome).toMatchObject({ success: true });
  });

  it('[GW-111] take over a call once, when the first one says so and the model named none', async () => {
    const fixture = await openTabs();
    fixture.provider.send({ type: 'push', level: 'keep', event: 'active' });
    await settle();
    const retried = call(fixture, 'screenshot', { full: true });
    await answerNext(fixture.provider, { error: 'no page', retryable: true });
    expect((await answerNext(fixture.second, { data: 'from two' })).args).toEqual({ full: true });
    expect(await retried).toMatchObject({ success: true, text: 'from two' });
    const both = call(fixture, 'screenshot');
    await answerNext(fixture.second, { error: 'first', retryable: true });
    await answerNext(fixture.provider, { error: 'second', retryable: true });
    expect(await both).toMatchObject({ success: false, text: 'second' });
    const chosen = call(fixture, 'screenshot', { target: 'tab-1' });
    await answerNext(fixture.provider, { error: 'no page', retryable: true });
    expect(await chosen).toMatchObject({ success: false, text: 'no page' });
    const final = call(fixture, 'screenshot');
    await answerNext(fixture.provider, { error: 'broken' });
    expect(await final).toMatchObject({ success: false, text: 'broken' });
    expect([fixture.provider.of('tool.call').length, fixture.second.of('tool.call').length]).toEqual([4, 2]);
  });
});

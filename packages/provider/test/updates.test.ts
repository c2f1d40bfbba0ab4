import { describe, expect, it } from 'vitest';
import { allow, deny, LocalErrorCode, ProviderError, type Tool } from '../src/index.js';
import { connected, connecting, eventually } from './support/connected.js';

const tool = (answer: string): Tool => ({ description: answer, run: () => answer });

describe('updates', () => {
  it('add, replace and remove tools, and resolve when the gateway has taken them', async () => {
    const { gateway, provider } = await connected({ tools: { one: tool('1'), two: tool('2') } });
    expect(await provider.updateTools({ two: null, one: tool('eins'), three: tool('3') })).toEqual({
      acknowledged: true,
      revision: 1,
    });
    expect([...gateway.provider.tools.keys()].sort()).toEqual(['one', 'three']);
    expect(await gateway.call('one')).toMatchObject({ data: 'eins' });
    expect(await gateway.call('three')).toMatchObject({ data: '3' });
    expect(await gateway.call('two')).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('of hooks say what the agent of the session cannot do', async () => {
    const { gateway, provider } = await connected({}, { habits: { acknowledges: false } });
    const updated = provider.updateHooks({ deny: [{ match: { tool: 'shell' }, reason: 'no' }] });
    const { requestId = '' } = await gateway.next('hooks.update');
    gateway.send({ type: 'ack', requestId, sessionId: 's', revision: 1, degraded: ['gates:host-run'] });
    expect(await updated).toEqual({ acknowledged: true, revision: 1, degraded: ['gates:host-run'] });
  });

  it('tell the whole list, because older gateways replace theirs by it', async () => {
    const { gateway, provider } = await connected({ tools: { one: tool('1') } });
    await provider.updateTools({ two: tool('2') });
    expect((await gateway.next('tools.update')).tools?.map(({ name }) => name)).toEqual(['one', 'two']);
  });

  it('of one kind go one after the other, each on top of the one before', async () => {
    const { gateway, provider } = await connected();
    const all = ['a', 'b', 'c'].map((name) => provider.updateTools({ [name]: tool(name) }));
    expect((await Promise.all(all)).map(({ revision }) => revision)).toEqual([1, 2, 3]);
    expect([...gateway.provider.tools.keys()]).toEqual(['a', 'b', 'c']);
  });

  it('that are refused reject with the code and what to do, and leave everything as it was', async () => {
    const { gateway, provider } = await connected({ tools: { one: tool('1') } });
    gateway.refuseNext('tools.update', 'TOOL_CONFLICT', 'the tool two belongs to another');
    const refused = await provider.updateTools({ two: tool('2') }).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ProviderError);
    expect(refused).toMatchObject({ code: 'TOOL_CONFLICT', replyTo: 'tools.update', advice: 'Rename the tool.' });
    await provider.updateTools({ three: tool('3') });
    expect([...gateway.provider.tools.keys()]).toEqual(['one', 'three']);
  });

  it('replace rules and merge transforms', async () => {
    const { gateway, provider } = await connected({
      gates: [{ match: {}, check: () => deny('no') }],
      transforms: { tone: { append: 'a' }, intro: { replace: 'b' } },
    });
    await provider.updateHooks({ transforms: { tone: null, end: { callback: (text) => `${text}!` } } });
    expect([...gateway.provider.transforms.keys()]).toEqual(['intro', 'end']);
    expect(await gateway.transform('end', 'x')).toBe('x!');
    expect(await gateway.check('shell')).toEqual(deny('no'));
    await provider.updateHooks({ gates: [{ match: {}, check: () => allow() }] });
    expect(await gateway.check('shell')).toEqual(allow());
  });

  it('change the context and set filters', async () => {
    const { gateway, provider } = await connected({ context: 'CI is red' });
    await provider.updateContext('CI is green');
    expect(gateway.provider.context).toBe('CI is green');
    await provider.setFilter('builds', [{ match: 'ok', outcome: 'drop' }]);
    expect(await gateway.next('filter.set')).toMatchObject({ stream: 'builds' });
  });

  it('survive a lost connection: the next hello says them, and filters are set again', async () => {
    const { gateway, provider, states } = await connected({ tools: { one: tool('1') }, context: 'old' });
    await provider.setFilter('builds', [{ match: 'ok', outcome: 'drop' }]);
    gateway.drop();
    await eventually(() => states.at(-1)?.at === 'reconnecting');
    const pending = [provider.updateTools({ two: tool('2') }), provider.updateContext('')];
    expect(await Promise.all(pending)).toEqual([{ acknowledged: true }, { acknowledged: true }]);
    expect([...gateway.provider.tools.keys()]).toEqual(['one', 'two']);
    expect(gateway.provider.hello.context).toBe('');
    await eventually(() => gateway.received.filter(({ type }) => type === 'filter.set').length === 2, 'the filter');
  });

  it('that make no sense are refused before anything is sent', async () => {
    const { gateway, provider } = await connected();
    await expect(provider.updateTools({ 'a b': tool('x') })).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
    expect(gateway.received.map(({ type }) => type)).toEqual(['hello']);
  });

  it('reject when the provider is closed before they are taken', async () => {
    const { provider } = connecting({ transport: () => new Promise(() => {}) });
    const pending = provider.updateContext('x');
    await provider.close();
    await expect(pending).rejects.toMatchObject({ code: LocalErrorCode.Closed });
    await expect(provider.ready).rejects.toMatchObject({ code: LocalErrorCode.Closed });
  });
});

describe('queries', () => {
  it('read own streams', async () => {
    const { provider } = await connected();
    await provider.push.keep('one', { stream: 'builds' });
    await provider.push.keep('two', { stream: 'builds', metadata: { run: 2 } });
    const { 'builds@bench': builds = [] } = await provider.query(['builds'], { last: 5 });
    expect(builds.map(({ event }) => event)).toEqual(['two', 'one']);
    expect(builds[0]?.metadata).toEqual({ run: 2 });
  });

  it('reject with what the gateway says, or at once without a connection', async () => {
    const { gateway, provider, states } = await connected();
    gateway.refuseNext('stream.query', 'UNAUTHORIZED');
    await expect(provider.query(['x@other'])).rejects.toMatchObject({ code: 'UNAUTHORIZED', replyTo: 'stream.query' });
    gateway.drop();
    await eventually(() => states.at(-1)?.at === 'reconnecting');
    await expect(provider.query(['builds'])).rejects.toMatchObject({ code: 'DISCONNECTED' });
  });
});

import { PROTECTED_SECTIONS, TRUST_LEVELS, type TrustLevel } from '@atrium/protocol/provider';
import { describe, expect, it } from 'vitest';
import {
  openProjectFixture,
  type ProjectFixture,
  pair,
  sessionId,
  withToken,
} from '../../support/gateway-connections.js';
import { stateOf } from '../../support/session-fixture.js';
import { settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';

const RULE = { match: { tool: 'shell' }, action: 'deny', reason: 'no' };
const TOOL = { name: 'look', description: 'Looks.', parameters: {} };

/** What a hello may bring, and who may bring it. */
const HELLOS: readonly [id: string, what: string, brought: object, who: readonly TrustLevel[]][] = [
  ['GW-046', 'tools', { tools: [TOOL] }, ['internal', 'project', 'external']],
  ['GW-048', 'hook rules', { hooks: { onPreToolUse: [RULE] } }, ['internal', 'project']],
  ['GW-049', 'callbacks', { hooks: { transforms: { tone: { action: 'callback' } } } }, ['internal', 'project']],
  ['GW-050', 'an append', { hooks: { transforms: { tone: { action: 'append', content: 'x' } } } }, TRUST_LEVELS],
  [
    'GW-050',
    'a prepend',
    { hooks: { transforms: { tone: { action: 'prepend', content: 'x' } } } },
    ['internal', 'project'],
  ],
  [
    'GW-050',
    'a replace',
    { hooks: { transforms: { tone: { action: 'replace', content: 'x' } } } },
    ['internal', 'project'],
  ],
  ['GW-053', 'messages', { subscribe: ['user.message'] }, ['internal', 'project']],
  ['GW-053', 'tool events', { subscribe: ['tool.execution_complete'] }, TRUST_LEVELS],
  ['GW-054', 'all sessions', { session: 'all' }, ['internal']],
  ['GW-055', 'context', { context: 'c' }, ['internal', 'project']],
  ['GW-055', 'startup context', { startup_context: 'c' }, ['internal', 'project']],
];

async function letIn(fixture: ProjectFixture, trust: TrustLevel): Promise<TestProvider> {
  if (trust === 'internal') return TestProvider.connect(fixture.host);
  return trust === 'project' ? withToken(fixture.host, fixture.token) : (await pair(fixture)).provider;
}

describe.each(TRUST_LEVELS)('a provider that is %s', (trust) => {
  it('[GW-028] [GW-046] [GW-048] [GW-049] [GW-050] [GW-053] [GW-054] [GW-055] brings what it may', async () => {
    const fixture = await openProjectFixture();
    const provider = await letIn(fixture, trust);
    for (const [id, what, brought, who] of HELLOS) {
      const session = sessionId(fixture.uri);
      const before = provider.received.length;
      provider.send({ type: 'hello', name: 'ci', protocolVersion: 2, session, ...brought });
      while (!provider.received.slice(before).some(({ type }) => type === 'hello.ack' || type === 'error'))
        await settle(1);
      const answer = provider.received.slice(before).find(({ type }) => type === 'hello.ack' || type === 'error');
      const expected = who.includes(trust) ? { type: 'hello.ack' } : { type: 'error', code: 'UNAUTHORIZED' };
      expect(answer, `${id} ${what}`).toMatchObject(expected);
    }
  });

  it('[GW-162] [GW-163] may add to what is protected, and do nothing else with it', async () => {
    const fixture = await openProjectFixture();
    const provider = await letIn(fixture, trust);
    const hello = (transforms: object) => ({ name: 'ci', session: sessionId(fixture.uri), hooks: { transforms } });
    for (const section of PROTECTED_SECTIONS) {
      for (const action of ['replace', 'prepend', 'callback']) {
        const transforms = { [section]: { action, ...(action !== 'callback' && { content: 'x' }) } };
        provider.send({ type: 'hello', protocolVersion: 2, ...hello(transforms) });
        expect(await provider.next('error')).toMatchObject({ code: 'UNAUTHORIZED', replyTo: 'hello' });
      }
    }
    const added = [...PROTECTED_SECTIONS].map((section) => [section, { action: 'append', content: 'x' }]);
    await provider.hello(hello(Object.fromEntries(added)));
  });

  it.each(['atrium.json', 'Atrium'])('does not call itself %s: that is the host', async (name) => {
    const fixture = await openProjectFixture();
    const provider = await letIn(fixture, trust);
    provider.send({ type: 'hello', name, protocolVersion: 2, session: sessionId(fixture.uri) });
    expect(await provider.next('error')).toMatchObject({ code: 'UNAUTHORIZED', replyTo: 'hello' });
    await provider.hello({ session: sessionId(fixture.uri) });
  });

  it('[GW-047] [GW-051] [GW-052] pushes, and reads its own streams', async () => {
    const fixture = await openProjectFixture();
    await TestProvider.bound(fixture.host, { name: 'other', session: sessionId(fixture.uri) });
    const provider = await letIn(fixture, trust);
    await provider.hello({ session: sessionId(fixture.uri) });
    provider.send({ type: 'push', level: 'keep', event: 'news' });
    provider.send({ type: 'stream.query', queryId: 'q', streams: ['ci'], last: 1 });
    expect((await provider.next('stream.history')).streams).toMatchObject({ 'ci@ci': [{ event: 'news' }] });
    provider.send({ type: 'stream.query', queryId: 'q', streams: ['ci', 'x@other'], last: 1 });
    if (trust === 'internal') await provider.next('stream.history');
    else expect(await provider.next('error')).toMatchObject({ code: 'UNAUTHORIZED', replyTo: 'stream.query' });
  });

  it('[GW-028] [GW-048] [GW-049] [GW-050] [GW-055] [GW-056] updates what it may, and the rest changes nothing', async () => {
    const fixture = await openProjectFixture();
    const provider = await letIn(fixture, trust);
    await provider.hello({ session: sessionId(fixture.uri), tools: [TOOL] });
    const isAllowed = trust !== 'external';
    const updates = [
      { type: 'hooks.update', requestId: '1', onPreToolUse: [RULE] },
      { type: 'hooks.update', requestId: '2', transforms: { tone: { action: 'callback' } } },
      { type: 'context.update', requestId: '3', context: 'c' },
      { type: 'hooks.update', requestId: '4', transforms: { tone: { action: 'prepend', content: 'x' } } },
      { type: 'hooks.update', requestId: '5', transforms: { tone: { action: 'replace', content: 'x' } } },
    ];
    for (const update of updates) {
      provider.send(update);
      if (isAllowed) await provider.next('ack');
      else expect(await provider.next('error')).toMatchObject({ code: 'UNAUTHORIZED', requestId: update.requestId });
    }
    const append = { tone: { action: 'append', content: 'x' }, nope: { action: 'append', content: 'x' } };
    provider.send({ type: 'hooks.update', requestId: '6', transforms: append });
    expect(await provider.next('ack')).toMatchObject({ requestId: '6' });
    const { customizations = [] } = await fixture.client.state<{
      customizations?: { id: string; children: unknown[] }[];
    }>(fixture.uri);
    const entry = customizations.find(({ id }) => id === 'gateway-provider:/ci');
    // A rule, where it may have one, and the two sections that it adds to.
    expect(entry?.children).toHaveLength(isAllowed ? 3 : 2);
    const state = await stateOf(fixture.client, fixture.uri);
    expect(state.serverTools?.map(({ name }) => name)).toEqual(['look']);
    expect(state._meta?.gateway).toMatchObject({ providers: [{ name: 'ci' }] });
    expect(JSON.stringify(state._meta).includes('"context":true')).toBe(isAllowed);
  });
});

describe.each(['project', 'external'] as const)('a provider that is %s and asks for all sessions', (trust) => {
  it('[GW-054] [GW-056] is bound to none, and can still have its own', async () => {
    const fixture = await openProjectFixture();
    const provider = await letIn(fixture, trust);
    provider.send({ type: 'hello', name: 'ci', protocolVersion: 2, session: 'all', tools: [TOOL] });
    expect(await provider.next('error')).toMatchObject({ code: 'UNAUTHORIZED', replyTo: 'hello' });
    expect((await stateOf(fixture.client, fixture.uri)).serverTools ?? []).toEqual([]);
    provider.send({ type: 'push', level: 'keep', event: 'x' });
    expect((await provider.next('error')).message).toContain('AwaitHello');
    expect((await provider.hello()).sessionId).toBe(sessionId(fixture.uri));
  });
});

describe('a hello with one part too much', () => {
  it('[GW-056] [GW-057] registers nothing at all', async () => {
    const fixture = await openProjectFixture();
    const { provider } = await pair(fixture);
    provider.send({ type: 'hello', name: 'browser', protocolVersion: 2, tools: [TOOL], context: 'c' });
    expect(await provider.next('error')).toMatchObject({ code: 'UNAUTHORIZED', replyTo: 'hello' });
    expect(JSON.stringify(await fixture.client.state(fixture.uri))).not.toContain('gateway-provider:/browser');
    await provider.hello({ name: 'browser', tools: [TOOL] });
  });
});

describe('a token', () => {
  it.each([{ token: 'ptk-wrong' }, { token: '' }, {}])(
    '[GW-033] that is wrong (%j) ends the connection',
    async (claim) => {
      const fixture = await openProjectFixture();
      const provider = TestProvider.connect(fixture.host, 'network');
      provider.send({ type: 'auth', ...claim });
      expect(await provider.next('error')).toMatchObject({ code: 'AUTH_FAILED', replyTo: 'auth' });
      await provider.untilClosed();
    },
  );

  it('[GW-019] [GW-021] [GW-031] [GW-054] [GW-072] of a project opens the session that it was made for, and shows no other', async () => {
    const fixture = await openProjectFixture();
    const other = await fixture.client.session();
    const provider = await withToken(fixture.host, fixture.token);
    const [sessions] = provider.of('sessions');
    expect(sessions).toEqual({
      type: 'sessions',
      active: [{ id: sessionId(fixture.uri), label: expect.any(String), cwd: fixture.folder }],
    });
    provider.send({ type: 'hello', name: 'ci', protocolVersion: 2, session: sessionId(other) });
    expect(await provider.next('error')).toMatchObject({ code: 'INVALID_SESSION' });
    expect((await provider.hello()).sessionId).toBe(sessionId(fixture.uri));
  });
});

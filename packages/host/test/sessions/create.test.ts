import { ErrorCode, type SessionState, type SessionSummary } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../support/fake-clock.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { openRoom, startHost, stateOf, turnStarted } from '../support/session-room.js';
import { DEFAULT_SCRIPT, ROOT, settle } from '../support/test-host.js';

const URI = 'ahp-session:/one';

async function codeOf(answer: Promise<{ error?: { code: number } }>): Promise<number | undefined> {
  return (await answer).error?.code;
}

describe('creating a session', () => {
  it('[AHP-041] [AHP-159] answers null and has the session at the very URI, first as one that is being created', async () => {
    const agent = new PuppetAgent();
    agent.opening = new Promise(() => {});
    const host = await startHost({ scripts: [], agents: [agent] });
    const alice = await host.client();
    const answer = await alice.ask('createSession', { channel: URI });
    expect(answer).toMatchObject({ result: null });
    const state = await stateOf(alice, URI);
    expect(state.summary.resource).toBe(URI);
    expect(state.lifecycle).toBe('creating');
  });

  it('[AHP-157] lets a client send its subscription right behind, without waiting for the answer', async () => {
    const host = await startHost();
    const alice = await host.client();
    const created = alice.ask('createSession', { channel: URI });
    const subscribed = alice.ask('subscribe', { channel: URI });
    expect(await created).toMatchObject({ result: null });
    expect(await subscribed).toMatchObject({ result: { snapshot: { resource: URI } } });
  });

  it('[AHP-158] begins with what the client gave, and nothing else', async () => {
    const agent = new PuppetAgent();
    agent.opening = new Promise(() => {});
    const clock = new FakeClock();
    const host = await startHost({ clock, agents: [agent] });
    const alice = await host.client('alice');
    const activeClient = { clientId: 'alice', displayName: 'Alice', tools: [{ name: 'look' }] };
    const model = { id: 'small' };
    const selected = { uri: 'file:///agents/tidy.md' };
    await alice.request('createSession', {
      channel: URI,
      provider: 'puppet',
      model,
      agent: selected,
      workingDirectory: 'file:///home/alice',
      config: { autoApprove: true },
      activeClient,
    });
    const state = await stateOf(alice, URI);
    expect(state).toEqual({
      summary: {
        resource: URI,
        provider: 'puppet',
        title: expect.any(String),
        status: 1,
        createdAt: clock.now(),
        modifiedAt: clock.now(),
        model,
        agent: selected,
        workingDirectory: 'file:///home/alice',
      },
      lifecycle: 'creating',
      turns: [],
      config: { schema: expect.objectContaining({ type: 'object' }), values: { autoApprove: true } },
      activeClient,
    });
  });

  it("[AHP-158] shows the agent's customizations from the start", async () => {
    const customizations = [{ type: 'plugin' as const, id: 'p', uri: 'file:///p', name: 'P', enabled: true }];
    const { alice, uri } = await openRoom({
      agent: new PuppetAgent('puppet', { customizations }),
      session: { provider: 'puppet' },
    });
    expect((await stateOf(alice, uri)).customizations).toEqual(customizations);
  });

  it('[AHP-160] becomes ready when its agent is, and everyone who watches hears of it', async () => {
    let open = () => {};
    const agent = new PuppetAgent();
    agent.opening = new Promise((resolve) => {
      open = resolve;
    });
    const host = await startHost({ scripts: [], agents: [agent] });
    const alice = await host.client();
    await alice.request('createSession', { channel: URI });
    await alice.request('subscribe', { channel: URI });
    await settle();
    expect(alice.types(URI)).toEqual([]);
    open();
    await alice.action(URI, 'session/ready');
    expect((await stateOf(alice, URI)).lifecycle).toBe('ready');
  });

  it('[AHP-160] shows why it could not be created, stays addressable, and can be disposed', async () => {
    const createError = { errorType: 'no-key', message: 'There is no key.' };
    const host = await startHost({ scripts: [{ ...DEFAULT_SCRIPT, createError }] });
    const alice = await host.client();
    await alice.request('createSession', { channel: URI });
    await alice.request('subscribe', { channel: URI });
    await settle();
    const state = await stateOf(alice, URI);
    expect(state).toMatchObject({ lifecycle: 'creationFailed', creationError: createError });
    expect(await alice.request('listSessions', { channel: ROOT })).toMatchObject({ items: [{ resource: URI }] });
    expect(await alice.ask('disposeSession', { channel: URI })).toMatchObject({ result: null });
  });

  it('[AHP-085] [AHP-161] tells those who watch the root of the new session and of the new number', async () => {
    const host = await startHost();
    const alice = await host.client();
    const bob = await host.client();
    await alice.request('createSession', { channel: URI });
    const { params } = await bob.until(({ method }) => method === 'root/sessionAdded');
    expect(params).toMatchObject({ channel: ROOT, summary: { resource: URI, provider: 'mock' } });
    const { action } = await bob.action(ROOT, 'root/activeSessionsChanged');
    expect(action.activeSessions).toBe(1);
    expect(await alice.state(ROOT)).toMatchObject({ activeSessions: 1 });
  });

  it('[AHP-085] says nothing to those who do not watch the root', async () => {
    const host = await startHost();
    const alice = await host.client();
    const stranger = await host.client('stranger', { initialSubscriptions: [] });
    await alice.session();
    await settle();
    expect(stranger.received.filter(({ method }) => method !== undefined)).toEqual([]);
  });

  it.each(['my-tool:anything/at all?#yes', 'urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66', 'file:///a/b', 'x:'])(
    '[AHP-041] takes any URI for a session, such as %s',
    async (uri) => {
      const host = await startHost();
      const alice = await host.client();
      await alice.session(uri);
      await alice.turn(uri, 'hello');
      expect((await stateOf(alice, uri)).turns).toHaveLength(1);
      await alice.request('disposeSession', { channel: uri });
      expect(await codeOf(alice.ask('subscribe', { channel: uri }))).toBeLessThan(0);
    },
  );

  it.each([ROOT, 'ahp-terminal:/1', 'ahp-changeset:/1', 'ahp-resource-watch:/1', 'ahp-otlp:/1'])(
    'does not take the URI of another kind of channel, such as %s',
    async (channel) => {
      const host = await startHost();
      const alice = await host.client();
      expect(await codeOf(alice.ask('createSession', { channel }))).toBe(ErrorCode.InvalidParams);
      expect(await alice.request('listSessions', { channel: ROOT })).toEqual({ items: [] });
    },
  );

  it('[AHP-042] takes the first agent when none is named, and says which that is', async () => {
    const host = await startHost({ scripts: [{ ...DEFAULT_SCRIPT, provider: 'first' }, DEFAULT_SCRIPT] });
    const alice = await host.client();
    await alice.session(URI);
    await alice.session('ahp-session:/two', { provider: 'mock' });
    expect((await stateOf(alice, URI)).summary.provider).toBe('first');
    expect((await stateOf(alice, 'ahp-session:/two')).summary.provider).toBe('mock');
  });

  it('[AHP-043] refuses a URI that is in use, and leaves the session there as it is', async () => {
    const { alice, uri } = await openRoom();
    await alice.turn(uri, 'hello');
    const before = await stateOf(alice, uri);
    expect(await codeOf(alice.ask('createSession', { channel: uri }))).toBe(ErrorCode.SessionAlreadyExists);
    expect(await stateOf(alice, uri)).toEqual(before);
  });

  it('[AHP-043] gives a URI to one of two clients that want it in the same moment', async () => {
    const host = await startHost();
    const [alice, bob] = [await host.client(), await host.client()];
    const answers = await Promise.all([alice, bob].map((client) => client.ask('createSession', { channel: URI })));
    const codes = answers.map(({ error }) => error?.code);
    expect(codes.sort()).toEqual([ErrorCode.SessionAlreadyExists, undefined]);
    await settle();
    expect(bob.received.filter(({ method }) => method === 'root/sessionAdded')).toHaveLength(1);
  });

  it('[AHP-044] refuses an agent that is not there', async () => {
    const host = await startHost();
    const alice = await host.client();
    const answer = alice.ask('createSession', { channel: URI, provider: 'nobody' });
    expect(await codeOf(answer)).toBe(ErrorCode.ProviderNotFound);
    expect(await codeOf(alice.ask('subscribe', { channel: URI }))).toBe(ErrorCode.SessionNotFound);
  });

  it.each([{ autoApprove: 'yes' }, { autoApprove: null }])(
    '[AHP-047] refuses configuration %j, which does not fit its schema',
    async (config) => {
      const host = await startHost();
      const alice = await host.client();
      expect(await codeOf(alice.ask('createSession', { channel: URI, config }))).toBe(ErrorCode.InvalidParams);
      expect(await alice.request('listSessions', { channel: ROOT })).toEqual({ items: [] });
    },
  );

  it('[AHP-048] refuses a claim for somebody else', async () => {
    const host = await startHost();
    const alice = await host.client('alice');
    const claim = (clientId: string) => ({ channel: URI, activeClient: { clientId, tools: [] } });
    expect(await codeOf(alice.ask('createSession', claim('bob')))).toBe(ErrorCode.InvalidParams);
    expect(await codeOf(alice.ask('createSession', claim('alice')))).toBeUndefined();
  });
});

describe('listing and configuring', () => {
  it('[AHP-036] lists every session that is not disposed, and never in the state of the root', async () => {
    const host = await startHost();
    const alice = await host.client();
    const uris = [await alice.session(), await alice.session(), await alice.session()];
    await alice.request('disposeSession', { channel: uris[1] });
    const { items } = await alice.request<{ items: SessionSummary[] }>('listSessions', { channel: ROOT });
    expect(items.map(({ resource }) => resource).sort()).toEqual([uris[0], uris[2]].sort());
    expect(JSON.stringify(await alice.state(ROOT))).not.toContain(uris[0]);
  });

  it('[AHP-036] lists a session as it is now', async () => {
    const { alice, uri } = await openRoom();
    alice.dispatch(uri, { type: 'session/titleChanged', title: 'Mine' });
    await alice.action(uri, 'session/titleChanged');
    const { items } = await alice.request<{ items: SessionSummary[] }>('listSessions', { channel: ROOT });
    expect(items).toEqual([(await stateOf(alice, uri)).summary]);
    expect(items[0]?.title).toBe('Mine');
  });

  it('[AHP-037] gives the full schema every time, and the values with the defaults filled in', async () => {
    const host = await startHost();
    const alice = await host.client();
    const resolve = (config?: object) =>
      alice.request<SessionState['config'] & object>('resolveSessionConfig', { channel: ROOT, config });
    const fresh = await resolve();
    const chosen = await resolve({ autoApprove: true });
    expect(fresh.values).toEqual({ autoApprove: false });
    expect(chosen.values).toEqual({ autoApprove: true });
    expect(chosen.schema).toEqual(fresh.schema);
    expect(Object.keys(fresh.schema.properties)).toContain('autoApprove');
    await alice.session(URI, { config: chosen.values });
    expect((await stateOf(alice, URI)).config).toEqual(chosen);
  });
});

describe('what changes in the list', () => {
  it('[AHP-087] [AHP-171] tells those who watch the root what changed in a summary, and only that', async () => {
    const { alice, uri, host } = await openRoom();
    const bob = await host.client();
    alice.dispatch(uri, { type: 'session/titleChanged', title: 'Mine' });
    const { params } = await bob.until(({ method }) => method === 'root/sessionSummaryChanged');
    const changes = params?.changes as Record<string, unknown>;
    expect(params).toMatchObject({ channel: ROOT, session: uri });
    expect(changes.title).toBe('Mine');
    for (const member of ['resource', 'provider', 'createdAt', 'status']) expect(changes).not.toHaveProperty(member);
  });

  it('[AHP-171] follows a turn from idle to busy and back', async () => {
    const { alice, uri, host, agent } = await openRoom({ session: { provider: 'puppet' } });
    const bob = await host.client();
    const statuses = () =>
      bob.received.flatMap(({ method, params }) =>
        method === 'root/sessionSummaryChanged' ? [(params?.changes as { status?: number } | undefined)?.status] : [],
      );
    alice.dispatch(uri, turnStarted('t'));
    (await agent.turn(0)).finish();
    await alice.action(uri, 'session/turnComplete');
    await settle();
    expect(statuses()).toEqual([8, 1]);
  });

  it('[AHP-087] says null for a member that is gone', async () => {
    const { alice, uri, host } = await openRoom({ session: { agent: { uri: 'file:///a.md' } } });
    const bob = await host.client();
    alice.dispatch(uri, { type: 'session/agentChanged' });
    const { params } = await bob.until(({ method }) => method === 'root/sessionSummaryChanged');
    expect(params?.changes).toMatchObject({ agent: null });
  });

  it('[AHP-171] says nothing when the summary stays as it is', async () => {
    const { alice, uri, host } = await openRoom();
    const bob = await host.client();
    alice.dispatch(uri, { type: 'session/queuedMessagesReordered', order: [] });
    await alice.action(uri, 'session/queuedMessagesReordered');
    await settle();
    expect(bob.received.filter(({ method }) => method === 'root/sessionSummaryChanged')).toEqual([]);
  });
});

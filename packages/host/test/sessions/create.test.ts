import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { ErrorCode, type SessionState, type SessionSummary } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../support/fake-clock.js';
import { KeptLog } from '../support/logs.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { openFixture, refusalOf, startHost, stateOf, turnStarted } from '../support/session-fixture.js';
import { tempFolder } from '../support/temp-folder.js';
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
    const client = await host.client();
    const answer = await client.ask('createSession', { channel: URI });
    expect(answer).toMatchObject({ result: null });
    const state = await stateOf(client, URI);
    expect(state.summary.resource).toBe(URI);
    expect(state.lifecycle).toBe('creating');
  });

  it('[AHP-157] lets a client send its subscription right behind, without waiting for the answer', async () => {
    const host = await startHost();
    const client = await host.client();
    const created = client.ask('createSession', { channel: URI });
    const subscribed = client.ask('subscribe', { channel: URI });
    expect(await created).toMatchObject({ result: null });
    expect(await subscribed).toMatchObject({ result: { snapshot: { resource: URI } } });
  });

  it('[AHP-158] begins with what the client gave, and nothing else', async () => {
    const agent = new PuppetAgent();
    agent.opening = new Promise(() => {});
    const clock = new FakeClock();
    const host = await startHost({ clock, agents: [agent] });
    const client = await host.client('desk');
    const activeClient = { clientId: 'desk', displayName: 'Desk', tools: [{ name: 'look' }] };
    const model = { id: 'small' };
    const selected = { uri: 'file:///agents/tidy.md' };
    await client.request('createSession', {
      channel: URI,
      provider: 'puppet',
      model,
      agent: selected,
      workingDirectory: pathToFileURL(tmpdir()).href,
      config: { autoApprove: true },
      activeClient,
    });
    const state = await stateOf(client, URI);
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
        workingDirectory: pathToFileURL(tmpdir()).href,
      },
      lifecycle: 'creating',
      turns: [],
      config: { schema: expect.objectContaining({ type: 'object' }), values: { mode: 'ask', autoApprove: true } },
      activeClient,
    });
  });

  it("[AHP-158] shows the agent's customizations from the start", async () => {
    const customizations = [{ type: 'plugin' as const, id: 'p', uri: 'file:///p', name: 'P', enabled: true }];
    const { client, uri } = await openFixture({
      agent: new PuppetAgent('puppet', { customizations }),
      session: { provider: 'puppet' },
    });
    expect((await stateOf(client, uri)).customizations).toEqual(customizations);
  });

  it('[AHP-160] becomes ready when its agent is, and everyone who watches hears of it', async () => {
    let open = () => {};
    const agent = new PuppetAgent();
    agent.opening = new Promise((resolve) => {
      open = resolve;
    });
    const host = await startHost({ scripts: [], agents: [agent] });
    const client = await host.client();
    await client.request('createSession', { channel: URI });
    await client.request('subscribe', { channel: URI });
    await settle();
    expect(client.types(URI)).toEqual([]);
    open();
    await client.action(URI, 'session/ready');
    expect((await stateOf(client, URI)).lifecycle).toBe('ready');
  });

  it('[AHP-160] shows why it could not be created, stays addressable, and can be disposed', async () => {
    const createError = { errorType: 'no-key', message: 'There is no key.' };
    const host = await startHost({ scripts: [{ ...DEFAULT_SCRIPT, createError }] });
    const client = await host.client();
    await client.request('createSession', { channel: URI });
    await client.request('subscribe', { channel: URI });
    await settle();
    const state = await stateOf(client, URI);
    expect(state).toMatchObject({ lifecycle: 'creationFailed', creationError: createError });
    expect(await client.request('listSessions', { channel: ROOT })).toMatchObject({ items: [{ resource: URI }] });
    expect(await client.ask('disposeSession', { channel: URI })).toMatchObject({ result: null });
  });

  it('[AHP-085] [AHP-161] tells those who watch the root of the new session and of the new number', async () => {
    const host = await startHost();
    const client = await host.client();
    const phone = await host.client();
    await client.request('createSession', { channel: URI });
    const { params } = await phone.until(({ method }) => method === 'root/sessionAdded');
    expect(params).toMatchObject({ channel: ROOT, summary: { resource: URI, provider: 'mock' } });
    const { action } = await phone.action(ROOT, 'root/activeSessionsChanged');
    expect(action.activeSessions).toBe(1);
    expect(await client.state(ROOT)).toMatchObject({ activeSessions: 1 });
  });

  it('[AHP-085] says nothing to those who do not watch the root', async () => {
    const host = await startHost();
    const client = await host.client();
    const stranger = await host.client('stranger', { initialSubscriptions: [] });
    await client.session();
    await settle();
    expect(stranger.received.filter(({ method }) => method !== undefined)).toEqual([]);
  });

  it.each(['my-tool:anything/at all?#yes', 'urn:uuid:6e8bc430-9c3a-11d9-9669-0800200c9a66', 'file:///a/b', 'x:'])(
    '[AHP-041] takes any URI for a session, such as %s',
    async (uri) => {
      const host = await startHost();
      const client = await host.client();
      await client.session(uri);
      await client.turn(uri, 'hello');
      expect((await stateOf(client, uri)).turns).toHaveLength(1);
      await client.request('disposeSession', { channel: uri });
      expect(await codeOf(client.ask('subscribe', { channel: uri }))).toBeLessThan(0);
    },
  );

  it.each([ROOT, 'ahp-terminal:/1', 'ahp-changeset:/1', 'ahp-resource-watch:/1', 'ahp-otlp:/1'])(
    'does not take the URI of another kind of channel, such as %s',
    async (channel) => {
      const host = await startHost();
      const client = await host.client();
      expect(await codeOf(client.ask('createSession', { channel }))).toBe(ErrorCode.InvalidParams);
      expect(await client.request('listSessions', { channel: ROOT })).toEqual({ items: [] });
    },
  );

  it('[AHP-042] takes the first agent when none is named, and says which that is', async () => {
    const host = await startHost({ scripts: [{ ...DEFAULT_SCRIPT, provider: 'first' }, DEFAULT_SCRIPT] });
    const client = await host.client();
    await client.session(URI);
    await client.session('ahp-session:/two', { provider: 'mock' });
    expect((await stateOf(client, URI)).summary.provider).toBe('first');
    expect((await stateOf(client, 'ahp-session:/two')).summary.provider).toBe('mock');
  });

  it('[AHP-043] refuses a URI that is in use, and leaves the session there as it is', async () => {
    const { client, uri } = await openFixture();
    await client.turn(uri, 'hello');
    const before = await stateOf(client, uri);
    expect(await codeOf(client.ask('createSession', { channel: uri }))).toBe(ErrorCode.SessionAlreadyExists);
    expect(await stateOf(client, uri)).toEqual(before);
  });

  it('[AHP-043] gives a URI to one of two clients that want it in the same moment', async () => {
    const host = await startHost();
    const [client, phone] = [await host.client(), await host.client()];
    const answers = await Promise.all([client, phone].map((client) => client.ask('createSession', { channel: URI })));
    const codes = answers.map(({ error }) => error?.code);
    expect(codes.sort()).toEqual([ErrorCode.SessionAlreadyExists, undefined]);
    await settle();
    expect(phone.received.filter(({ method }) => method === 'root/sessionAdded')).toHaveLength(1);
  });

  it('[AHP-043] says that a URI is in use once the session can be subscribed to', async () => {
    const host = await startHost();
    const [client, phone] = [await host.client(), await host.client()];
    void client.ask('createSession', { channel: URI });
    const { error } = await phone.ask('createSession', { channel: URI });
    expect(error?.code).toBe(ErrorCode.SessionAlreadyExists);
    expect(await phone.ask('subscribe', { channel: URI })).not.toHaveProperty('error');
  });

  it('[AHP-044] refuses an agent that is not there', async () => {
    const host = await startHost();
    const client = await host.client();
    const answer = client.ask('createSession', { channel: URI, provider: 'nobody' });
    expect(await codeOf(answer)).toBe(ErrorCode.ProviderNotFound);
    expect(await codeOf(client.ask('subscribe', { channel: URI }))).toBe(ErrorCode.SessionNotFound);
  });

  it.each([{ autoApprove: 'yes' }, { autoApprove: null }])(
    '[AHP-047] refuses configuration %j, which does not fit its schema',
    async (config) => {
      const host = await startHost();
      const client = await host.client();
      expect(await codeOf(client.ask('createSession', { channel: URI, config }))).toBe(ErrorCode.InvalidParams);
      expect(await client.request('listSessions', { channel: ROOT })).toEqual({ items: [] });
    },
  );

  it('[AHP-048] refuses a claim for somebody else', async () => {
    const host = await startHost();
    const client = await host.client('desk');
    const claim = (clientId: string) => ({ channel: URI, activeClient: { clientId, tools: [] } });
    expect(await codeOf(client.ask('createSession', claim('phone')))).toBe(ErrorCode.InvalidParams);
    expect(await codeOf(client.ask('createSession', claim('desk')))).toBeUndefined();
  });
});

describe('listing and configuring', () => {
  it('[AHP-036] lists every session that is not disposed, and never in the state of the root', async () => {
    const host = await startHost();
    const client = await host.client();
    const uris = [await client.session(), await client.session(), await client.session()];
    await client.request('disposeSession', { channel: uris[1] });
    const { items } = await client.request<{ items: SessionSummary[] }>('listSessions', { channel: ROOT });
    expect(items.map(({ resource }) => resource).sort()).toEqual([uris[0], uris[2]].sort());
    expect(JSON.stringify(await client.state(ROOT))).not.toContain(uris[0]);
  });

  it('[AHP-036] lists a session as it is now', async () => {
    const { client, uri } = await openFixture();
    client.dispatch(uri, { type: 'session/titleChanged', title: 'Mine' });
    await client.action(uri, 'session/titleChanged');
    const { items } = await client.request<{ items: SessionSummary[] }>('listSessions', { channel: ROOT });
    expect(items).toEqual([(await stateOf(client, uri)).summary]);
    expect(items[0]?.title).toBe('Mine');
  });

  it('[AHP-037] gives the full schema every time, and the values with the defaults filled in', async () => {
    const host = await startHost();
    const client = await host.client();
    const resolve = (config?: object) =>
      client.request<SessionState['config'] & object>('resolveSessionConfig', { channel: ROOT, config });
    const fresh = await resolve();
    const chosen = await resolve({ autoApprove: true });
    expect(fresh.values).toEqual({ mode: 'ask', autoApprove: false });
    expect(chosen.values).toEqual({ mode: 'ask', autoApprove: true });
    expect(chosen.schema).toEqual(fresh.schema);
    expect(Object.keys(fresh.schema.properties)).toContain('autoApprove');
    await client.session(URI, { config: chosen.values });
    expect((await stateOf(client, URI)).config).toEqual(chosen);
  });
});

describe('what changes in the list', () => {
  it('[AHP-087] [AHP-171] tells those who watch the root what changed in a summary, and only that', async () => {
    const { client, uri, host } = await openFixture();
    const phone = await host.client();
    client.dispatch(uri, { type: 'session/titleChanged', title: 'Mine' });
    const { params } = await phone.until(({ method }) => method === 'root/sessionSummaryChanged');
    const changes = params?.changes as Record<string, unknown>;
    expect(params).toMatchObject({ channel: ROOT, session: uri });
    expect(changes.title).toBe('Mine');
    for (const member of ['resource', 'provider', 'createdAt', 'status']) expect(changes).not.toHaveProperty(member);
  });

  it('[AHP-171] follows a turn from idle to busy and back', async () => {
    const { client, uri, host, agent } = await openFixture({ session: { provider: 'puppet' } });
    const phone = await host.client();
    const statuses = () =>
      phone.received.flatMap(({ method, params }) =>
        method === 'root/sessionSummaryChanged' ? [(params?.changes as { status?: number } | undefined)?.status] : [],
      );
    client.dispatch(uri, turnStarted('t'));
    (await agent.turn(0)).finish();
    await client.action(uri, 'session/turnComplete');
    await settle();
    expect(statuses()).toEqual([8, 1]);
  });

  it('[AHP-087] says null for a member that is gone', async () => {
    const { client, uri, host } = await openFixture({ session: { agent: { uri: 'file:///a.md' } } });
    const phone = await host.client();
    client.dispatch(uri, { type: 'session/agentChanged' });
    const { params } = await phone.until(({ method }) => method === 'root/sessionSummaryChanged');
    expect(params?.changes).toMatchObject({ agent: null });
  });

  it('[AHP-171] says nothing when the summary stays as it is', async () => {
    const { client, uri, host } = await openFixture();
    const phone = await host.client();
    client.dispatch(uri, { type: 'session/queuedMessagesReordered', order: [] });
    await client.action(uri, 'session/queuedMessagesReordered');
    await settle();
    expect(phone.received.filter(({ method }) => method === 'root/sessionSummaryChanged')).toEqual([]);
  });

  it('is refused with a model that the agent does not have, and says which it has', async () => {
    const models = ['small', 'large'].map((id) => ({ id, name: id, provider: 'puppet' }));
    const host = await startHost({ agents: [new PuppetAgent('puppet', { models }), new PuppetAgent('quiet')] });
    const client = await host.client('desk');
    const refused = await client.ask('createSession', { channel: URI, provider: 'puppet', model: { id: 'smal' } });
    const message = 'the agent puppet has no model "smal"; did you mean "small". It has: small, large';
    expect(refused.error).toMatchObject({ code: ErrorCode.InvalidParams, message: `/model/id: ${message}` });
    await client.request('createSession', { channel: URI, provider: 'puppet', model: { id: 'small' } });
    await client.request('subscribe', { channel: URI });
    const change = (id: string) => ({ type: 'session/modelChanged' as const, model: { id } });
    expect(await refusalOf(client, URI, change('smal'))).toBe(message);
    expect(await refusalOf(client, URI, change('large'))).toBeUndefined();
    // One that does not tell its models is not asked about them.
    await client.request('createSession', { channel: `${URI}-2`, provider: 'quiet', model: { id: 'anything' } });
  });

  it('is refused in a folder that is not there, or is none', async () => {
    const folder = await tempFolder({ 'a-file': '' });
    const host = await startHost();
    const client = await host.client('desk');
    for (const name of ['nowhere', 'a-file']) {
      const workingDirectory = pathToFileURL(path.join(folder, name)).href;
      const { error } = await client.ask('createSession', { channel: URI, workingDirectory });
      expect(error).toMatchObject({ code: ErrorCode.InvalidParams });
      expect(error?.message).toContain(`/workingDirectory: there is no folder ${path.join(folder, name)}`);
    }
    const { error } = await client.ask('createSession', { channel: URI, config: { folder: path.join(folder, 'no') } });
    expect(error?.message).toContain('/config/folder: there is no folder');
  });
});

describe('a session whose folder is gone', () => {
  it('can be read, says so when a turn is started, and works when the folder is back', async () => {
    const folder = path.join(await tempFolder(), 'work');
    await mkdir(folder);
    const workingDirectory = pathToFileURL(folder).href;
    for (const isRestarted of [false, true]) {
      const log = new KeptLog();
      const agent = new PuppetAgent();
      let host = await startHost({ log, agents: [agent] });
      let client = await host.client('desk');
      const uri = await client.session(undefined, { workingDirectory, provider: 'puppet' });
      await rm(folder, { recursive: true });
      if (isRestarted) {
        await host.stop();
        host = await startHost({ log, agents: [agent] });
        client = await host.client('desk-2');
        await client.request('subscribe', { channel: uri });
      }
      expect((await stateOf(client, uri)).summary.workingDirectory).toBe(workingDirectory);
      client.dispatch(uri, turnStarted('t1'));
      await expect.poll(async () => (await stateOf(client, uri)).turns.length).toBe(1);
      const [turn] = (await stateOf(client, uri)).turns;
      expect(turn).toMatchObject({ state: 'error', error: { errorType: 'folder-missing' } });
      expect(turn?.error?.message).toContain(`the folder of this session, ${folder}, no longer exists`);
      await mkdir(folder);
      client.dispatch(uri, turnStarted('t2'));
      (await agent.turn(0)).finish();
      await expect.poll(async () => (await stateOf(client, uri)).turns.at(-1)?.state).toBe('complete');
    }
  });
});

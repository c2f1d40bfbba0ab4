/** Clients that call the same session by different names are in the same session, and each hears only its own names. */
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  chatState,
  defaultChatUri,
  nativeClient,
  nativeTurn,
  sessionState,
  userMessage,
} from '../../support/native-client.js';
import { answerTo, refusalOf, startHost } from '../../support/session-fixture.js';
import { tempFolder } from '../../support/temp-folder.js';
import { type RawClient, ROOT, type TestHost } from '../../support/test-host.js';

const LEGACY = { clientInfo: { name: 'vscode-editor-window' }, protocolVersions: ['0.9.0', '0.7.0'] };
const OLD = 'mock:/s1';
const NEW = 'ahp-session:/s1';

/** VS Code as it was: it names sessions by their provider. */
function legacy(host: TestHost, id = 'code', params: object = {}): Promise<RawClient> {
  return nativeClient(host, id, { ...LEGACY, ...params });
}

async function begun() {
  const host = await startHost();
  const code = await legacy(host);
  const native = await nativeClient(host, 'native');
  await code.request('createSession', { channel: OLD, provider: 'mock' });
  const state = await sessionState(code, OLD);
  if (state.lifecycle === 'creating') await code.action(OLD, 'session/ready');
  return { host, code, native, chat: defaultChatUri(OLD) };
}

/** Everything that a client was sent, as one text. */
const heard = ({ received }: RawClient) => JSON.stringify(received);

describe('a client that names sessions by their provider', () => {
  it('[UP-182] [UP-183] gets its own names in snapshots, lists, envelopes and notifications, and others get theirs', async () => {
    const { code, native, chat } = await begun();
    const { snapshot } = await code.request<{ snapshot: { resource: string; state: Record<string, unknown> } }>(
      'subscribe',
      { channel: OLD },
    );
    expect(snapshot.resource).toBe(OLD);
    expect(snapshot.state).toMatchObject({ defaultChat: chat, chats: [{ resource: chat }] });
    expect(await chatState(code, chat)).toMatchObject({ resource: chat });
    await sessionState(native, NEW);
    await chatState(native, defaultChatUri(NEW));
    await nativeTurn(code, chat, 'hello');
    await native.action(defaultChatUri(NEW), 'chat/turnComplete');
    expect(code.types(chat)).toEqual(native.types(defaultChatUri(NEW)));
    expect(await code.request('listSessions', { channel: ROOT })).toMatchObject({ items: [{ resource: OLD }] });
    await native.request('disposeSession', { channel: NEW });
    await code.until(({ method, params }) => method === 'root/sessionRemoved' && params?.session === OLD);
    expect(heard(code)).not.toContain('ahp-session:');
    expect(heard(code)).not.toContain(defaultChatUri(NEW));
    expect(heard(native)).not.toContain('mock:/');
    expect(heard(native)).not.toContain(chat);
  });

  it('[UP-182] is told of sessions that others make by the names it uses, and of their changes', async () => {
    const { host, code } = await begun();
    const native = await nativeClient(host, 'other');
    await native.request('createSession', { channel: 'ahp-session:/s2' });
    const added = await code.until(
      ({ method, params }) =>
        method === 'root/sessionAdded' && JSON.stringify(params).includes('"resource":"mock:/s2"'),
    );
    expect(added.params).toMatchObject({ summary: { provider: 'mock' } });
    native.dispatch('ahp-session:/s2', { type: 'session/titleChanged', title: 'Two' } as { type: string });
    await code.until(({ method, params }) => method === 'root/sessionSummaryChanged' && params?.session === 'mock:/s2');
    expect((await sessionState(code, 'mock:/s2')).title).toBe('Two');
    expect(heard(code)).not.toContain('ahp-session:');
  });

  it('[UP-182] [UP-038] is told of errors by its names', async () => {
    const { code } = await begun();
    const again = await code.ask('createSession', { channel: OLD, provider: 'mock' });
    expect(again.error).toMatchObject({ code: -32003, message: expect.stringContaining(`${OLD} is in use`) });
    const unknown = await code.ask('subscribe', { channel: 'mock:/nothing' });
    expect(unknown.error).toMatchObject({ code: -32001, message: expect.stringContaining('mock:/nothing') });
    const reason = await refusalOf(code, OLD, { type: 'chat/turnCancelled', turnId: 'x' } as { type: string });
    expect(reason).toContain(`does not belong on ${OLD}`);
  });

  it('[UP-182] [UP-149] comes back under its names, by replay and by snapshot, also after what is gone', async () => {
    const { host, code, native, chat } = await begun();
    await chatState(code, chat);
    const { fromSeq } = (await code.request<{ snapshot: { fromSeq: number } }>('subscribe', { channel: OLD })).snapshot;
    code.disconnect();
    await chatState(native, defaultChatUri(NEW));
    await nativeTurn(native, defaultChatUri(NEW), 'hello', 't1');
    const back = async (lastSeenServerSeq: number) => {
      const client = host.connect();
      const subscriptions = [OLD, chat, 'mock:/gone'];
      const result = await client.request('reconnect', {
        channel: ROOT,
        clientId: 'code',
        lastSeenServerSeq,
        subscriptions,
      });
      client.disconnect();
      return result;
    };
    const replayed = await back(fromSeq);
    expect(replayed).toMatchObject({ type: 'replay', missing: ['mock:/gone'] });
    const channels = new Set((replayed.actions as { channel: string }[]).map(({ channel }) => channel));
    expect([...channels].toSorted()).toEqual([chat, OLD].toSorted());
    const taken = await back(Number.MAX_SAFE_INTEGER);
    expect(taken).toMatchObject({ type: 'snapshot', snapshots: [{ resource: OLD }, { resource: chat }] });
    expect(JSON.stringify([replayed, taken])).not.toContain('ahp-session:');
  });

  it('[UP-182] sends an action again under either name, and it happens once', async () => {
    const { code } = await begun();
    const action = { type: 'session/titleChanged', title: 'Once' } as { type: string };
    const clientSeq = code.dispatch(OLD, action);
    const { serverSeq } = await answerTo(code, OLD, clientSeq);
    code.dispatch(NEW, action, clientSeq);
    const again = await code.until(
      ({ method, params }) => method === 'action' && params?.channel === NEW && params?.serverSeq === serverSeq,
    );
    expect(again.params).toMatchObject({ origin: { clientId: 'code', clientSeq }, action });
  });

  it('[UP-184] finds the changes of a session by its names, whatever the id', async () => {
    const folder = await tempFolder();
    const host = await startHost({ dataFolder: await tempFolder(), defaultDirectory: folder });
    const code = await legacy(host);
    const native = await nativeClient(host, 'native');
    const workingDirectories = [pathToFileURL(folder).href];
    await native.request('createSession', { channel: 'ahp-session:/team/s1', workingDirectories });
    await expect
      .poll(
        async () => (await sessionState(code, 'mock:/team/s1')).changesets?.map(({ uriTemplate }) => uriTemplate) ?? [],
      )
      .toContain('ahp-changeset:/mock%3A%2Fteam%2Fs1/session');
    const channel = 'ahp-changeset:/mock%3A%2Fteam%2Fs1/session';
    const { snapshot } = await code.request<{ snapshot: { resource: string } }>('subscribe', { channel });
    expect(snapshot.resource).toBe(channel);
    expect(heard(code)).not.toContain('ahp-session');
  });
});

describe('a client that is not known by its name', () => {
  it.each([
    ['ahpx of 0.5.0, by use', ['0.5.0']],
    ['ahpx of 0.5.2, by use', ['0.5.2']],
    ['anyone of 1.0, by use', ['1.0.0']],
  ])('[UP-204] [UP-235] %s: creates `<provider>:/<uuid>` and lives with it', async (_name, protocolVersions) => {
    const host = await startHost();
    const ahpx = await nativeClient(host, 'ahpx', { protocolVersions });
    const uri = 'mock:/0b6f';
    await ahpx.request('createSession', { channel: uri, provider: 'mock', workingDirectory: 'file:///tmp' });
    const { defaultChat = '' } = await sessionState(ahpx, uri);
    expect(defaultChat).toBe(defaultChatUri(uri));
    await chatState(ahpx, defaultChat);
    ahpx.dispatch(defaultChat, { type: 'chat/turnStarted', turnId: 't', message: userMessage('hello') } as {
      type: string;
    });
    await ahpx.action(defaultChat, 'chat/turnComplete');
    expect(ahpx.types(defaultChat)).toContain('chat/delta');
    expect((await ahpx.ask('disposeSession', { channel: uri })).error).toBeUndefined();
    await ahpx.until(({ method, params }) => method === 'root/sessionRemoved' && params?.session === uri);
    expect(heard(ahpx)).not.toContain('ahp-session:');
  });

  it('[UP-201] that strips any scheme finds the session, and its chat under `ahp-chat:/<uuid>`', async () => {
    const host = await startHost();
    // Named before the host knew one name for both: the agent is not named, so the scheme says nothing.
    const maker = await host.client('maker');
    await maker.request('createSession', { channel: 'mock:/u1' });
    const ui = await nativeClient(host, 'ui');
    expect(await sessionState(ui, 'ahp-session:/u1')).toMatchObject({ defaultChat: defaultChatUri('ahp-session:/u1') });
    expect(await chatState(ui, 'ahp-chat:/u1')).toMatchObject({ resource: 'ahp-chat:/u1' });
    expect(await sessionState(ui, 'ahp-session:/u1')).toMatchObject({
      defaultChat: 'ahp-chat:/u1',
      chats: [{ resource: 'ahp-chat:/u1' }],
    });
    await nativeTurn(ui, 'ahp-chat:/u1', 'hello');
    const chats = ui.received.flatMap(({ method, params }) =>
      method === 'action' && String(params?.channel).startsWith('ahp-chat') ? [params?.channel] : [],
    );
    expect(new Set(chats)).toEqual(new Set(['ahp-chat:/u1']));
  });

  it('[UP-183] finds the default chat under `ahp-chat:/<id>` too, with the questions in it', async () => {
    const host = await startHost();
    const maker = await nativeClient(host, 'maker');
    await maker.request('createSession', { channel: 'ahp-session:/q1' });
    const ui = await nativeClient(host, 'ui');
    await chatState(ui, 'ahp-chat:/q1');
    await sessionState(ui, 'ahp-session:/q1');
    ui.dispatch('ahp-chat:/q1', { type: 'chat/turnStarted', turnId: 't', message: userMessage('ask') } as {
      type: string;
    });
    const { action } = await ui.action('ahp-session:/q1', 'session/inputNeededSet');
    expect(action).toMatchObject({ request: { kind: 'chatInput', chat: 'ahp-chat:/q1' } });
    expect(await sessionState(ui, 'ahp-session:/q1')).toMatchObject({ inputNeeded: [{ chat: 'ahp-chat:/q1' }] });
  });

  it('[UP-182] [UP-018] reaches nothing by a name that it made up', async () => {
    const host = await startHost();
    const maker = await nativeClient(host, 'maker');
    await maker.request('createSession', { channel: 'ahp-session:/x1' });
    const other = await nativeClient(host, 'other');
    for (const channel of [
      'MOCK:/x1',
      'puppet:/x1',
      'mock://x1',
      'mock:/x1/',
      'mock:/%78%31',
      'x1',
      ':/x1',
      'mcp:/x1',
    ]) {
      expect((await other.ask('subscribe', { channel })).error, channel).toBeDefined();
    }
    const taken = await other.ask('createSession', { channel: 'mock:/x1', provider: 'mock' });
    expect(taken.error?.code).toBe(-32003);
  });

  it('[UP-182] may ask the same things by both names: each answer has the name that it asked by', async () => {
    const host = await startHost();
    const client = await nativeClient(host, 'both');
    await client.request('createSession', { channel: 'ahp-session:/b1' });
    for (const channel of ['mock:/b1', 'ahp-session:/b1', 'mock:/b1']) {
      const { snapshot } = await client.request<{ snapshot: { resource: string; state: { defaultChat: string } } }>(
        'subscribe',
        { channel },
      );
      expect(snapshot.resource).toBe(channel);
      expect(snapshot.state.defaultChat).toBe(defaultChatUri(channel));
    }
  });
});

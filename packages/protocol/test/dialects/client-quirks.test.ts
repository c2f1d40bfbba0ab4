/** Names as clients spell them: what they mean, and that two things never share one. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { annotationsChannel, defaultChatUri } from '../../src/ahp-1/index.js';
import { SPELLINGS_MAX, SPELLINGS_MAX_CHARACTERS, SpelledDialects } from '../../src/dialects/client-quirks/dialect.js';
import {
  CALLED_SESSIONS_MAX,
  CALLED_SESSIONS_MAX_CHARACTERS,
  NameReader,
  NameWriter,
  PLAIN_SPELLING,
  type Spelling,
  spellingKey,
} from '../../src/dialects/client-quirks/names.js';
import { envelopeWithNames, withNames } from '../../src/dialects/client-quirks/renaming.js';
import { vscode } from '../../src/dialects/client-quirks/vscode.js';
import type { ModelView } from '../../src/dialects/dialect.js';
import { DIALECTS } from '../../src/dialects/index.js';
import { ahp1, olderUpstream } from '../../src/dialects/upstream/codec.js';

const BARE = [ahp1, ...olderUpstream];

/** A host with these sessions, each with its provider. */
function viewOf(sessions: Readonly<Record<string, string>>, chats: Readonly<Record<string, string>> = {}): ModelView {
  const providers = new Map(Object.entries(sessions));
  const isForeign = (uri: string) => !uri.startsWith('ahp-session:');
  return {
    providerOf: (session) => providers.get(session),
    namesakeOf: (rest) => {
      const found = [...providers.keys()].filter((uri) => isForeign(uri) && uri.slice(uri.indexOf(':') + 1) === rest);
      return found.length === 1 ? found[0] : undefined;
    },
    sessionUriOf: (chat) => chats[chat] ?? [...providers.keys()].find((session) => defaultChatUri(session) === chat),
    defaultChatOf: (session) => (providers.has(session) ? defaultChatUri(session) : undefined),
    summaryOf: () => undefined,
    sessionOf: () => undefined,
    chatOf: () => undefined,
    memoryOf: () => undefined,
  };
}

const BY_PROVIDER: Spelling = { isByProvider: true };

function b64(session: string): string {
  return defaultChatUri(session).slice('ahp-chat://default/'.length);
}

describe('the name of a session', () => {
  const view = viewOf({ 'ahp-session:/a': 'copilot', 'echo:/b': 'echo', 'odd:/c': 'echo' });
  const read = (name: string) => new NameReader(PLAIN_SPELLING, view).mention(name);

  it.each([
    ['[UP-182] [UP-204] with its provider', 'copilot:/a', 'ahp-session:/a'],
    ['[UP-182] as it is', 'ahp-session:/a', 'ahp-session:/a'],
    ['[UP-182] with another provider', 'echo:/a', 'echo:/a'],
    ['[UP-201] without the scheme that the host knows it by', 'ahp-session:/b', 'echo:/b'],
    ['[UP-201] without any scheme that the client was told', 'ahp-session:/c', 'odd:/c'],
    ['[UP-182] of nothing', 'ahp-session:/nothing', 'ahp-session:/nothing'],
    [
      '[UP-183] inside of its default chat',
      `ahp-chat://default/${b64('copilot:/a')}`,
      defaultChatUri('ahp-session:/a'),
    ],
    ['[UP-183] as that of its default chat', 'ahp-chat:/a', defaultChatUri('ahp-session:/a')],
    ['[UP-201] as that of its chat, whatever its scheme', 'ahp-chat:/b', defaultChatUri('echo:/b')],
    ['[UP-183] inside of another chat', `ahp-chat://x7/${b64('copilot:/a')}`, `ahp-chat://x7/${b64('ahp-session:/a')}`],
    [
      '[UP-183] inside of the chat of a call',
      `ahp-chat://subagent/${b64('copilot:/a')}/call%2F1`,
      `ahp-chat://subagent/${b64('ahp-session:/a')}/call%2F1`,
    ],
    ['[UP-184] before its annotations', 'copilot:/a/annotations', 'ahp-session:/a/annotations'],
    [
      '[UP-184] inside of a changeset',
      'ahp-changeset:/copilot%3A%2Fa/session',
      'ahp-changeset:/ahp-session%3A%2Fa/session',
    ],
    ['[UP-018] in other letters', 'Copilot:/a', 'Copilot:/a'],
  ])('%s', (_title, name, meant) => expect(read(name)).toBe(meant));

  it('[UP-183] is not that of a chat which has this name itself', () => {
    const withChat = viewOf(
      { 'ahp-session:/a': 'copilot', 'ahp-session:/z': 'copilot' },
      { 'ahp-chat:/a': 'ahp-session:/z' },
    );
    expect(new NameReader(PLAIN_SPELLING, withChat).address('ahp-chat:/a')).toBe('ahp-chat:/a');
  });

  it('[UP-182] of a new session with its provider is that of the host; with any other scheme it stays', () => {
    const created = (name: string, provider?: string) =>
      new NameReader(PLAIN_SPELLING, { ...view, hasProvider: (id) => id === 'copilot' }).addressNew(name, provider);
    expect(created('copilot:/new', 'copilot')).toEqual({ channel: 'ahp-session:/new', provider: 'copilot' });
    expect(created('copilot:/new')).toEqual({ channel: 'ahp-session:/new', provider: 'copilot' });
    expect(created('copilot:/new', 'echo')).toEqual({ channel: 'copilot:/new', provider: 'echo' });
    expect(created('other:/new')).toEqual({ channel: 'other:/new', provider: undefined });
    expect(created('ahp-chat:/new', 'ahp-chat')).toEqual({ channel: 'ahp-chat:/new', provider: 'ahp-chat' });
    // A session that is there cannot be created again under another of its names.
    expect(created('copilot:/a', 'echo').channel).toBe('ahp-session:/a');
    expect(created('ahp-session:/b', 'echo').channel).toBe('echo:/b');
  });
});

describe('a client', () => {
  const view = viewOf({ 'ahp-session:/a': 'copilot', 'ahp-session:/b': 'copilot', 'echo:/c': 'echo' });

  function after(name: string, spelling: Spelling = PLAIN_SPELLING): Spelling {
    const reader = new NameReader(spelling, view);
    reader.address(name);
    return reader.spelling;
  }

  it('[UP-182] [UP-204] is answered by the name that it used, and hears of other sessions by theirs', () => {
    const names = new NameWriter(after('copilot:/a'), view);
    expect(names.write('ahp-session:/a')).toBe('copilot:/a');
    expect(names.write(defaultChatUri('ahp-session:/a'))).toBe(defaultChatUri('copilot:/a'));
    expect(names.write('ahp-session:/b')).toBe('ahp-session:/b');
    expect(names.write('ahp-changeset:/ahp-session%3A%2Fa/turn/{turnId}')).toBe(
      'ahp-changeset:/copilot%3A%2Fa/turn/{turnId}',
    );
    expect(names.writeText('there is no session ahp-session:/a; see ahp-session:/b.')).toBe(
      'there is no session copilot:/a; see ahp-session:/b.',
    );
  });

  it('[UP-182] in a long text that is no name costs no more than its length', () => {
    const names = new NameWriter(BY_PROVIDER, view);
    // With the square of its length it would take minutes.
    const text = `there is no channel ${'a'.repeat(2_000_000)}`;
    expect(names.writeText(text)).toBe(text);
  });

  it('[UP-201] may strip any scheme, and then one name wins: that of the chat, too', () => {
    const names = new NameWriter(after('ahp-session:/c'), view);
    expect(names.write('echo:/c')).toBe('ahp-session:/c');
    expect(names.write(defaultChatUri('echo:/c'))).toBe(defaultChatUri('ahp-session:/c'));
    const plain = new NameWriter(after('ahp-chat:/c', after('ahp-session:/c')), view);
    expect(plain.write(defaultChatUri('echo:/c'))).toBe('ahp-chat:/c');
    expect(plain.write('echo:/c')).toBe('ahp-session:/c');
  });

  it('[UP-182] costs nothing while it spells like the host, also when it mentions another name', () => {
    expect(after('ahp-session:/a')).toBe(PLAIN_SPELLING);
    const reader = new NameReader(PLAIN_SPELLING, view);
    reader.mention('copilot:/a');
    expect(reader.spelling).toBe(PLAIN_SPELLING);
    expect(spellingKey(after('copilot:/a', BY_PROVIDER))).toBe(spellingKey(BY_PROVIDER));
    expect(spellingKey(after('echo:/c', BY_PROVIDER))).toBe(spellingKey(BY_PROVIDER));
    expect(spellingKey(after('ahp-session:/a', after('copilot:/a')))).toBe(spellingKey(PLAIN_SPELLING));
  });

  it('[UP-182] may call so many sessions by other names', () => {
    const many = Object.fromEntries(
      Array.from({ length: CALLED_SESSIONS_MAX + 1 }, (_, index) => [`ahp-session:/${index}`, 'copilot']),
    );
    const reader = new NameReader(PLAIN_SPELLING, viewOf(many));
    for (let index = 0; index < CALLED_SESSIONS_MAX; index++) reader.address(`copilot:/${index}`);
    expect(reader.spelling.called?.length).toBe(CALLED_SESSIONS_MAX);
    reader.address(`copilot:/${CALLED_SESSIONS_MAX}`);
    expect(reader.spelling.called?.length).toBe(CALLED_SESSIONS_MAX);
    expect(new NameWriter(reader.spelling, viewOf(many)).write('ahp-session:/0')).toBe('ahp-session:/0');
  });

  it('[UP-182] may call sessions by other names within so many characters, whatever names it invents', () => {
    const half = 'x'.repeat(CALLED_SESSIONS_MAX_CHARACTERS / 2 - 'ahp-session:/1'.length);
    const reader = new NameReader(PLAIN_SPELLING, { ...viewOf({}), hasProvider: () => true });
    const create = (id: string) => reader.addressNew(`copilot:/${id}`, undefined);
    create('first');
    create(`1${half}`);
    expect(reader.spelling.called).toHaveLength(2);
    create(`2${half}`);
    expect(reader.spelling.called?.map(({ session }) => session.slice(0, 14))).toEqual([
      'ahp-session:/1',
      'ahp-session:/2',
    ]);
    create('x'.repeat(CALLED_SESSIONS_MAX_CHARACTERS));
    expect(reader.spelling.called).toBeUndefined();
    create('second');
    expect(reader.spelling.called).toHaveLength(1);
  });

  it('[UP-181] [UP-182] that is VS Code is known by its windows or its metadata, and new builds spell as the protocol does', () => {
    const spelling = (initialize: object) => vscode.spelling?.(initialize as never);
    expect(spelling({ clientInfo: { name: 'vscode-editor-window' } })).toEqual(BY_PROVIDER);
    expect(spelling({ clientInfo: { name: 'vscode-agents-window' }, _meta: {} })).toEqual(BY_PROVIDER);
    expect(spelling({ _meta: { 'vscode.sessionId': 'x' } })).toEqual(BY_PROVIDER);
    expect(spelling({ clientInfo: { name: 'x' }, _meta: { 'vscode.ahpSessionUris': true } })).toEqual(PLAIN_SPELLING);
    expect(spelling({ clientInfo: { name: 'vscode' } })).toBeUndefined();
    expect(spelling({ clientInfo: null, _meta: 7 })).toBeUndefined();
  });
});

describe('in a message', () => {
  const rename = (uri: string) => uri.replace(/^host:/, 'client:');
  const name = 'host:/s';
  const mine = 'client:/s';

  it.each([
    ['SessionState', { defaultChat: name, chats: [{ resource: name, origin: { kind: 'fork', chat: name } }] }],
    ['SessionState', { inputNeeded: [{ kind: 'chatInput', chat: name }], annotations: { resource: name } }],
    ['SessionState', { changesets: [{ uriTemplate: name }] }],
    [
      'SessionSummary',
      { resource: name, defaultChat: name, chats: [{ resource: name }], annotations: { resource: name } },
    ],
    [
      'ChatState',
      { resource: name, origin: { kind: 'sideChat', chat: name }, backgroundWork: [{ kind: 'subagent', chat: name }] },
    ],
    ['ChatState', { turns: [{ responseParts: [{ toolCall: { content: [{ type: 'subagent', resource: name }] } }] }] }],
    [
      'ChatState',
      {
        draft: {
          attachments: [
            { type: 'chat', resource: name },
            { type: 'annotations', resource: name },
          ],
        },
      },
    ],
    ['RootState', { terminals: [{ claim: { kind: 'session', session: name, chat: name } }] }],
    ['TerminalState', { claim: { kind: 'session', session: name, chat: name } }],
    ['AnnotationsState', { annotations: [{ origin: { session: name, chat: name } }] }],
    ['ChangesetState', { files: [{ edit: { after: { content: { uri: name } } } }] }],
    ['session/chatAdded', { summary: { resource: name } }],
    ['session/chatRemoved', { chat: name }],
    ['session/chatUpdated', { chat: name, changes: { resource: name } }],
    ['session/chatsReordered', { chats: [name, name] }],
    ['session/defaultChatChanged', { defaultChat: name }],
    ['session/inputNeededSet', { request: { chat: name } }],
    ['chat/toolCallComplete', { result: { content: [{ type: 'subagent', resource: name }] } }],
    ['annotations/set', { annotation: { origin: { session: name } } }],
    ['root/sessionRemoved', { session: name }],
    ['root/sessionSummaryChanged', { session: name, changes: { defaultChat: name } }],
    ['root/sessionAdded', { summary: { resource: name } }],
    ['createSession', { fork: { session: name } }],
    ['createChat', { chat: name, source: { kind: 'fork', chat: name } }],
    ['moveChat', { destination: { kind: 'session', session: name } }],
    ['resourceRead', { uri: name }],
    ['initialize:result', { snapshots: [{ resource: name }] }],
    ['reconnect:result', { missing: [name], snapshots: [{ resource: name }] }],
    ['listSessions:result', { items: [{ resource: name }] }],
    ['atrium/listDisposed:result', { items: [{ summary: { resource: name } }] }],
  ])('[UP-182] [UP-183] [UP-184] %s: %j', (shape, value) => {
    const expected = JSON.parse(JSON.stringify(value).replaceAll(name, mine));
    expect(withNames(shape, value, rename)).toEqual(expected);
  });

  it('[UP-182] what people wrote stays as it is, even when it looks like a name', () => {
    const said = { message: { text: name, attachments: [{ type: 'resource', uri: name }] }, turnId: name };
    expect(withNames('chat/turnStarted', { type: 'chat/turnStarted', ...said }, rename)).toMatchObject(said);
    expect(withNames('SessionState', { title: name, activity: name }, rename)).toEqual({ title: name, activity: name });
  });

  it('[UP-182] text that streams is passed on without a copy, on its channel', () => {
    const action = { type: 'chat/delta', turnId: 't', partId: 'p', content: name };
    const shown = envelopeWithNames({ channel: name, serverSeq: 1, action }, rename);
    expect(shown).toEqual({ channel: mine, serverSeq: 1, action });
    expect(shown.action).toBe(action);
  });
});

describe('names', () => {
  const ids = fc.constantFrom('a', 'b', 'a/b', '1', 'annotations', '');
  const providers = fc.constantFrom('copilot', 'echo', 'mcp', 'ahp-chat', 'odd id');
  const session = fc.tuple(fc.constantFrom('ahp-session', 'copilot', 'echo', 'odd'), ids, providers);
  const form = fc.constantFrom('own' as const, 'provider' as const, 'ahp-session' as const);

  it('[UP-182] [UP-183] [UP-184] never stand for two things, and what is written is read as what it was', () => {
    fc.assert(
      fc.property(
        fc.array(session, { minLength: 1, maxLength: 8 }),
        fc.boolean(),
        fc.array(fc.tuple(fc.nat(7), form, fc.boolean()), { maxLength: 8 }),
        (list, isByProvider, calls) => {
          const sessions = Object.fromEntries(list.map(([scheme, id, provider]) => [`${scheme}:/${id}`, provider]));
          const view = viewOf(sessions);
          const uris = Object.keys(sessions);
          const called = calls.flatMap(([index, how, hasPlainChat]) => {
            const uri = uris[index];
            return uri === undefined ? [] : [{ session: uri, form: how, hasPlainChat }];
          });
          const spelling: Spelling = { isByProvider, called };
          const things = uris.flatMap((uri) => [
            uri,
            defaultChatUri(uri),
            `ahp-chat://other/${b64(uri)}`,
            `ahp-chat://subagent/${b64(uri)}/call`,
            annotationsChannel(uri),
            `ahp-changeset:/${encodeURIComponent(uri)}/session`,
          ]);
          const writer = new NameWriter(spelling, view);
          const names = things.map((thing) => writer.write(thing));
          expect(new Set(names).size).toBe(new Set(things).size);
          for (const [index, name] of names.entries()) {
            expect(new NameReader(PLAIN_SPELLING, view).mention(name)).toBe(things[index]);
            expect(writer.write(name)).toBe(name);
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('a dialect', () => {
  it('[UP-182] is the same object for connections that spell alike, in every version that has chats', () => {
    for (const dialect of DIALECTS.slice(0, 7)) {
      expect(dialect.forConnection({})).toBe(dialect);
      // A connection that spells like the host is sent what the version itself says, by the very same functions.
      const bare = BARE.find(({ traits }) => traits.version === dialect.traits.version);
      expect(dialect.encodeSteps).toBe(bare?.encodeSteps);
      expect(dialect.encodeNotification).toBe(bare?.encodeNotification);
      expect(dialect.traits).toBe(bare?.traits);
      const one = dialect.forConnection({ spelling: { isByProvider: true } });
      expect(one).not.toBe(dialect);
      expect(one.traits.sendsStoredJson).toBe(false);
      expect(dialect.forConnection({ spelling: { isByProvider: true } })).toBe(one);
      expect(one.forConnection({})).toBe(dialect);
    }
  });
});

describe('the dialects of the ways to spell', () => {
  it('[UP-182] are remembered within a number and within characters, the latest longest', () => {
    const many = new SpelledDialects();
    for (let index = 0; index <= SPELLINGS_MAX; index++) many.add(String(index), ahp1);
    expect([many.get('0'), many.get('1'), many.get(String(SPELLINGS_MAX))]).toEqual([undefined, ahp1, ahp1]);

    const long = new SpelledDialects();
    const key = (name: string) => name + 'x'.repeat(SPELLINGS_MAX_CHARACTERS / 2 - 1);
    for (const name of ['a', 'b', 'c']) long.add(key(name), ahp1);
    expect([long.get(key('a')), long.get(key('b')), long.get(key('c'))]).toEqual([undefined, ahp1, ahp1]);
    long.add('x'.repeat(SPELLINGS_MAX_CHARACTERS + 1), ahp1);
    long.add('short', ahp1);
    expect([long.get(key('c')), long.get('short')]).toEqual([undefined, ahp1]);
  });
});

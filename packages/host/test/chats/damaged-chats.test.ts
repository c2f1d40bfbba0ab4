/**
 * One page of a real database is damaged, whichever it is: every session has all its chats, each of them opens with its
 * turns, is found by its name, and goes on.
 */
import { readFileSync, statSync } from 'node:fs';
import { type ChatState, defaultChatUri, type SessionState } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { databaseOf, garbage, overwrite, zeros } from '../support/log-damage.js';
import { copyOf, dataFolder, openLog } from '../support/log-folders.js';
import { nativeClient, nativeTurn } from '../support/native-client.js';
import { type RawClient, startTestHost } from '../support/test-host.js';

const PAGE = 4_096;
const SESSIONS = 2;
const LONG = 'An answer that fills some of a page. '.repeat(8);
const WORK = [{ worker: { title: 'Count', prompt: 'how many', steps: [{ text: `Three. ${LONG}` }] } }];
const SCRIPT = {
  provider: 'mock',
  displayName: 'Mock',
  prompts: { work: WORK },
  default: [{ text: `\${text}: ${LONG}` }],
};

type Chats = ReadonlyMap<string, ChatState>;

interface Whole {
  readonly dataDir: string;
  /** The chats of each session, in order. */
  readonly sessions: ReadonlyMap<string, Chats>;
}

const uriOf = (index: number) => `ahp-session:/s${index}`;

/** Sessions with a default chat, a fork of it, a chat beside it, a worker, and one that is gone again. */
async function whole(): Promise<Whole> {
  const dataDir = dataFolder();
  const host = await startTestHost({ log: await openLog(dataDir), scripts: [SCRIPT] });
  const client = await nativeClient(host, 'desk');
  for (let index = 0; index < SESSIONS; index++) await fill(client, uriOf(index), index);
  const sessions = await look(client);
  await host.stop();
  return { dataDir: copyOf(dataDir), sessions };
}

async function fill(client: RawClient, uri: string, index: number): Promise<void> {
  await client.request('createSession', { channel: uri });
  await client.request('subscribe', { channel: uri });
  if ((await client.state<SessionState>(uri)).lifecycle === 'creating') await client.action(uri, 'session/ready');
  const chat = defaultChatUri(uri);
  await client.request('subscribe', { channel: chat });
  for (const text of ['one', 'two', 'work']) await nativeTurn(client, chat, text, `s${index}-${text}`);
  const more = [
    { name: `fork-${index}`, source: { kind: 'fork', chat, turnId: `s${index}-two` } },
    { name: `side-${index}`, source: { kind: 'sideChat', chat, turnId: `s${index}-one` } },
    { name: `gone-${index}` },
  ];
  for (const { name, ...params } of more) {
    const opened = `ahp-chat:/${name}`;
    await client.request('createChat', { channel: uri, chat: opened, ...params });
    await client.request('subscribe', { channel: opened });
    for (const text of ['three', 'four']) await nativeTurn(client, opened, text, `${name}-${text}`);
  }
  await client.request('disposeChat', { channel: `ahp-chat:/gone-${index}` });
}

async function look(client: RawClient): Promise<ReadonlyMap<string, Chats>> {
  const sessions = new Map<string, Chats>();
  for (let index = 0; index < SESSIONS; index++) {
    const { chats } = await client.state<SessionState>(uriOf(index));
    const states = new Map<string, ChatState>();
    for (const { resource } of chats) states.set(resource, await client.state<ChatState>(resource));
    sessions.set(uriOf(index), states);
  }
  return sessions;
}

/** Starts a host on a copy with one page spoiled, and says what is wrong with what it shows. */
async function problemsAfter({ dataDir, sessions }: Whole, page: number, spoil: (count: number) => Buffer) {
  const copy = copyOf(dataDir);
  overwrite(databaseOf(copy), page * PAGE, spoil(PAGE));
  const first = await startTestHost({ log: await openLog(copy), scripts: [SCRIPT] });
  const client = await nativeClient(first, 'looker');
  const found = await look(client);
  const wrong = [...sessions].flatMap(([uri, chats]) => problemsOf(chats, found.get(uri), uri));
  for (const chats of sessions.values()) wrong.push(...(await goOn(client, chats)));
  await first.stop();
  // What was made whole is stored: it is the same after another start.
  const second = await startTestHost({ log: await openLog(copy), scripts: [SCRIPT] });
  const again = await look(await nativeClient(second, 'looker'));
  for (const [uri, chats] of found) {
    const [then, now] = [chats, again.get(uri)].map((each) => [...(each?.keys() ?? [])].join());
    if (then !== now) wrong.push(`${uri} has the chats ${now} after another start, not ${then}`);
  }
  await second.stop();
  return wrong;
}

function problemsOf(was: Chats, is: Chats | undefined, uri: string): string[] {
  const wrong: string[] = [];
  if ([...was.keys()].sort().join() !== [...(is?.keys() ?? [])].sort().join())
    wrong.push(`${uri} has the chats ${[...(is?.keys() ?? [])]}, not ${[...was.keys()]}`);
  for (const [chat, state] of was) {
    const shown = is?.get(chat);
    if (!shown) continue;
    for (const member of ['origin', 'interactivity', 'title'] as const) {
      const [then, now] = [state, shown].map((each) => JSON.stringify(each[member]));
      if (then !== now) wrong.push(`${chat}: ${member} is ${now}, not ${then}`);
    }
    const known = new Map(state.turns.map((turn) => [turn.id, JSON.stringify(turn)]));
    for (const turn of shown.turns) {
      const isDamaged = turn.responseParts.some((part) => part.kind === 'error' && part.error.errorType === 'damaged');
      if (!isDamaged && known.get(turn.id) !== JSON.stringify(turn))
        wrong.push(`${chat} shows what was not: ${turn.id}`);
    }
    if (shown.turns.length !== state.turns.length)
      wrong.push(`${chat} shows ${shown.turns.length} turns, not ${state.turns.length}`);
  }
  return wrong;
}

/** People can go on in the chats that are theirs. */
async function goOn(client: RawClient, chats: Chats): Promise<string[]> {
  const wrong: string[] = [];
  for (const [chat, { interactivity = 'full' }] of chats) {
    if (interactivity !== 'full') continue;
    const { error } = await client.ask('subscribe', { channel: chat });
    if (error) wrong.push(`${chat} is not found: ${error.message}`);
    else await nativeTurn(client, chat, 'on');
  }
  return wrong;
}

describe('the chats of a host whose database has one damaged page', () => {
  it('[REL-063] [UP-041] are all there with their turns, and go on, whichever page it is', {
    timeout: 240_000,
  }, async () => {
    const intact = await whole();
    for (const chats of intact.sessions.values()) {
      expect([...chats.values()].map(({ turns }) => turns.length)).toEqual([3, 1, 4, 2]);
    }
    const pages = Math.floor(statSync(databaseOf(intact.dataDir)).size / PAGE);
    const wrong: string[] = [];
    for (let page = 0; page < pages; page++) {
      const spoil = page % 2 === 0 ? zeros : garbage;
      const problems = await problemsAfter(intact, page, spoil);
      wrong.push(...problems.map((problem) => `page ${page} (${spoil.name}): ${problem}`));
    }
    expect(wrong).toEqual([]);
  });

  it.each([['the record that says whose a chat is', 'chat:ahp-chat:/fork-1{']])(
    '[REL-063] are found again without %s',
    async (_what, text) => {
      const intact = await whole();
      const bytes = readFileSync(databaseOf(intact.dataDir));
      const at = bytes.indexOf(text);
      expect(at).toBeGreaterThan(0);
      expect(await problemsAfter(intact, Math.floor(at / PAGE), zeros)).toEqual([]);
    },
  );
});

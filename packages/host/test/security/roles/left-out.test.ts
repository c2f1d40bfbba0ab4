/** Attacks on shares: what its maker left out is in no byte that the host sends, on no wire, live, in snapshots, replays and pages. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Access, LeftOut } from '@atrium/core/contracts/access.js';
import { defaultChatUri, workerChatUri } from '@atrium/protocol/ahp-1';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nativeClient, nativeTurn, userMessage } from '../../support/native-client.js';
import { type RoleHost, roleHost, WIRES, type Wire } from '../../support/role-fixture.js';
import { DEFAULT_SCRIPT, RawClient } from '../../support/test-host.js';

const SHARED = 'ahp-session:/shared';
const OTHER = 'ahp-session:/other';
const CHAT = defaultChatUri(SHARED);

/** A word for each thing that can be left out; the folder has its own. */
const WORDS: Readonly<Record<Exclude<LeftOut, 'fileContents'>, string>> = {
  toolInput: 'INPUTWORD',
  toolOutput: 'OUTPUTWORD',
  reasoning: 'THOUGHTWORD',
  attachments: 'ATTACHEDWORD',
  folders: 'folderword',
};

const call = (id: string, confirm: boolean) => ({
  tool: {
    ...{
      id,
      name: 'shell',
      displayName: 'Shell',
      invocationMessage: 'Run INPUTWORD',
      pastTenseMessage: 'Ran INPUTWORD',
    },
    ...{ input: { command: 'echo INPUTWORD' }, output: 'OUTPUTWORD', success: true, confirm },
  },
});

const SCRIPT = {
  ...DEFAULT_SCRIPT,
  prompts: {
    work: [
      { reasoning: 'THOUGHTWORD first', chunk: 5 },
      { text: 'ANSWERWORD ', chunk: 4 },
      call('a', false),
      call('b', true),
      {
        worker: {
          id: 'w',
          title: 'Worker',
          prompt: 'INPUTWORD for a worker',
          steps: [{ text: 'OUTPUTWORD of a worker' }],
        },
      },
      { text: 'done' },
    ],
    fail: [call('f', false), { error: { errorType: 'boom', message: 'OUTPUTWORD broke' } }],
  },
};

function share(leftOut: readonly LeftOut[]): Access {
  const credential = { kind: 'share' as const, id: `share-${leftOut.join('-')}`, name: 'A share' };
  return { role: 'viewer', bounds: { sessions: [SHARED] }, leftOut, credential };
}

describe('what is left out of a share', () => {
  let host: RoleHost;
  let owner: RawClient;
  let top: string;
  let folder: string;

  beforeAll(async () => {
    top = await mkdtemp(path.join(tmpdir(), 'shares-'));
    folder = path.join(top, 'folderword');
    await mkdir(folder);
    await mkdir(path.join(top, 'data'));
    await writeFile(path.join(folder, 'notes.txt'), 'ATTACHEDWORD');
    host = await roleHost({ scripts: [SCRIPT as never], dataFolder: path.join(top, 'data') });
    owner = await nativeClient(host, 'owner');
    for (const session of [SHARED, OTHER])
      await owner.request('createSession', { channel: session, workingDirectories: [pathToFileURL(folder).href] });
    await owner.request('subscribe', { channel: SHARED });
    await owner.request('subscribe', { channel: CHAT });
    await work('before');
  }, 30_000);

  afterAll(async () => {
    await host.stop();
    await rm(top, { recursive: true, force: true });
  });

  /** A turn with everything in it that can be left out. */
  async function work(id: string): Promise<void> {
    const attachments = [
      { type: 'simple', label: 'ATTACHEDWORD', modelRepresentation: 'ATTACHEDWORD' },
      { type: 'resource', label: 'ATTACHEDWORD', uri: pathToFileURL(path.join(folder, 'notes.txt')).href },
    ];
    const message = { ...userMessage('work'), attachments };
    owner.dispatch(CHAT, { type: 'chat/turnStarted', turnId: id, message } as never);
    await owner.action(
      CHAT,
      ({ type, toolCallId, turnId }) =>
        type === 'chat/toolCallReady' && toolCallId === ('b' as never) && turnId === (id as never),
    );
    owner.dispatch(CHAT, {
      type: 'chat/toolCallConfirmed',
      turnId: id,
      toolCallId: 'b',
      approved: true,
      confirmed: 'user-action',
    } as never);
    await owner.action(CHAT, ({ type, turnId }) => type === 'chat/turnComplete' && turnId === (id as never));
  }

  const named = (wire: Wire) =>
    wire === '1' ? { resource: SHARED.replace('ahp-session', 'mock') } : { channel: SHARED };
  const hasChats = (wire: Wire) => !['0.3.0', '0.2.0', '1'].includes(wire);

  async function reader(given: Access, wire: Wire): Promise<RawClient> {
    const client = await host.as(given, wire);
    await client.request('subscribe', named(wire));
    if (hasChats(wire)) await client.request('subscribe', { channel: CHAT });
    return client;
  }

  const bytes = (client: RawClient) => JSON.stringify(client.received);
  const answered = (text: string) => text.split('ANSWERWORD').length - 1;

  /** Another page of history, in the way of the wire. */
  async function history(client: RawClient, wire: Wire): Promise<void> {
    if (wire === '1') await client.ask('fetchTurns', { session: named(wire).resource, startTurn: 0, count: 10 });
    else if (hasChats(wire)) await client.ask('fetchTurns', { channel: CHAT, cursor: '1' });
    else await client.ask('fetchTurns', { channel: SHARED, limit: 10 });
  }

  it.each(WIRES)(
    '[DEV-031] everything is there on the wire %s when nothing is left out, so that the next tests can fail',
    async (wire) => {
      const client = await reader(share([]), wire);
      await work(`all-${wire}`);
      await client.ask('listSessions', {});
      const text = bytes(client);
      for (const word of ['INPUTWORD', 'OUTPUTWORD', 'THOUGHTWORD', 'ANSWERWORD'])
        expect([wire, word, text.includes(word)]).toEqual([wire, word, true]);
    },
  );

  it.each(WIRES)(
    '[DEV-031] nothing of it is sent on the wire %s: snapshot, live actions, history',
    async (wire) => {
      for (const [what, word] of Object.entries(WORDS)) {
        const client = await reader(share([what as LeftOut]), wire);
        const before = answered(bytes(client));
        await work(`${what}-${wire}`);
        await history(client, wire);
        await client.ask('listSessions', wire === '1' ? {} : { channel: 'ahp-root://' });
        expect([wire, what, bytes(client).includes(word)]).toEqual([wire, what, false]);
        expect(answered(bytes(client))).toBeGreaterThan(before);
        client.disconnect();
      }
    },
    30_000,
  );

  it.each(WIRES)(
    '[DEV-031] nothing of it is sent on the wire %s after a reconnect: replay, or a new snapshot',
    async (wire) => {
      const leftOut: LeftOut[] = ['fileContents', 'reasoning', 'attachments', 'folders'];
      const before = await reader(share(leftOut), wire);
      before.disconnect();
      await work(`away-${wire}`);
      const after = new RawClient();
      host.host.connect(after.transport, share(leftOut));
      const subscriptions = [...Object.values(named(wire)), ...(hasChats(wire) ? [CHAT] : [])];
      const seen = Math.max(
        ...before.received.flatMap((message) =>
          [...JSON.stringify(message).matchAll(/"(?:fromSeq|serverSeq)":(\d+)/g)].map(([, seq]) => Number(seq)),
        ),
      );
      await after.request('reconnect', {
        ...(wire !== '1' && { channel: 'ahp-root://' }),
        clientId: before.clientId,
        lastSeenServerSeq: seen,
        subscriptions,
      });
      await work(`back-${wire}`);
      await after.ask('listSessions', wire === '1' ? {} : { channel: 'ahp-root://' });
      const text = bytes(after);
      for (const word of Object.values(WORDS)) expect([wire, word, text.includes(word)]).toEqual([wire, word, false]);
      expect(text).toContain('ANSWERWORD');
    },
  );

  it('[DEV-031] a window of turns and the page before it leave out the same', async () => {
    const client = await host.as(share(['fileContents', 'reasoning', 'attachments', 'folders']));
    await client.request('subscribe', { channel: CHAT, view: { turns: 1 } });
    await client.request('fetchTurns', { channel: CHAT });
    const text = bytes(client);
    expect(answered(text)).toBeGreaterThan(1);
    for (const word of Object.values(WORDS)) expect([word, text.includes(word)]).toEqual([word, false]);
  });

  it('[DEV-031] a failed turn does not tell in its error what was left out', async () => {
    const client = await reader(share(['toolOutput']), '1.0.0');
    await nativeTurn(owner, CHAT, 'fail');
    await client.ask('listSessions', { channel: 'ahp-root://' });
    expect(bytes(client)).toContain('The turn failed.');
    expect(bytes(client)).not.toContain('OUTPUTWORD');
  });

  it('[DEV-031] what is left out cannot be fetched by its own name: terminals, changes, workers, inputs', async () => {
    const client = await host.as(share(['fileContents', 'folders']));
    const changes = 'ahp-changeset:/shared/session';
    for (const channel of [changes, workerChatUri(SHARED, 'w'), 'ahp-terminal:/any', `${SHARED}/annotations`])
      expect([channel, (await client.ask('subscribe', { channel })).error?.code]).toEqual([
        channel,
        expect.any(Number),
      ]);
    const input = Buffer.from(JSON.stringify([CHAT, 'before', 'a'])).toString('base64url');
    for (const uri of [
      `atrium-changes:/shared/${'a'.repeat(64)}`,
      `atrium-input:/${input}/${'b'.repeat(64)}`,
      pathToFileURL(path.join(folder, 'notes.txt')).href,
    ])
      expect((await client.ask('resourceRead', { channel: 'ahp-root://', uri })).error).toBeDefined();
  });

  it.each(WIRES)('[DEV-032] a share has no way to anything else on the wire %s', async (wire) => {
    const client = await host.as(share([]), wire);
    const listed = JSON.stringify(await client.request('listSessions', wire === '1' ? {} : { channel: 'ahp-root://' }));
    expect([listed.includes('shared'), listed.includes('other')]).toEqual([true, false]);
    const other = wire === '1' ? { resource: OTHER.replace('ahp-session', 'mock') } : { channel: OTHER };
    expect((await client.ask('subscribe', other)).error).toBeDefined();
    for (const method of [
      'createSession',
      'atrium/search',
      'atrium/shares',
      'atrium/notifications',
      'completions',
      'resourceList',
    ])
      expect([method, (await client.ask(method, { ...other, query: 'WORD' })).error !== undefined]).toEqual([
        method,
        true,
      ]);
    await owner.request('createSession', { channel: `${OTHER}-${wire.replaceAll('.', '')}` });
    await client.ask('listSessions', wire === '1' ? {} : { channel: 'ahp-root://' });
    // An error says the name that was asked for, and nothing else does.
    const told = JSON.stringify(client.received.filter(({ error }) => !error));
    expect(told).not.toMatch(/ahp-session:\/other|mock:\/other/);
    // The root shows neither agents, nor settings, nor where the host begins.
    expect(bytes(client)).not.toMatch(/"Mock"|defaultDirectory|"autoApprove"/);
  });

  it('[DEV-031] others who watch the same session are sent as before, encoded once for all of them', async () => {
    const [one, two] = [await nativeClient(host, 'one'), await nativeClient(host, 'two')];
    for (const client of [one, two]) await client.request('subscribe', { channel: CHAT });
    const limited = await reader(share(['toolOutput']), '1.0.0');
    const [from, to] = [one.received.length, two.received.length];
    await work('together');
    await Promise.all([one, two, limited].map((client) => client.ask('listSessions', { channel: 'ahp-root://' })));
    const actions = (client: RawClient, start: number) =>
      client.received.slice(start).filter(({ method }) => method === 'action');
    expect(actions(one, from)).toEqual(actions(two, to));
    expect(JSON.stringify(actions(one, from))).toContain('OUTPUTWORD');
    expect(bytes(limited)).not.toContain('OUTPUTWORD');
  });
});

/** Pictures and files that a person attaches: stored once, kept, and what goes to the model's server, byte for byte. */
import { createHash } from 'node:crypto';
import { readdir, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  ATTACH_METHOD,
  ATTACHMENT_MAX_BYTES,
  type AttachResult,
  ErrorCode,
  type MessageResourceAttachment,
  PICTURE_SIZE,
} from '@atrium/protocol/ahp-1';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ModelApi, modelAgent } from '../../../agents/src/model/backend.js';
import { FileBlobStore } from '../../src/blobs/file-blob-store.js';
import { sweep } from '../../src/blobs/sweep.js';
import { builtinTools } from '../../src/workspace/tools/builtin.js';
import { READ_PICTURE_MAX_BYTES } from '../../src/workspace/tools/read-file.js';
import { KeptLog } from '../support/logs.js';
import { ModelServer, type ServedAnswer } from '../support/model-server.js';
import { chatState, nativeClient, nativeSession } from '../support/native-client.js';
import { answerTo, stateOf } from '../support/session-fixture.js';
import { tempFolder } from '../support/temp-folder.js';
import { type RawClient, ROOT, startTestHost, type TestHost } from '../support/test-host.js';

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
/** Larger than what stays in a session. */
const SHOT = Buffer.concat([PIXEL, Buffer.alloc(20_000, 1)]);
const SHOT_BASE64 = SHOT.toString('base64');
const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

interface World {
  readonly server: ModelServer;
  readonly host: TestHost;
  readonly client: RawClient;
  readonly chat: string;
  readonly session: string;
  readonly dataFolder: string;
  readonly folder: string;
  readonly log: KeptLog;
  restart(): Promise<RawClient>;
}

async function openWorld(kind: ModelApi, answers: ServedAnswer[], supportsVision?: boolean): Promise<World> {
  const server = await ModelServer.start(...answers);
  onTestFinished(() => server.stop());
  const models = [{ id: 'm-1', name: 'M 1', ...(supportsVision !== undefined && { supportsVision }) }];
  const agent = modelAgent({ provider: 'm', displayName: 'M', kind, models, retries: 0, baseURL: server.url });
  const [dataFolder, folder] = [await tempFolder(), await tempFolder()];
  const log = new KeptLog();
  const start = async () => {
    const host = await startTestHost({ scripts: [], agents: [agent], log, dataFolder, tools: builtinTools() });
    onTestFinished(() => host.stop());
    return host;
  };
  const host = await start();
  const client = await nativeClient(host, 'desk');
  const workingDirectories = [pathToFileURL(folder).href];
  const { uri: session, chat } = await nativeSession(client, { provider: 'm', workingDirectories });
  const restart = async () => {
    await host.stop();
    const again = await nativeClient(await start(), 'phone');
    await again.request('subscribe', { channel: chat });
    return again;
  };
  return { server, host, client, chat, session, dataFolder, folder, log, restart };
}

async function attach(client: RawClient, name: string, bytes: Buffer, type?: string): Promise<AttachResult> {
  const params = { channel: ROOT, name, at: 0, text: bytes.toString('base64'), isLast: true, type };
  return client.request<AttachResult>(ATTACH_METHOD, params);
}

async function say(client: RawClient, chat: string, text: string, attachments: readonly object[] = []): Promise<void> {
  const turnId = `t-${crypto.randomUUID()}`;
  const message = { text, origin: { kind: 'user' }, ...(attachments.length > 0 && { attachments }) };
  client.dispatch(chat, { type: 'chat/turnStarted', turnId, message } as { type: string });
  await client.action(chat, ({ type, ...more }) => type === 'chat/turnComplete' && more.turnId === turnId);
}

/** What the model's server got of the person's messages, in the shape of its maker. */
function personIn({ body }: { readonly body: Record<string, unknown> }): unknown[] {
  const messages = (body.messages ?? body.input) as { role?: string; content: unknown }[];
  return messages.filter(({ role }) => role === 'user').map(({ content }) => content);
}

describe('a picture that is attached goes to a model that sees [DAY-010] [DAY-011]', () => {
  it.each<[ModelApi, object]>([
    ['openai-compatible', { type: 'image_url', image_url: { url: `data:image/png;base64,${SHOT_BASE64}` } }],
    ['openai', { type: 'input_image', image_url: `data:image/png;base64,${SHOT_BASE64}` }],
    ['anthropic', { type: 'image', source: { type: 'base64', media_type: 'image/png', data: SHOT_BASE64 } }],
  ])('with every byte, in the shape of %s, and again after a restart', async (kind, block) => {
    const world = await openWorld(kind, [{ text: ['A dot.'] }, { text: ['Still.'] }], true);
    const { attachment } = await attach(world.client, 'dot.png', SHOT);
    await say(world.client, world.chat, 'what is this?', [attachment]);
    const [first] = personIn(world.server.requests[0] ?? { body: {} });
    const text = kind === 'openai' ? 'input_text' : 'text';
    expect(first).toEqual([
      expect.objectContaining({ type: text, text: expect.stringContaining('what is this?\n[Attached] dot.png') }),
      expect.objectContaining(block),
    ]);
    const client = await world.restart();
    await say(client, world.chat, 'still there?');
    const [again] = personIn(world.server.requests[1] ?? { body: {} });
    // What was sent is the same to the last byte, so that what the provider cached counts.
    const plain = (content: unknown) => JSON.stringify(content).replaceAll(/,"cache_control":\{[^}]*\}/g, '');
    expect(plain(again)).toBe(plain(first));
    if (kind !== 'anthropic') return;
    // The prompt and the picture are marked for the cache, and then also the end of the next request.
    const marks = world.server.requests.map(({ body }) => JSON.stringify(body).split('"cache_control"').length - 1);
    expect(marks).toEqual([2, 3]);
  });

  it.each<[string, boolean | undefined]>([
    ['cannot see', false],
    ['is not known to see', undefined],
  ])('is only told of to one that %s, and people read that', async (words, sees) => {
    const { server, client, chat } = await openWorld('openai-compatible', [{ text: ['No idea.'] }], sees);
    const { attachment } = await attach(client, 'dot.png', SHOT);
    await say(client, chat, 'what is this?', [attachment]);
    expect(server.heard()).not.toContain(SHOT_BASE64.slice(0, 60));
    expect(server.heard()).toContain(
      '[A picture came with this message, and you cannot see it. Say so where it matters.]',
    );
    const parts = (await chatState(client, chat)).turns[0]?.responseParts;
    expect(parts?.[0]).toMatchObject({ content: `M 1 ${words} pictures, and is only told that there is one.` });
  });

  it('also when it steers a turn, or waits behind one', async () => {
    const answers: ServedAnswer[] = [
      { calls: [{ name: 'shell', input: { command: 'true' } }] },
      { text: ['Seen.'] },
      { text: ['Seen, too.'] },
    ];
    const { server, client, chat } = await openWorld('anthropic', answers, true);
    client.dispatch(chat, {
      ...{ type: 'chat/turnStarted', turnId: 't1', message: { text: 'go', origin: { kind: 'user' } } },
    } as { type: string });
    const { action } = await client.action(
      chat,
      ({ type, ...more }) => type === 'chat/toolCallReady' && 'options' in more,
    );
    const { attachment } = await attach(client, 'dot.png', SHOT);
    const other = (await attach(client, 'two.png', Buffer.concat([SHOT, Buffer.from('2')]))).attachment;
    const pending = (kind: string, id: string, one: object) => {
      const message = { text: `${kind} it`, origin: { kind: 'user' }, attachments: [one] };
      return client.dispatch(chat, { type: 'chat/pendingMessageSet', kind, id, message } as { type: string });
    };
    await answerTo(client, chat, pending('steering', 's', attachment));
    await answerTo(client, chat, pending('queued', 'q', other));
    client.dispatch(chat, {
      ...{ type: 'chat/toolCallConfirmed', turnId: 't1', toolCallId: action.toolCallId },
      ...{ approved: true, confirmed: 'user-action' },
    } as { type: string });
    await client.action(chat, ({ type, ...more }) => type === 'chat/turnComplete' && more.turnId !== 't1');
    expect(JSON.stringify(server.requests[0]?.body)).not.toContain(SHOT_BASE64.slice(0, 60));
    expect(JSON.stringify(server.requests[1]?.body)).toContain(SHOT_BASE64);
    expect(JSON.stringify(server.requests[2]?.body)).toContain(
      Buffer.concat([SHOT, Buffer.from('2')]).toString('base64'),
    );
  });

  it('that a tool read, too; a picture only named like one is no picture', async () => {
    const answers: ServedAnswer[] = [
      { calls: [{ id: 'a', name: 'read_file', input: { path: 'dot.png' } }] },
      { calls: [{ id: 'b', name: 'read_file', input: { path: 'fake.png' } }] },
      { calls: [{ id: 'c', name: 'read_file', input: { path: 'huge.png' } }] },
      {
        calls: [{ id: 'd', name: 'read_file', input: { path: `atrium-content:/${hashOf(Buffer.from('one\ntwo'))}` } }],
      },
      { calls: [{ id: 'e', name: 'read_file', input: { path: `atrium-content:/${hashOf(SHOT)}` } }] },
      { text: ['Done.'] },
    ];
    const { server, client, chat, folder } = await openWorld('anthropic', answers, true);
    await writeFile(path.join(folder, 'dot.png'), SHOT);
    await writeFile(path.join(folder, 'fake.png'), 'just words');
    await writeFile(path.join(folder, 'huge.png'), Buffer.concat([PIXEL, Buffer.alloc(READ_PICTURE_MAX_BYTES)]));
    const { attachment } = await attach(client, 'notes.txt', Buffer.from('one\ntwo'));
    // Stored, and attached to no message of this chat.
    await attach(client, 'other.png', SHOT);
    await say(client, chat, 'look around', [attachment]);
    const results = server.requests.slice(1).map(({ body }) => JSON.stringify((body.messages as object[]).at(-1)));
    expect(results[0]).toContain(SHOT_BASE64);
    expect(results[0]).toContain('dot.png: image/png, 1 × 1');
    expect(results[1]).toContain('just words');
    expect(results[2]).toContain('pictures are shown up to 3 MiB');
    expect(results[3]).toContain('one\\ntwo');
    expect(results[4]).toContain('no such result');
    expect(results[4]).not.toContain(SHOT_BASE64);
  });
});

describe('what is attached [DAY-010]', () => {
  it('is stored once, for its owner only, and clients of every version read it', async () => {
    const { client, host, chat, session, dataFolder, server } = await openWorld(
      'openai-compatible',
      [{ text: ['.'] }],
      true,
    );
    const { attachment, note } = await attach(client, '../../etc/x/dot.png', SHOT, 'image/png');
    expect(attachment).toEqual({
      ...{ type: 'resource', label: 'dot.png', displayKind: 'image', contentType: 'image/png', sizeHint: SHOT.length },
      uri: `atrium-content:/${hashOf(SHOT)}`,
      _meta: { [PICTURE_SIZE]: { width: 1, height: 1 } },
    });
    expect(note).toBeUndefined();
    // A foreign client carries its picture in the message.
    const carried = { type: 'embeddedResource', label: 'mine.png', contentType: 'image/png', data: SHOT_BASE64 };
    await say(client, chat, 'both', [attachment, carried]);
    const files = await readdir(path.join(dataFolder, 'content'), { recursive: true });
    expect(files.filter((name) => name.includes(path.sep))).toHaveLength(1);
    expect(server.heard().split(SHOT_BASE64)).toHaveLength(3);
    const old = await host.client('old');
    const [turn] = (await stateOf(old, session)).turns;
    const [one, two] = (turn?.userMessage.attachments ?? []) as MessageResourceAttachment[];
    expect([one?.type, two?.type, two?.uri]).toEqual(['resource', 'resource', attachment.uri]);
    const read = await old.request<{ data: string; contentType: string }>('resourceRead', {
      channel: ROOT,
      uri: one?.uri,
    });
    expect(read).toMatchObject({ data: SHOT_BASE64, contentType: 'image/png' });
  });

  it('is told apart by its bytes, and the one who attaches it reads what is wrong [DAY-011]', async () => {
    const { client } = await openWorld('openai-compatible', []);
    const svg = Buffer.from('<svg onload="alert(1)"/>');
    const bomb = Buffer.from(PIXEL);
    bomb.writeUInt32BE(100_000, 16);
    const heic = Buffer.concat([Buffer.from('\0\0\0\x18ftypheic', 'latin1'), Buffer.alloc(30)]);
    const given: [string, Buffer, string | undefined, string, string | undefined][] = [
      [
        'a.png',
        svg,
        'image/png',
        'text/plain',
        'a.png is called a picture, but it is text/plain: it is attached as a file.',
      ],
      ['a.svg', svg, 'image/svg+xml', 'image/svg+xml', undefined],
      ['page.html', Buffer.from('<script>'), 'text/html', 'text/html', undefined],
      [
        'a.jpg',
        PIXEL,
        'image/jpeg',
        'image/png',
        'a.jpg is called image/jpeg, but it is image/png, and is attached as that.',
      ],
      [
        'b.png',
        bomb,
        undefined,
        'image/png',
        'b.png is attached, but no model sees it: it has 100000 × 1 pixels, and models take 8000 a side.',
      ],
      [
        'c.heic',
        heic,
        'image/heic',
        'image/heic',
        'c.heic is attached as a file: no model accepts image/heic. Attach it as JPEG or PNG so that models see it.',
      ],
      ['d.bin', Buffer.from([0, 1]), undefined, 'application/octet-stream', undefined],
    ];
    for (const [name, bytes, type, contentType, note] of given) {
      const result = await attach(client, name, bytes, type);
      expect([name, result.attachment.contentType, result.note]).toEqual([name, contentType, note]);
    }
    const { attachment } = await attach(client, `${'n'.repeat(300)}\u202e\u0007.png`, PIXEL);
    expect(attachment.label).toBe('n'.repeat(200));
  });

  it('comes in pieces, up to a size and not beyond', async () => {
    const { client, dataFolder } = await openWorld('openai-compatible', []);
    const piece = (more: object) =>
      client.ask(ATTACH_METHOD, { channel: ROOT, name: 'a', at: 0, text: '', isLast: false, ...more });
    expect((await piece({ text: 'AAAA' })).result).toBeNull();
    expect((await piece({ at: 4, text: 'AAA=', isLast: true })).result).toMatchObject({ attachment: { sizeHint: 5 } });
    const refusals: [object, string][] = [
      [{ at: 8, text: 'AAAA' }, 'begin again with /at 0'],
      [{ text: 'AAAA', isLast: 'yes' }, 'a boolean /isLast'],
      [{ name: '' }, '/name'],
      [{ text: 'no base64!', isLast: true }, 'must be base64'],
      [{ isLast: true }, 'is empty'],
    ];
    for (const [params, words] of refusals) {
      const { error } = await piece(params);
      expect(error).toMatchObject({ code: ErrorCode.InvalidParams, message: expect.stringContaining(words) });
    }
    const text = 'A'.repeat(2 ** 20);
    const pieces = Math.ceil(ATTACHMENT_MAX_BYTES / 3) * 4;
    let at = 0;
    for (; at + text.length <= pieces; at += text.length) expect((await piece({ at, text })).error).toBeUndefined();
    expect((await piece({ at, text })).error?.message).toContain('may have at most 16 MiB');
    expect((await readdir(path.join(dataFolder, 'content'))).length).toBe(1);
  });

  it('outlives a restart and a sweep while a draft or a turn names it, and goes when nothing does', async () => {
    const world = await openWorld('openai-compatible', [{ text: ['.'] }, { text: ['.'] }], true);
    const { client, chat, session, log, dataFolder } = world;
    const some = ['draft', 'turn', 'loose'].map((text) => Buffer.from(`${text} ${'x'.repeat(50)}`));
    const attached: MessageResourceAttachment[] = [];
    for (const bytes of some) attached.push((await attach(client, 'a.txt', bytes)).attachment);
    const draft = { text: 'later', origin: { kind: 'user' }, attachments: [attached[0]] };
    const { rejectionReason } = await answerTo(
      client,
      chat,
      client.dispatch(chat, { type: 'chat/draftChanged', draft } as { type: string }),
    );
    expect(rejectionReason).toBeUndefined();
    await say(client, chat, 'now', [attached[1] ?? {}]);
    const again = await world.restart();
    const state = await chatState(again, chat);
    expect(state.draft?.attachments).toEqual([attached[0]]);
    const blobs = new FileBlobStore(path.join(dataFolder, 'content'));
    const files = await readdir(blobs.folder, { recursive: true });
    for (const name of files.filter((one) => one.includes(path.sep))) await utimes(path.join(blobs.folder, name), 1, 1);
    const clock = { now: () => Date.now() } as never;
    const old = { clock, log, blobs, sessions: [session], signal: new AbortController().signal };
    expect(await sweep(old)).toBe(1);
    expect(await Promise.all(some.map((bytes) => blobs.has(hashOf(bytes))))).toEqual([true, true, false]);
    // A message that names what is gone says so, and one that comes while a sweep is at work wins.
    const refused = { text: 'x', origin: { kind: 'user' }, attachments: [attached[2]] };
    const answer = await answerTo(
      again,
      chat,
      again.dispatch(chat, { type: 'chat/draftChanged', draft: refused } as { type: string }),
    );
    expect(answer.rejectionReason).toContain('is no longer stored: attach it again');
    await blobs.put(some[2] ?? Buffer.alloc(0));
    const file = path.join(blobs.folder, hashOf(some[2] ?? Buffer.alloc(0)).replace(/^../, '$&/'));
    await utimes(file, 1, 1);
    const reading = log.read.bind(log);
    const racing = {
      ...old,
      log: {
        archiveHead: log.archiveHead.bind(log),
        archivedTurnsText: log.archivedTurnsText.bind(log),
        read: async (request: Parameters<typeof reading>[0]) => {
          const entries = await reading(request);
          await blobs.touch(hashOf(some[2] ?? Buffer.alloc(0)));
          return entries;
        },
      },
    };
    expect(await sweep(racing)).toBe(0);
    expect(await blobs.has(hashOf(some[2] ?? Buffer.alloc(0)))).toBe(true);
  });

  it('cannot be had on a host that stores nothing', async () => {
    const host = await startTestHost({});
    onTestFinished(() => host.stop());
    const client = await nativeClient(host, 'desk');
    const { error } = await client.ask(ATTACH_METHOD, { channel: ROOT, name: 'a', at: 0, text: 'AA==', isLast: true });
    expect(error?.message).toContain('start it with a data folder');
  });
});

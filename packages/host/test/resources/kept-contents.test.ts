/** Results that are too large for a session: what people see, what the agent gets, and how long they are kept. */
import { createHash } from 'node:crypto';
import { readdir, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { HostTool, ToolOutput } from '@atrium/core/contracts/tool.js';
import { INLINE_DATA_MAX_BYTES, INLINE_TEXT_MAX_CHARACTERS } from '@atrium/core/tool-calls/limits.js';
import { ErrorCode, type SessionState, type ToolResultContent } from '@atrium/protocol';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FileBlobStore } from '../../src/blobs/file-blob-store.js';
import { createHost } from '../../src/host.js';
import { KeptLog } from '../support/logs.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { openResourceFixture, type ResourceFixture } from '../support/resource-fixture.js';
import { callsIn } from '../support/session-fixture.js';
import { tempFolder } from '../support/temp-folder.js';
import { RawClient, ROOT } from '../support/test-host.js';

const LONG = 'All work and no play. '.repeat(20_000);
const LONG_BASE64 = Buffer.from(LONG).toString('base64');
const PNG = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(40_000, 7)]);

/** A tool that gives back what it is told to. */
function saying(output: Partial<ToolOutput>): HostTool {
  return {
    definition: { name: 'say', inputSchema: { type: 'object' } },
    displayName: 'Say',
    invocationMessage: () => 'Say it',
    run: async (_, { progress }) => {
      progress([{ type: 'text', text: LONG }]);
      return { success: true, pastTenseMessage: 'Said it', content: [], ...output };
    },
  };
}

interface KeptFixture extends ResourceFixture {
  readonly dataFolder: string;
  readonly log: KeptLog;
}

async function openKeptFixture(output: Partial<ToolOutput>, isKeeping = true): Promise<KeptFixture> {
  const dataFolder = await tempFolder();
  const log = new KeptLog();
  // What models read of it is another matter: here agents get all of it.
  const host = { tools: [saying(output)], toolOutputMaxCharacters: LONG.length, ...(isKeeping && { dataFolder }) };
  return Object.assign(await openResourceFixture({ log, host }), { dataFolder, log });
}

/** Lets the agent use the tool in a turn, and says what it got. */
async function use(fixture: ResourceFixture) {
  const index = fixture.agent.turns.length;
  fixture.client.dispatch(fixture.uri, {
    type: 'session/turnStarted',
    turnId: `t${index}`,
    userMessage: { text: 'go' },
  });
  const { turn, finish } = await fixture.agent.turn(index);
  const outcome = await turn.callTool({ name: 'say', input: {} });
  finish();
  await fixture.client.action(
    fixture.uri,
    ({ type, turnId }) => type === 'session/turnComplete' && turnId === `t${index}`,
  );
  if (outcome.kind !== 'completed') throw new Error('it was denied');
  return outcome;
}

async function shown(fixture: ResourceFixture): Promise<ToolResultContent[]> {
  const { turns } = await fixture.client.state<SessionState>(fixture.uri);
  const [call] = callsIn(turns.at(-1)?.responseParts);
  return call?.status === 'completed' ? (call.content ?? []) : [];
}

type Named = Extract<ToolResultContent, { type: 'resource' }>;

async function filesIn(folder: string): Promise<string[]> {
  const found = await readdir(path.join(folder, 'content'), { recursive: true, withFileTypes: true }).catch(() => []);
  return found.filter((entry) => entry.isFile()).map(({ parentPath, name }) => path.join(parentPath, name));
}

describe('a result that is too large for a session', () => {
  it('is named there with its beginning, can be read, and the agent gets it as before', async () => {
    const fixture = await openKeptFixture({ content: [{ type: 'text', text: LONG }] });
    const outcome = await use(fixture);
    expect(outcome.text).toBe(LONG);
    const [preview, named] = (await shown(fixture)) as [{ text: string }, Named];
    expect(preview.text.startsWith('All work')).toBe(true);
    expect(preview.text.length).toBeLessThan(INLINE_TEXT_MAX_CHARACTERS / 8);
    expect(named).toMatchObject({ type: 'resource', sizeHint: LONG.length, contentType: 'text/plain' });
    expect(named.uri).toMatch(/^atrium-content:\/[0-9a-f]{64}$/);
    expect(await fixture.result('resourceRead', { uri: named.uri })).toEqual({
      data: LONG,
      encoding: 'utf-8',
      contentType: 'text/plain',
    });
    const range = { start: 0, end: 8 };
    expect(await fixture.result('resourceRead', { uri: named.uri, range })).toMatchObject({
      data: 'All work',
      size: LONG.length,
    });
    expect(JSON.stringify(fixture.client.envelopes(fixture.uri)).length).toBeLessThan(3 * INLINE_TEXT_MAX_CHARACTERS);
  });

  it('[V1-015] [V1-041] is fetched by clients of sessions-v1, too', async () => {
    const fixture = await openKeptFixture({ content: [{ type: 'text', text: LONG }] });
    await use(fixture);
    const [, named] = (await shown(fixture)) as [unknown, Named];
    const old = new RawClient();
    fixture.host.connect(old.transport);
    await old.request('initialize', { protocolVersion: 1, clientId: 'old' });
    expect(await old.request('fetchContent', { uri: named.uri })).toEqual({
      data: LONG,
      encoding: 'utf-8',
      mimeType: 'text/plain',
    });
    expect((await old.ask('fetchContent', { uri: `atrium-content:/${'0'.repeat(64)}` })).error?.code).toBe(-32008);
  });

  it('may be a picture, or data for programs; small ones stay where they are', async () => {
    const picture = { type: 'embeddedResource' as const, data: PNG.toString('base64'), contentType: 'image/png' };
    const small = { ...picture, data: 'AAAA' };
    const structuredContent = { rows: LONG };
    const fixture = await openKeptFixture({
      content: [small, picture, { type: 'text', text: 'short' }],
      structuredContent,
    });
    const outcome = await use(fixture);
    expect(outcome.content).toEqual([small, picture, { type: 'text', text: 'short' }]);
    const [first, image, text, data] = (await shown(fixture)) as [unknown, Named, unknown, Named];
    expect([first, text]).toEqual([small, { type: 'text', text: 'short' }]);
    expect(image).toMatchObject({ type: 'resource', contentType: 'image/png', sizeHint: PNG.length });
    expect(await fixture.result('resourceRead', { uri: image.uri })).toEqual({
      data: picture.data,
      encoding: 'base64',
      contentType: 'image/png',
    });
    const { data: json } = await fixture.result<{ data: string }>('resourceRead', { uri: data.uri });
    expect(JSON.parse(json)).toEqual(structuredContent);
    expect(PNG.length).toBeGreaterThan(INLINE_DATA_MAX_BYTES);
  });

  it('takes nothing along that is small, also when that comes behind it', async () => {
    const text = { type: 'text' as const, text: 'short' };
    const picture = { type: 'embeddedResource' as const, data: PNG.toString('base64'), contentType: 'image/png' };
    const small = { ...picture, data: 'AAAA' };
    const fixture = await openKeptFixture({ content: [{ type: 'text', text: LONG }, text, picture, small] });
    await use(fixture);
    const blocks = await shown(fixture);
    expect(blocks.map(({ type }) => type)).toEqual(['text', 'resource', 'text', 'resource', 'embeddedResource']);
    expect([blocks[2], blocks[4]]).toEqual([text, small]);
    expect(await filesIn(fixture.dataFolder)).toHaveLength(2);
  });

  it('may be many small pictures: those that fit together stay, the others are named', async () => {
    const bytes = INLINE_DATA_MAX_BYTES / 4;
    const pictures = Array.from({ length: 6 }, (_, index) => ({
      type: 'embeddedResource' as const,
      data: Buffer.alloc(bytes, index + 1).toString('base64'),
      contentType: 'image/png',
    }));
    const fixture = await openKeptFixture({ content: pictures });
    const outcome = await use(fixture);
    expect(outcome.content).toEqual(pictures);
    const blocks = await shown(fixture);
    expect(blocks.slice(0, 4)).toEqual(pictures.slice(0, 4));
    expect(blocks.slice(4)).toEqual([4, 5].map(() => expect.objectContaining({ type: 'resource', sizeHint: bytes })));
    expect(await filesIn(fixture.dataFolder)).toHaveLength(2);
    const [turn] = await fixture.agent.history(1);
    const [call] = callsIn(turn?.responseParts);
    expect(call).toMatchObject({ content: pictures });
  });

  it('leaves the descriptor of a file as it is, for the session and for the agent', async () => {
    const file = { type: 'resource' as const, uri: 'file:///nowhere/a.bin', sizeHint: 5, contentType: 'x/y' };
    const fixture = await openKeptFixture({ content: [file, { type: 'text', text: LONG }] });
    const outcome = await use(fixture);
    expect(outcome.content?.[0]).toEqual(file);
    const blocks = await shown(fixture);
    expect(blocks[0]).toEqual(file);
    const hash = createHash('sha256').update(LONG).digest('hex');
    const named = { uri: `atrium-content:/${hash}`, sizeHint: LONG.length, contentType: 'text/plain' };
    expect(blocks[2]).toEqual({ type: 'resource', ...named });
    const [turn] = await fixture.agent.history(1);
    const [call] = callsIn(turn?.responseParts);
    expect(call).toMatchObject({ content: [file, { type: 'text', text: LONG }] });
  });

  it('is kept once, and only its owner can read the file', async () => {
    const fixture = await openKeptFixture({ content: [{ type: 'text', text: LONG }] });
    await use(fixture);
    await use(fixture);
    const files = await filesIn(fixture.dataFolder);
    expect(files).toHaveLength(1);
    expect((await stat(files[0] ?? '')).mode & 0o777).toBe(0o600);
  });

  it('stays in the session, as long as ever, where the host has no folder to keep it in', async () => {
    const fixture = await openKeptFixture({ content: [{ type: 'text', text: LONG }] }, false);
    await use(fixture);
    expect(await shown(fixture)).toEqual([{ type: 'text', text: LONG }]);
  });

  it('stays in the session when it cannot be kept', async () => {
    const fixture = await openKeptFixture({ content: [{ type: 'text', text: LONG }] });
    await writeFile(path.join(fixture.dataFolder, 'content'), 'in the way');
    expect((await use(fixture)).text).toBe(LONG);
    expect(await shown(fixture)).toEqual([{ type: 'text', text: LONG }]);
  });

  it('is in the memory of an agent that opens the session again', async () => {
    const fixture = await openKeptFixture({ content: [{ type: 'text', text: LONG }] });
    await use(fixture);
    const [turn] = await fixture.agent.history(1);
    const [call] = callsIn(turn?.responseParts);
    expect(call).toMatchObject({ content: [{ type: 'text', text: LONG }] });
  });
});

describe('kept contents', () => {
  async function restart({ dataFolder, log }: KeptFixture): Promise<RawClient> {
    const host = await createHost({ log, dataFolder, agents: [new PuppetAgent()], terminals: false });
    onTestFinished(() => host.stop());
    const client = new RawClient();
    host.connect(client.transport);
    await client.initialize('desk');
    return client;
  }

  async function makeOld(folder: string): Promise<void> {
    for (const file of await filesIn(folder)) await utimes(file, 1_000, 1_000);
  }

  it('stay as long as a session names them, disposed or not, and go when none does', async () => {
    const fixture = await openKeptFixture({ content: [{ type: 'text', text: LONG }] });
    await use(fixture);
    const blobs = new FileBlobStore(path.join(fixture.dataFolder, 'content'));
    await blobs.put(Buffer.from('nobody names this'));
    const fresh = await blobs.put(Buffer.from('nobody names this yet'));
    expect(await filesIn(fixture.dataFolder)).toHaveLength(3);
    // A host that was killed in the middle leaves what it had begun.
    await writeFile(`${(await filesIn(fixture.dataFolder))[0]}.${crypto.randomUUID()}`, 'half');
    await makeOld(fixture.dataFolder);
    await blobs.put(Buffer.from('nobody names this yet'));
    await fixture.result('disposeSession', { channel: fixture.uri });
    await fixture.host.stop();
    const client = await restart(fixture);
    await expect.poll(async () => (await filesIn(fixture.dataFolder)).length).toBe(2);
    await client.request('atrium/restoreSession', { channel: fixture.uri });
    const state = await client.state<SessionState>(fixture.uri);
    const [call] = callsIn(state.turns[0]?.responseParts);
    const named = call?.status === 'completed' ? (call.content?.[1] as Named) : undefined;
    const read = await client.request<{ data: string }>('resourceRead', { channel: ROOT, uri: named?.uri });
    expect(read.data).toBe(LONG);
    expect(await blobs.has(fresh)).toBe(true);
  });

  it('stay for a fork when the session they came from is gone', async () => {
    const fixture = await openKeptFixture({ content: [{ type: 'text', text: LONG }] });
    await use(fixture);
    const fork = `ahp-session:/${crypto.randomUUID()}`;
    const workingDirectory = pathToFileURL(fixture.folder).href;
    await fixture.client.session(fork, { workingDirectory, fork: { session: fixture.uri, turnId: 't0' } });
    await fixture.host.stop();
    await fixture.log.forget(fixture.uri);
    await makeOld(fixture.dataFolder);
    const client = await restart(fixture);
    await client.request('listSessions', { channel: ROOT });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await filesIn(fixture.dataFolder)).toHaveLength(1);
  });
});

describe('a content that comes with an imported session', () => {
  const METHOD = 'atrium/keepContent';
  const piece = (bytes: Buffer, more: object = {}) => {
    const uri = `atrium-content:/${createHash('sha256').update(bytes).digest('hex')}`;
    return { channel: ROOT, uri, at: 0, text: bytes.toString('base64'), isLast: true, ...more };
  };

  it('is kept under its name, in one piece or in several', async () => {
    const fixture = await openKeptFixture({});
    const params = piece(PNG);
    const [first, second] = [params.text.slice(0, 30_000), params.text.slice(30_000)];
    await fixture.client.request(METHOD, { ...params, text: first, isLast: false });
    await fixture.client.request(METHOD, { ...params, text: second, at: 30_000 });
    const { data } = await fixture.client.request<{ data: string }>('resourceRead', { channel: ROOT, uri: params.uri });
    expect(Buffer.from(data, 'base64').equals(PNG)).toBe(true);
  });

  it.each([
    ['another name than its own', piece(PNG, { text: LONG_BASE64 }), 'not the hash'],
    ['no name of a content', piece(PNG, { uri: 'file:///etc/passwd' }), '/uri must be'],
    ['a name with a way out', piece(PNG, { uri: 'atrium-content:/../../escape' }), '/uri must be'],
    ['a piece without the one before', piece(PNG, { at: 10 }), 'must follow'],
    ['nothing to read', piece(PNG, { text: undefined }), '/text'],
  ])('is refused with %s, and nothing is left', async (_what, params, reason) => {
    const fixture = await openKeptFixture({});
    const { error } = await fixture.client.ask(METHOD, params);
    expect(error).toMatchObject({ code: ErrorCode.InvalidParams, message: expect.stringContaining(reason) });
    expect(await filesIn(fixture.dataFolder)).toEqual([]);
  });

  it('is refused by a host that keeps none', async () => {
    const fixture = await openKeptFixture({}, false);
    const { error } = await fixture.client.ask(METHOD, piece(PNG));
    expect(error?.message).toContain('no folder for large contents');
  });
});

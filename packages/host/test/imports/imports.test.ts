/** Sessions of other programs. The files have the shapes that Claude Code 2.1, Codex 0.169 and opencode 1.18 write. */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { defaultChatUri } from '@atrium/protocol/ahp-1';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { loadDriver } from '../../src/log-sqlite/driver.js';
import { KeptLog } from '../support/logs.js';
import { nativeClient } from '../support/native-client.js';
import { startHost } from '../support/session-fixture.js';
import type { RawClient } from '../support/test-host.js';

interface Found {
  readonly program: string;
  readonly id: string;
  readonly title: string;
  readonly folder?: string;
  readonly session?: string;
}
interface Part {
  readonly kind: string;
  readonly content?: string;
  readonly toolCall?: { status: string; success?: boolean; toolName: string; toolInput: string; content?: unknown };
}
interface Turn {
  readonly id: string;
  readonly message: { readonly text: string; readonly attachments?: readonly object[] };
  readonly responseParts: readonly Part[];
  readonly state: string;
  readonly startedAt?: string;
  readonly duration?: number;
  readonly usage?: object;
}

let home: string;
beforeEach(async () => {
  home = await mkdtemp(path.join(os.tmpdir(), 'atrium-imports-'));
  vi.stubEnv('CLAUDE_CONFIG_DIR', path.join(home, 'claude'));
  vi.stubEnv('CODEX_HOME', path.join(home, 'codex'));
  vi.stubEnv('XDG_DATA_HOME', path.join(home, 'data'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(home, { recursive: true, force: true });
});

async function put(name: string, lines: readonly unknown[]): Promise<void> {
  const file = path.join(home, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'));
}

/** Every file of the other programs with a hash of its bytes. */
async function untouched(): Promise<string[]> {
  const entries = await readdir(home, { recursive: true, withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile() && isLasting(entry.name));
  const hashes = names.map(async ({ parentPath, name }) => {
    const file = path.join(parentPath, name);
    return `${file} ${createHash('sha1')
      .update(await readFile(file))
      .digest('hex')}`;
  });
  return (await Promise.all(hashes)).sort();
}

/** The driver that wrote a database closes it late, and takes its own two files along then. */
const isLasting = (name: string) => !/-(?:wal|shm)$/.test(name);

const find = async (client: RawClient, params: object = {}) =>
  (await client.request<{ items: Found[] }>('atrium/findImports', params)).items;
const take = (client: RawClient, program: string, id: string) =>
  client.request<{ session: string; turns: number; unreadable: number }>('atrium/importFound', { program, id });
const turnsOf = async (client: RawClient, session: string) => {
  const channel = defaultChatUri(session);
  return (await client.request<{ turns: Turn[] }>('atrium/chatTurns', { channel, start: 0, end: 100 })).turns;
};

const CLAUDE_ID = 'f171cac9-3346-45de-988f-e78d25c93c37';
/** Claude Code repeats it with every part of an answer. */
const CLAUDE_USED = {
  input_tokens: 3,
  cache_read_input_tokens: 100,
  cache_creation_input_tokens: 20,
  output_tokens: 7,
};

function claudeLines(): unknown[] {
  const at = (second: number) => ({
    timestamp: `2026-03-01T10:00:0${second}.000Z`,
    cwd: '/srv/app',
    isSidechain: false,
  });
  const answer = (uuid: string, parentUuid: string, id: string, content: unknown[]) => ({
    ...{
      type: 'assistant',
      uuid,
      parentUuid,
      ...at(2),
      message: { id, model: 'opus', role: 'assistant', content, usage: CLAUDE_USED },
    },
  });
  const user = (uuid: string, parentUuid: string | null, content: unknown, more: object = {}) => ({
    ...{ type: 'user', uuid, parentUuid, ...at(1), message: { role: 'user', content }, ...more },
  });
  return [
    { type: 'queue-operation', operation: 'enqueue', ...at(0), content: 'first question' },
    user('u0', null, '<command-name>/model</command-name><command-args>opus</command-args>'),
    user('u1', 'u0', [
      { type: 'text', text: 'first question' },
      { type: 'image', source: {} },
    ]),
    { ...answer('side', 'u1', 'm9', [{ type: 'text', text: 'of a sub-agent' }]), isSidechain: true },
    answer('a1', 'u1', 'm1', [{ type: 'thinking', thinking: 'Hm.' }]),
    answer('a2', 'a1', 'm1', [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'make' } }]),
    answer('a3', 'a1', 'm1', [{ type: 'tool_use', id: 't2', name: 'Read', input: { file_path: '/srv/app/x' } }]),
    user('r1', 'a2', [{ type: 'tool_result', tool_use_id: 't1', content: 'made', is_error: false }]),
    user('r2', 'a3', [
      { type: 'tool_result', tool_use_id: 't2', content: [{ type: 'text', text: 'gone' }], is_error: true },
    ]),
    '{"type":"assistant","uuid":"half a li',
    // A branch that the person has left by going back: it is not a part of the conversation.
    user('left', 'r2', 'a question that was taken back'),
    answer('a4', 'r2', 'm2', [{ type: 'text', text: 'All done.' }]),
    user('u2', 'a4', 'second', { ...at(5) }),
    answer('a5', 'u2', 'm3', [{ type: 'tool_use', id: 't3', name: 'Bash', input: { command: 'sleep 9' } }]),
    user('i1', 'a5', [{ type: 'text', text: '[Request interrupted by user for tool use]' }]),
    { type: 'custom-title', customTitle: 'My own title', sessionId: CLAUDE_ID },
  ];
}

async function putCodex(id: string): Promise<void> {
  const item = (payload: object, second: number) => ({
    ...{ timestamp: `2026-03-01T10:00:0${second}.000Z`, type: 'response_item', payload },
  });
  const said = (role: string, text: string, second: number) =>
    item({ type: 'message', role, content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }] }, second);
  await put(`codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-${id}.jsonl`, [
    { timestamp: '2026-03-01T10:00:00.000Z', type: 'session_meta', payload: { id, cwd: '/srv/codex' } },
    said('developer', 'be good', 1),
    said('user', '<environment_context>\n <cwd>/srv/codex</cwd>\n</environment_context>', 1),
    said('user', 'count the files', 2),
    item({ type: 'reasoning', summary: [{ type: 'summary_text', text: 'ls it is' }] }, 3),
    item({ type: 'function_call', name: 'exec_command', arguments: '{"cmd":"ls"}', call_id: 'c1' }, 4),
    item({ type: 'function_call_output', call_id: 'c1', output: 'Process exited with code 2\nOutput:\nno' }, 5),
    { timestamp: '2026-03-01T10:00:06.000Z', type: 'compacted', payload: { message: 'short' } },
    said('assistant', 'None.', 7),
  ]);
}

async function putOpencode(id: string): Promise<void> {
  const file = path.join(home, 'data', 'opencode', 'opencode.db');
  await mkdir(path.dirname(file), { recursive: true });
  const db = (await loadDriver()).open(file);
  db.exec(`PRAGMA journal_mode=WAL;
    CREATE TABLE session (id text PRIMARY KEY, parent_id text, title text, directory text, time_created integer, time_updated integer);
    CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, data text);
    CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, data text)`);
  const [session, message, part] = [
    db.prepare('INSERT INTO session VALUES (?, ?, ?, ?, ?, ?)'),
    db.prepare('INSERT INTO message VALUES (?, ?, ?, ?)'),
    db.prepare('INSERT INTO part VALUES (?, ?, ?, ?)'),
  ];
  session.run(id, null, 'A title of opencode', '/srv/open', 1_700_000_000_000, 1_700_000_009_000);
  session.run('ses_child', id, 'of a sub-agent', '/srv/open', 1_700_000_000_000, 1_700_000_009_000);
  const user = { role: 'user', time: { created: 1_700_000_001_000 } };
  message.run('msg_1', id, 1_700_000_001_000, JSON.stringify(user));
  message.run(
    'msg_2',
    id,
    1_700_000_002_000,
    JSON.stringify({ role: 'assistant', time: { created: 1_700_000_002_000 } }),
  );
  const parts: [string, unknown][] = [
    ['msg_1', { type: 'text', text: 'run it' }],
    ['msg_1', { type: 'text', synthetic: true, text: 'said by the machine' }],
    ['msg_2', { type: 'step-start' }],
    ['msg_2', 'broken'],
    [
      'msg_2',
      {
        type: 'tool',
        tool: 'bash',
        callID: 'c1',
        state: { status: 'completed', input: { command: 'x' }, output: 'y', title: 'x' },
      },
    ],
    ['msg_2', { type: 'text', text: 'Ran.' }],
  ];
  for (const [index, [of, data]] of parts.entries())
    part.run(`prt_${index}`, of, id, data === 'broken' ? '{' : JSON.stringify(data));
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
}

/** A picture of 3 × 2 pixels, as far as its head says, with some bytes behind it. */
function png(rest: number): Buffer {
  const head = Buffer.from('\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x03\0\0\0\x02\x08\x02\0\0\0', 'latin1');
  return Buffer.concat([head, Buffer.alloc(rest, 7)]);
}

/** `[kind or tool, text or status]` of each part. */
const shape = ({ responseParts }: Turn) =>
  responseParts.map(({ kind, content, toolCall }) =>
    toolCall ? [toolCall.toolName, `${toolCall.status} ${toolCall.success ?? ''}`.trim()] : [kind, content],
  );

describe('[DAY-100] sessions of other programs', () => {
  it('finds those of Claude Code, and imports the conversation as it was left, without what was taken back', async () => {
    await put(`claude/projects/-srv-app/${CLAUDE_ID}.jsonl`, claudeLines());
    await put('claude/projects/-srv-app/agent-1234.jsonl', claudeLines());
    await put('claude/projects/-srv-app/00000000-0000-0000-0000-000000000000.jsonl', ['{"type":"mode"}', '']);
    const before = await untouched();
    const client = await nativeClient(await startHost(), 'importer');
    const found = await find(client);
    expect(found).toMatchObject([
      { program: 'claude', id: CLAUDE_ID, title: 'My own title', folder: 'file:///srv/app' },
    ]);
    const { session, turns, unreadable } = await take(client, 'claude', CLAUDE_ID);
    expect({ turns, unreadable }).toEqual({ turns: 3, unreadable: 1 });
    const [command, first, second] = await turnsOf(client, session);
    expect(command?.message.text).toBe('/model opus');
    expect(first?.message.text).toBe('first question\n[a picture that was not imported]');
    expect(first && shape(first)).toEqual([
      ['reasoning', 'Hm.'],
      ['Bash', 'completed true'],
      ['Read', 'completed false'],
      ['markdown', 'All done.'],
    ]);
    expect(first?.startedAt).toBe('2026-03-01T10:00:01.000Z');
    expect(first?.duration).toBe(1_000);
    // Two answers, each counted once.
    expect(first?.usage).toEqual({ inputTokens: 246, outputTokens: 14, cacheReadTokens: 200, model: 'opus' });
    expect(second).toMatchObject({ state: 'cancelled', message: { text: 'second' } });
    expect(second && shape(second)).toEqual([['Bash', 'cancelled']]);
    expect(await untouched()).toEqual(before);
  });

  it('finds those of Codex, and leaves out what the program said in the name of the person', async () => {
    const id = '01a1ec71-13d2-72f1-86de-8f1f6ecf9c06';
    await putCodex(id);
    const client = await nativeClient(await startHost(), 'importer');
    expect(await find(client)).toMatchObject([{ program: 'codex', id, title: 'count the files' }]);
    const [turn, ...more] = await turnsOf(client, (await take(client, 'codex', id)).session);
    expect(more).toEqual([]);
    expect(turn?.message.text).toBe('count the files');
    expect(turn && shape(turn)).toEqual([
      ['reasoning', 'ls it is'],
      ['exec_command', 'completed false'],
      ['systemNotification', 'The conversation was summarised here:\n\nshort'],
      ['markdown', 'None.'],
    ]);
  });

  it('finds those of opencode in its database and in the files of older versions, and opens neither', async () => {
    await putOpencode('ses_new');
    const old = 'data/opencode/storage';
    const time = { created: 1_600_000_000_000, updated: 1_600_000_001_000 };
    await put(`${old}/session/p1/ses_old.json`, [{ id: 'ses_old', title: 'Old', directory: '/srv/old', time }]);
    await put(`${old}/message/ses_old/msg_1.json`, [{ id: 'msg_1', role: 'user', time }]);
    await put(`${old}/part/msg_1/prt_1.json`, [{ type: 'text', text: 'an old question' }]);
    await put(`${old}/message/ses_old/msg_2.json`, ['{']);
    const before = await untouched();
    const client = await nativeClient(await startHost(), 'importer');
    expect(await find(client)).toMatchObject([
      { program: 'opencode', id: 'ses_new', title: 'A title of opencode' },
      { program: 'opencode', id: 'ses_old', title: 'Old' },
    ]);
    const { session, unreadable } = await take(client, 'opencode', 'ses_new');
    expect(unreadable).toBe(1);
    const [turn] = await turnsOf(client, session);
    expect(turn?.message.text).toBe('run it');
    expect(turn && shape(turn)).toEqual([
      ['bash', 'completed true'],
      ['markdown', 'Ran.'],
    ]);
    const older = await take(client, 'opencode', 'ses_old');
    expect(older).toMatchObject({ turns: 1, unreadable: 1 });
    expect((await turnsOf(client, older.session))[0]?.message.text).toBe('an old question');
    expect(await untouched()).toEqual(before);
  });

  it('marks the program, skips what is here, also after a restart, and goes on with the session', async () => {
    await put(`claude/projects/-srv-app/${CLAUDE_ID}.jsonl`, claudeLines());
    const log = new KeptLog();
    const host = await startHost({ log });
    const client = await nativeClient(host, 'importer');
    const { session } = await take(client, 'claude', CLAUDE_ID);
    const listed = await client.request<{ items: { resource: string; _meta?: object }[] }>('listSessions', {
      channel: 'ahp-root://',
    });
    expect(listed.items.find(({ resource }) => resource === session)?._meta).toMatchObject({
      'atrium/importedFrom': { program: 'claude', name: 'Claude Code', id: CLAUDE_ID },
    });
    await host.stop();
    const later = await nativeClient(await startHost({ log }), 'importer');
    expect(await find(later, { program: 'claude' })).toMatchObject([{ id: CLAUDE_ID, session }]);
    const again = await later.ask('atrium/importFound', { program: 'claude', id: CLAUDE_ID });
    expect(again.error?.message).toContain('was imported before');
    expect(await turnsOf(later, session)).toHaveLength(3);
  });

  it('imports pictures of messages and results once, by their bytes, and names what is none', async () => {
    const small = png(20);
    const large = png(100_000);
    const base64 = (bytes: Buffer) => bytes.toString('base64');
    const image = (bytes: Buffer) => ({
      ...{ type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: base64(bytes) } },
    });
    const at = { timestamp: '2026-03-01T10:00:01.000Z', cwd: '/srv/app', isSidechain: false };
    const user = (uuid: string, parentUuid: string | null, content: unknown[]) => ({
      ...{ type: 'user', uuid, parentUuid, ...at, message: { role: 'user', content } },
    });
    await put(`claude/projects/-srv-app/${CLAUDE_ID}.jsonl`, [
      user('u1', null, [{ type: 'text', text: 'look' }, image(small), image(large), image(Buffer.from('no picture'))]),
      {
        ...{ type: 'assistant', uuid: 'a1', parentUuid: 'u1', ...at },
        message: { id: 'm1', role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'Read', input: {} }] },
      },
      user('r1', 'a1', [{ type: 'tool_result', tool_use_id: 't1', content: [image(large)] }]),
      user('u2', 'r1', [image(small)]),
    ]);
    const codexId = '01a1ec71-13d2-72f1-86de-8f1f6ecf9c06';
    const image_url = `data:image/png;base64,${base64(large)}`;
    const said = { type: 'message', role: 'user', content: [{ type: 'input_image', image_url }] };
    await put(`codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-${codexId}.jsonl`, [
      { timestamp: at.timestamp, type: 'response_item', payload: said },
    ]);
    const old = 'data/opencode/storage';
    const time = { created: 1_600_000_000_000, updated: 1_600_000_001_000 };
    await put(`${old}/session/p1/ses_old.json`, [{ id: 'ses_old', title: 'Old', directory: '/srv/old', time }]);
    await put(`${old}/message/ses_old/msg_1.json`, [{ id: 'msg_1', role: 'user', time }]);
    const file = { type: 'file', mime: 'image/png', filename: 'shot.png', url: image_url };
    await put(`${old}/part/msg_1/prt_1.json`, [file]);
    await put(`${old}/part/msg_1/prt_2.json`, [
      { type: 'file', mime: 'text/plain', filename: 'a.txt', url: 'file:///a' },
    ]);

    const dataFolder = path.join(home, 'host');
    const client = await nativeClient(await startHost({ dataFolder }), 'importer');
    const hash = createHash('sha256').update(large).digest('hex');
    const stored = {
      type: 'resource',
      uri: `atrium-content:/${hash}`,
      contentType: 'image/png',
      sizeHint: large.length,
    };
    const [first, second] = await turnsOf(client, (await take(client, 'claude', CLAUDE_ID)).session);
    expect(first?.message.text).toBe('look\n[a picture that was not imported]');
    expect(first?.message.attachments).toMatchObject([
      { type: 'embeddedResource', contentType: 'image/png', data: base64(small), label: 'picture-1.png' },
      { ...stored, label: 'picture-2.png', _meta: { 'atrium.picture': { width: 3, height: 2 } } },
    ]);
    expect(first?.responseParts[0]?.toolCall?.content).toMatchObject([stored]);
    expect(second?.message).toMatchObject({ text: '', attachments: [{ data: base64(small) }] });
    const [ofCodex] = await turnsOf(client, (await take(client, 'codex', codexId)).session);
    expect(ofCodex?.message).toMatchObject({ text: '', attachments: [stored] });
    const [ofOpencode] = await turnsOf(client, (await take(client, 'opencode', 'ses_old')).session);
    expect(ofOpencode?.message).toMatchObject({
      ...{ text: '[attached: a.txt]', attachments: [{ ...stored, label: 'shot.png' }] },
    });
    const contents = await readdir(path.join(dataFolder, 'content'), { recursive: true, withFileTypes: true });
    expect(contents.filter((entry) => entry.isFile())).toHaveLength(1);
  });

  it('folds what a sub-agent did below its call: of Claude Code from the same file or its own, of opencode from its session', async () => {
    const at = { timestamp: '2026-03-01T10:00:01.000Z', cwd: '/srv/app', isSidechain: false };
    const line = (
      type: 'user' | 'assistant',
      uuid: string,
      parentUuid: string | null,
      content: unknown,
      more = {},
    ) => ({
      ...{ type, uuid, parentUuid, ...at, message: { id: `m-${uuid}`, role: type, content }, ...more },
    });
    const task = (id: string, prompt: string) => ({ type: 'tool_use', id, name: 'Task', input: { prompt } });
    const side = { isSidechain: true, sessionId: CLAUDE_ID, agentId: 'ab12' };
    const ran = { type: 'tool_use', id: 's1', name: 'Bash', input: { command: 'ls' } };
    await put(`claude/projects/-srv-app/${CLAUDE_ID}.jsonl`, [
      line('user', 'u1', null, 'delegate'),
      line('assistant', 'a1', 'u1', [task('t1', 'count the files'), task('t2', 'in its own file')]),
      line('user', 's-u', null, 'count the files', { isSidechain: true }),
      line('assistant', 's-a', 's-u', [{ type: 'text', text: 'I look.' }, ran], { isSidechain: true }),
      line('user', 's-r', 's-a', [{ type: 'tool_result', tool_use_id: 's1', content: 'x', is_error: true }], {
        isSidechain: true,
      }),
      line('user', 'r1', 'a1', [{ type: 'tool_result', tool_use_id: 't1', content: 'three' }]),
      line('user', 'r2', 'r1', [{ type: 'tool_result', tool_use_id: 't2', content: 'done' }], {
        toolUseResult: { agentId: 'ab12' },
      }),
      line('assistant', 'a2', 'r2', [{ type: 'text', text: 'Three.' }]),
    ]);
    const own = (sessionId: string, text: string) => [
      line('user', 'o-u', null, 'in its own file', { ...side, sessionId }),
      line('assistant', 'o-a', 'o-u', [{ type: 'text', text }], { ...side, sessionId }),
    ];
    await put('claude/projects/-srv-app/agent-ab12.jsonl', own(CLAUDE_ID, 'From my own file.'));
    await put('claude/projects/-srv-app/agent-cd34.jsonl', own('another', 'Of another session.'));
    await putOpencode('ses_new');
    const file = path.join(home, 'data', 'opencode', 'opencode.db');
    const db = (await loadDriver()).open(file);
    const said = JSON.stringify({ role: 'assistant', time: { created: 1_700_000_003_000 } });
    db.prepare('INSERT INTO message VALUES (?, ?, ?, ?)').run('msg_c', 'ses_child', 1_700_000_003_000, said);
    const part = db.prepare('INSERT INTO part VALUES (?, ?, ?, ?)');
    part.run('prt_c', 'msg_c', 'ses_child', JSON.stringify({ type: 'text', text: 'The child speaks.' }));
    const state = { status: 'completed', input: {}, output: 'ok', metadata: { sessionId: 'ses_child' } };
    part.run('prt_90', 'msg_2', 'ses_new', JSON.stringify({ type: 'tool', tool: 'task', callID: 'c9', state }));
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    db.close();

    const client = await nativeClient(await startHost(), 'importer');
    const [turn, ...more] = await turnsOf(client, (await take(client, 'claude', CLAUDE_ID)).session);
    expect(more).toEqual([]);
    expect(turn && shape(turn)).toEqual([
      ['Task', 'completed true'],
      ['reasoning', 'What the sub-agent did:\n\nI look.\n\n- Bash: ls (failed)'],
      ['Task', 'completed true'],
      ['reasoning', 'What the sub-agent did:\n\nFrom my own file.'],
      ['markdown', 'Three.'],
    ]);
    expect(await find(client, { program: 'opencode' })).toHaveLength(1);
    const [ofOpencode] = await turnsOf(client, (await take(client, 'opencode', 'ses_new')).session);
    expect(ofOpencode && shape(ofOpencode)).toContainEqual([
      ...['reasoning', 'What the sub-agent did:\n\nThe child speaks.'],
    ]);
  });

  it('names no file by an id that leads elsewhere, and says which programs it knows', async () => {
    await put('secret.jsonl', claudeLines());
    const client = await nativeClient(await startHost(), 'importer');
    for (const id of ['../../secret', '..', '', 7, `${CLAUDE_ID}/../x`])
      for (const program of ['claude', 'codex', 'opencode'])
        expect((await client.ask('atrium/importFound', { program, id })).error?.message).toContain(
          'there is no session',
        );
    expect((await client.ask('atrium/findImports', { program: 'vim' })).error?.message).toContain(
      'claude, codex, opencode',
    );
    expect(await find(client)).toEqual([]);
  });
});

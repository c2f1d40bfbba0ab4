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
  readonly message: { readonly text: string };
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
  const names = (await readdir(home, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
  const hashes = names.map(async ({ parentPath, name }) => {
    const file = path.join(parentPath, name);
    return `${file} ${createHash('sha1')
      .update(await readFile(file))
      .digest('hex')}`;
  });
  return (await Promise.all(hashes)).sort();
}

const isLasting = (file: string) => !/-(?:wal|shm) /.test(file);

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
  db.close();
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
    // The driver that wrote the database closes it late, and takes its own two files along then.
    const after = await untouched();
    expect(after.filter(isLasting)).toEqual(before.filter(isLasting));
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

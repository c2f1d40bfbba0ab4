/** Sessions that work in several folders: what tools, clients and chats may touch, and how that changes. */
import { execFileSync } from 'node:child_process';
import { readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { SESSION_FOLDERS_MAX } from '@atrium/core/sessions/limits.js';
import type { ChatState, SessionState } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { builtinTools } from '../../src/workspace/tools/builtin.js';
import { chatState, nativeClient, nativeSession, sessionState, userMessage } from '../support/native-client.js';
import { PuppetAgent } from '../support/puppet-agent.js';
import { refusalOf, startHost } from '../support/session-fixture.js';
import { tempFolder } from '../support/temp-folder.js';
import type { RawClient } from '../support/test-host.js';

const SEVERAL = { capabilities: { multipleWorkingDirectories: { immutablePrimary: true } } };

async function openScene(info: object = SEVERAL, count = 2) {
  const agent = new PuppetAgent('puppet', info);
  const host = await startHost({ agents: [agent], tools: builtinTools() });
  const client = await nativeClient(host, 'desk');
  const folders = await Promise.all(
    ['one', 'two', 'three'].map(async (name) => realpath(await tempFolder({ [`${name}.txt`]: `the word is ${name}` }))),
  );
  const uris = folders.map((folder) => pathToFileURL(folder).href);
  const config = { autoApprove: true };
  const params = { provider: 'puppet', config, workingDirectories: uris.slice(0, count) };
  const session = await nativeSession(client, params);
  let turns = 0;
  const turn = async () => {
    const turnId = `t${turns}`;
    client.dispatch(session.chat, { type: 'chat/turnStarted', turnId, message: userMessage('go') } as { type: string });
    return agent.turn(turns++);
  };
  const [one = '', two = '', three = ''] = folders;
  return { agent, host, client, ...session, turn, folders: { one, two, three }, uris };
}

type Turn = Awaited<ReturnType<PuppetAgent['turn']>>;

async function call({ turn }: Turn, name: string, input: object): Promise<string> {
  const outcome = await turn.callTool({ name, input });
  return outcome.kind === 'completed' ? outcome.text : outcome.reason;
}

const set = (directory: string | undefined) => ({ type: 'session/workingDirectorySet', directory }) as never;
const removed = (directory: string | undefined) => ({ type: 'session/workingDirectoryRemoved', directory }) as never;
const read = (client: RawClient, folder: string, name: string) =>
  client.ask('resourceRead', { channel: 'ahp-root://', uri: pathToFileURL(path.join(folder, name)).href });

describe('a session with several folders', { timeout: 30_000 }, () => {
  it('[UP-036] [UP-063] is made for an agent that works in several, and of the first alone for any other', async () => {
    const { client, uri, uris, host } = await openScene();
    expect((await sessionState(client, uri)).workingDirectories).toEqual(uris.slice(0, 2));
    const older = await host.client('older', { protocolVersions: ['0.6.0'] });
    expect(await older.state<object>(uri)).toMatchObject({ workingDirectory: uris[0] });
    const { items } = await client.request<{ items: SessionState[] }>('listSessions', { channel: 'ahp-root://' });
    expect(items[0]?.workingDirectories).toEqual(uris.slice(0, 2));
    const single = await openScene({});
    expect((await sessionState(single.client, single.uri)).workingDirectories).toEqual([single.uris[0]]);
    expect(await refusalOf(single.client, single.uri, set(single.uris[1]))).toContain('works in one folder');
  });

  it('[UP-036] is not made in a folder that is not there, nor in too many', async () => {
    const { client, uris } = await openScene();
    const create = (workingDirectories: readonly string[]) =>
      client.ask('createSession', {
        channel: `ahp-session:/${crypto.randomUUID()}`,
        provider: 'puppet',
        workingDirectories,
      });
    expect((await create([uris[0] ?? '', `${uris[1]}/gone`])).error?.code).toBe(-32602);
    const many = Array.from({ length: SESSION_FOLDERS_MAX + 1 }, (_, index) => `${uris[0]}/${index}`);
    expect((await create(many)).error?.message).toContain(`${SESSION_FOLDERS_MAX} at most`);
  });

  it('[UP-063] has tools that work in all of them, and nowhere else', async () => {
    const { folders, turn } = await openScene();
    const running = await turn();
    const other = path.join(folders.two, 'two.txt');
    expect(await call(running, 'read_file', { path: 'one.txt' })).toContain('the word is one');
    expect(await call(running, 'read_file', { path: other })).toContain('the word is two');
    expect(await call(running, 'read_file', { path: path.join(folders.three, 'three.txt') })).toContain('outside');
    expect(await call(running, 'find_files', { pattern: '*.txt' })).toBe(`one.txt\n${other}`);
    expect(await call(running, 'search_files', { text: 'the word' })).toContain(`${other}:1: the word is two`);
    expect(await call(running, 'list_files', { path: folders.two })).toContain('two.txt');
    await call(running, 'write_file', { path: path.join(folders.two, 'new.txt'), content: 'made' });
    expect(await readFile(path.join(folders.two, 'new.txt'), 'utf8')).toBe('made');
    await call(running, 'edit_file', { path: other, oldText: 'two', newText: '2' });
    expect(await readFile(other, 'utf8')).toBe('the word is 2');
    execFileSync('git', ['init', '-q', '-b', 'main', folders.two]);
    const status = await call(running, 'git_status', {});
    expect(status).toContain(`${folders.one}:\nNot in a git repository.`);
    expect(status).toContain(`${folders.two}:\n## No commits yet on main`);
  });

  it('[UP-097] [UP-098] [UP-161] gains a folder and loses it, for tools and clients alike, and keeps the first', async () => {
    const { client, uri, uris, folders, turn } = await openScene();
    const running = await turn();
    const file = path.join(folders.three, 'three.txt');
    expect((await read(client, folders.three, 'three.txt')).error?.code).toBe(-32009);
    expect(await refusalOf(client, uri, set(uris[2]))).toBeUndefined();
    expect(await call(running, 'read_file', { path: file })).toContain('the word is three');
    expect((await read(client, folders.three, 'three.txt')).result).toMatchObject({ data: 'the word is three' });
    expect(await refusalOf(client, uri, removed(uris[2]))).toBeUndefined();
    expect(await call(running, 'read_file', { path: file })).toContain('outside');
    expect((await read(client, folders.three, 'three.txt')).error?.code).toBe(-32009);
    expect(await refusalOf(client, uri, removed(uris[0]))).toContain('cannot be removed');
    for (const wrong of ['https://example.org/', 'ahp-session:/x', `file:///${'x'.repeat(5_000)}`])
      expect(await refusalOf(client, uri, set(wrong))).toMatch(/not a folder of this machine|characters/);
  });

  it('[UP-099] [UP-161] replaces a further folder, and not the first', async () => {
    const { client, uri, uris } = await openScene();
    const replaced = (directory: string | undefined, replacement: string | undefined) =>
      ({ type: 'session/workingDirectoryReplaced', directory, replacement }) as never;
    expect(await refusalOf(client, uri, replaced(uris[0], uris[2]))).toContain('cannot be replaced');
    expect(await refusalOf(client, uri, replaced(uris[1], uris[2]))).toBeUndefined();
    expect((await sessionState(client, uri)).workingDirectories).toEqual([uris[0], uris[2]]);
  });

  it('[UP-137] [UP-160] has chats whose turns work in the folders that they chose', async () => {
    const { client, uri, chat, uris, folders, turn } = await openScene(SEVERAL, 3);
    const choose = (directory: string | undefined) => ({ type: 'chat/workingDirectorySet', directory }) as never;
    expect(await refusalOf(client, chat, choose('file:///elsewhere'))).toContain('not a folder of this session');
    expect(await refusalOf(client, chat, choose(uris[1]))).toBeUndefined();
    expect(await refusalOf(client, chat, choose(uris[2]))).toBeUndefined();
    const running = await turn();
    expect(running.turn.workingDirectories).toEqual([folders.two, folders.three]);
    expect(await call(running, 'read_file', { path: 'two.txt' })).toContain('the word is two');
    expect(await call(running, 'read_file', { path: path.join(folders.one, 'one.txt') })).toContain('outside');
    expect(await refusalOf(client, uri, removed(uris[2]))).toBeUndefined();
    expect((await chatState(client, chat)).workingDirectories).toEqual([uris[1]]);
    const listed: ChatState['workingDirectories'] = (await sessionState(client, uri)).chats[0]?.workingDirectories;
    expect(listed).toEqual([uris[1]]);
  });

  it('[UP-048] completes the names of files in all of them', async () => {
    const { client, chat, folders } = await openScene();
    const { items } = await client.request<{ items: { insertText: string }[] }>('completions', {
      ...{ channel: chat, kind: 'userMessage', text: '@two', offset: 4 },
    });
    expect(items[0]?.insertText).toBe(`@${path.basename(folders.two)}/two.txt `);
  });
});

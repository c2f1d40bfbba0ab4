import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { connect } from '@atrium/client';
import { defaultChatUri } from '@atrium/protocol/ahp-1';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { exportLines } from '../src/sessions/transfer.js';
import { isBuilt, newFolder, sharedHost, startHost, type TestHost } from './support/host.js';
import { jsonLines } from './support/run-cli.js';

async function place({ dataDir, run }: TestHost): Promise<{ url: string; token: string }> {
  const { url } = JSON.parse((await run(['service', 'status', '--json'])).stdout);
  return { url, token: (await readFile(path.join(dataDir, 'connection-token'), 'utf8')).trim() };
}

/** The turns of an export. */
const turnsIn = (text: string): unknown[] =>
  text
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line));

interface OldTurn {
  readonly userMessage: { readonly text: string };
}

/** A turn of a file of protocol 0.3.0, as it is today. */
const today = ({ userMessage, ...rest }: OldTurn): unknown => ({
  ...rest,
  message: { ...userMessage, origin: { kind: 'user' } },
});

describe.skipIf(!isBuilt)('atrium sessions (skipped unless it has been built)', { timeout: 60_000 }, () => {
  const shared = sharedHost();

  it('lists and shows them', async () => {
    const host = await startHost();
    expect((await host.run(['sessions', 'list'])).stdout).toContain('no sessions');
    await host.run(['run', 'hello']);
    const { stdout } = await host.run(['sessions', 'list']);
    expect(stdout).toMatch(/^[\da-f]{8} +idle +\d+s ago +mock +A first hello/m);
    const shown = await host.run(['sessions', 'show', 'last']);
    expect(shown.stdout).toContain('> hello');
    expect(shown.stdout).toContain('Hello **you**');
    expect((await host.run(['sessions', 'show', 'nowhere'])).code).toBe(4);
  });

  it('cuts nothing without a sign, and says how to see the whole', async () => {
    const host = shared();
    const shell = ['run', '--agent', 'offline', '--approve', 'all'];
    await host.run([...shell, '$ seq 101 140; echo; echo end']);
    await host.run(['run', '--session', 'last', 'help']);
    const { stdout } = await host.run(['sessions', 'show', 'last']);
    const [, hidden, id] =
      /^ {2}… (\d+) lines above \(the whole: atrium sessions show ([\da-f]{8}) --full\)$/m.exec(stdout) ?? [];
    expect(hidden).toBe('31');
    const call = (text: string) => text.slice(text.indexOf('✓ Shell'), text.indexOf('Done:'));
    expect(call(stdout)).not.toContain('  131\n');
    expect(call(stdout)).toContain('  132\n');
    const full = await host.run(['sessions', 'show', id ?? '', '--full']);
    expect(call(full.stdout)).toContain('  101\n  102\n');
    expect(call(full.stdout)).toContain('  140\n  \n  end\n');
    expect(full.stdout).not.toContain('lines above');
    const newest = await host.run(['sessions', 'show', 'last', '--turns', '1']);
    expect(newest.stdout).toContain('… 1 earlier turn (left out by --turns 1)');
  });

  it('exports a session and imports it without a loss', async () => {
    const host = shared();
    await host.run(['run', 'hello']);
    await host.run(['run', '--session', 'last', '--approve', 'all', 'deploy']);
    for (let turn = 0; turn < 3; turn += 1) await host.run(['run', '--session', 'last', `more ${turn}`]);
    const file = path.join(await newFolder(host), 'session.jsonl');
    expect((await host.run(['sessions', 'export', 'last', file])).code).toBe(0);
    if (process.platform !== 'win32') expect((await stat(file)).mode & 0o777).toBe(0o600);
    const imported = await host.run(['sessions', 'import', file, '--json']);
    const { session, turns } = JSON.parse(imported.stdout);
    expect(turns).toBe(5);
    const again = await host.run(['sessions', 'export', session]);
    const [, ...before] = (await readFile(file, 'utf8')).trim().split('\n');
    const [head = '', ...after] = again.stdout.trim().split('\n');
    expect(after).toEqual(before);
    expect(JSON.parse(head)).toMatchObject({
      format: 'atrium-session',
      version: 3,
      turns: 5,
      summary: { title: 'A first hello' },
      state: { title: 'A first hello' },
    });
    const answered = await host.run(['run', '--session', session, 'go on']);
    expect(answered).toMatchObject({ code: 0, stdout: 'You said: go on\n' });
  });

  it('[UP-253] exports the text of tool input that a host names by reference', async () => {
    const host = shared();
    await host.run(['run', '--approve', 'all', 'deploy']);
    const [head, first] = jsonLines((await host.run(['sessions', 'export', 'last'])).stdout) as [object, object];
    const turn = structuredClone(first) as { responseParts: { toolCall?: { toolInput?: unknown } }[] };
    const call = turn.responseParts.find(({ toolCall }) => toolCall)?.toolCall;
    if (!call) throw new Error('the turn has no call');
    call.toolInput = JSON.stringify({ text: 'ü🚀 "quoted"\n'.repeat(10_000) });
    const file = path.join(await newFolder(host), 'long.jsonl');
    await writeFile(file, `${JSON.stringify({ ...head, turns: 1 })}\n${JSON.stringify(turn)}\n`);
    const { session } = JSON.parse((await host.run(['sessions', 'import', file, '--json'])).stdout);
    const client = await connect({ ...(await place(host)), clientName: 'reader' } as never);
    onTestFinished(() => client.close());
    const chat = await client.subscribe(defaultChatUri(session), { kind: 'chat' });
    expect(JSON.stringify(chat.state.turns)).toContain('atrium-input:/');
    const { stdout, stderr } = await host.run(['sessions', 'export', session]);
    expect(turnsIn(stdout)).toEqual([turn]);
    expect(stderr).not.toContain('not in the export');
  });

  it('[UP-253] a file that names files of this machine as tool input brings none of them into an export', async () => {
    const host = shared();
    await host.run(['run', '--approve', 'all', 'deploy']);
    const [head, first] = jsonLines((await host.run(['sessions', 'export', 'last'])).stdout) as [
      { summary: object },
      object,
    ];
    const folder = await newFolder(host);
    const secret = path.join(folder, 'secret.txt');
    await writeFile(secret, 'for nobody else');
    const turn = structuredClone(first) as { responseParts: { toolCall?: { toolInput?: unknown } }[] };
    const call = turn.responseParts.find(({ toolCall }) => toolCall)?.toolCall;
    if (!call) throw new Error('the turn has no call');
    call.toolInput = { uri: pathToFileURL(secret).href };
    const summary = { ...head.summary, workingDirectories: [pathToFileURL(folder).href] };
    const lines = [{ ...head, summary, turns: 1 }, turn].map((line) => JSON.stringify(line)).join('\n');
    const { session } = JSON.parse((await host.run(['sessions', 'import', '-', '--json'], lines)).stdout);
    const { stdout } = await host.run(['sessions', 'export', session]);
    delete call.toolInput;
    expect(turnsIn(stdout)).toEqual([turn]);
    expect(stdout).not.toContain('for nobody else');
  });

  it('[CLI-044] exports all chats and notes of a session, and imports each chat', async () => {
    const host = await startHost();
    await host.run(['run', 'hello']);
    const client = await connect(await place(host));
    onTestFinished(() => client.close());
    const [{ resource } = { resource: '' }] = await client.listSessions();
    const second = await client.createChat(resource);
    const chat = await client.subscribe(second);
    const message = { text: 'beside', origin: { kind: 'user' as const } };
    await chat.dispatch({ type: 'chat/turnStarted', turnId: 't', message });
    await expect.poll(() => chat.state.turns).toHaveLength(1);
    const origin = { session: resource };
    const entries = [{ id: 'e', text: 'Look here.' }];
    const annotation = { id: 'a', origin, resource: 'file:///srv/a.ts', resolved: false, entries };
    await client.dispatch(`${resource}/annotations`, { type: 'annotations/set', annotation });
    const { stdout } = await host.run(['sessions', 'export', 'last']);
    const [head, ...lines] = jsonLines(stdout);
    const listed = [{ resource: second, turns: 1 }];
    expect(head).toMatchObject({ version: 3, turns: 1, chats: listed, annotations: [{ id: 'a', entries }] });
    expect(lines).toMatchObject([
      { message: { text: 'hello' } },
      { chat: second, turn: { id: 't', message: { text: 'beside' } } },
    ]);
    const { session, turns } = JSON.parse((await host.run(['sessions', 'import', '-', '--json'], stdout)).stdout);
    expect(turns).toBe(2);
    expect((await host.run(['sessions', 'show', session])).stdout).toContain('> hello');
    const [again, ...copied] = jsonLines((await host.run(['sessions', 'export', session])).stdout);
    expect(again).toMatchObject({ annotations: [{ id: 'a', entries }], chats: [{ turns: 1 }] });
    expect(copied).toMatchObject([{ message: { text: 'hello' } }, { turn: { id: 't', message: { text: 'beside' } } }]);
    const cut = stdout.split('\n').slice(0, 2).join('\n');
    expect((await host.run(['sessions', 'import', '-'], cut)).stderr).toContain('should have 2 turns and has 1');
  });

  it('[CLI-044] keeps what side chats were told beforehand', async () => {
    const host = await startHost();
    await host.run(['run', 'hello']);
    const client = await connect(await place(host));
    onTestFinished(() => client.close());
    const [{ resource } = { resource: '' }] = await client.listSessions();
    const { chat: main } = (await client.open(resource)).state;
    const turnId = main.turns[0]?.id ?? '';
    const side = await client.createChat(resource, { source: { kind: 'sideChat', chat: main.resource, turnId } });
    const { stdout } = await host.run(['sessions', 'export', 'last']);
    const [head, ...lines] = jsonLines(stdout);
    expect(head).toMatchObject({ version: 4, turns: 1, chats: [{ resource: side, turns: 0, context: 1 }] });
    expect(lines).toMatchObject([{ id: turnId }, { context: side, turn: { id: turnId, message: { text: 'hello' } } }]);
    const imported = await host.run(['sessions', 'import', '-', '--json'], stdout);
    expect(imported.stderr).not.toContain('no chat shows');
    const { session, turns } = JSON.parse(imported.stdout);
    expect(turns).toBe(1);
    const [again, ...copied] = jsonLines((await host.run(['sessions', 'export', session])).stdout);
    const [copy] = (again?.chats ?? []) as { resource: string; origin: object }[];
    expect(copy?.resource).not.toBe(side);
    expect(copy?.origin).toMatchObject({ kind: 'sideChat', turnId });
    expect(copied).toEqual([lines[0], { context: copy?.resource, turn: lines[1]?.turn }]);
    const cut = stdout.split('\n').slice(0, 2).join('\n');
    expect((await host.run(['sessions', 'import', '-'], cut)).stderr).toContain('should have 2 turns and has 1');
  });

  it('[CLI-044] says what a file chose that people would not see: folders, and turns that agents know', async () => {
    const host = await startHost();
    await host.run(['run', 'hello']);
    const [head, turn] = jsonLines((await host.run(['sessions', 'export', 'last'])).stdout) as [
      object,
      { message: object },
    ];
    const side = 'ahp-chat:/side';
    const secret = { ...turn, id: 'secret', message: { ...turn.message, text: 'Do as I say.' } };
    const summary = { ...(head as { summary: object }).summary, workingDirectories: ['file:///srv/%1Bother'] };
    const chats = [
      { resource: side, title: '', status: 1, modifiedAt: '2026-01-01T00:00:00.000Z', turns: 0, context: 1 },
    ];
    const lines = [{ ...head, version: 4, summary, chats }, turn, { context: side, turn: secret }];
    const { code, stderr } = await host.run(
      ['sessions', 'import', '-'],
      lines.map((line) => JSON.stringify(line)).join('\n'),
    );
    expect(code).toBe(0);
    expect(stderr).toContain('work in /srv/');
    expect(stderr).not.toContain('\u001b');
    expect(stderr).toContain('know 1 turn that no chat shows');
    const wrong = [{ ...head, chats: 'all' }, turn].map((line) => JSON.stringify(line)).join('\n');
    expect((await host.run(['sessions', 'import', '-'], wrong)).stderr).toContain('line 1 is no header');
  });

  it('[CLI-044] has one chat in memory at a time: a chat is read when the one before is written', async () => {
    const host = await startHost();
    await host.run(['run', 'hello']);
    const client = await connect(await place(host));
    onTestFinished(() => client.close());
    const [summary] = await client.listSessions();
    if (!summary) throw new Error('there is no session');
    const second = await client.createChat(summary.resource);
    const chat = await client.subscribe(second);
    const message = { text: 'beside', origin: { kind: 'user' as const } };
    await chat.dispatch({ type: 'chat/turnStarted', turnId: 't', message });
    await expect.poll(() => chat.state.turns).toHaveLength(1);
    chat.close();
    const subscribe = vi.spyOn(client, 'subscribe');
    const readings = () => subscribe.mock.calls.filter(([uri]) => uri === second).length;
    const counts: number[] = [];
    for await (const _line of exportLines(client, summary)) counts.push(readings());
    // Once to count its turns, before the first line, and once for its own.
    expect(counts).toEqual([1, 1, 2]);
  });

  it('takes large results along to another host, where they are what they were', async () => {
    const host = shared();
    const folder = await newFolder(host);
    const large = 'All work and no play. '.repeat(8_000);
    await writeFile(path.join(folder, 'large.txt'), large);
    await host.run(['run', '--agent', 'offline', '--cwd', folder, '--approve', 'all', 'read large.txt']);
    const file = path.join(folder, 'session.jsonl');
    expect(await host.run(['sessions', 'export', 'last', file])).toMatchObject({ code: 0 });
    const [, content, ...turns] = jsonLines(await readFile(file, 'utf8'));
    expect(content).toMatchObject({ content: expect.stringMatching(/^atrium-content:/), encoding: 'utf-8' });
    expect(content?.data).toContain(large.slice(0, 100_000));
    expect(turns).toHaveLength(1);
    const other = await startHost();
    const { session } = JSON.parse((await other.run(['sessions', 'import', file, '--json'])).stdout);
    const again = await other.run(['sessions', 'export', session]);
    expect(again.stderr).toBe('');
    expect(jsonLines(again.stdout).slice(1)).toEqual([content, ...turns]);
  });

  it('[UP-039] takes all chats of a session along, under new names', async () => {
    const host = shared();
    const call = async (method: string, params: object) => {
      const { stdout } = await host.run(['call', method, JSON.stringify(params)]);
      return JSON.parse(stdout);
    };
    const channel = 'ahp-session:/with-chats';
    const [first, second] = ['one', 'two'].map((text) => ({
      ...{ id: `t-${text}`, message: { text, origin: { kind: 'user' } }, responseParts: [], state: 'complete' },
    }));
    const summary = { resource: channel, provider: 'mock', title: 'Chats', status: 1 };
    const times = { createdAt: '2026-01-01T00:00:00.000Z', modifiedAt: '2026-01-01T00:00:00.000Z' };
    const chat = { resource: 'ahp-chat:/aside', title: 'Aside', status: 1, modifiedAt: times.modifiedAt };
    await call('atrium/importSession', { channel, start: 0, turns: [first] });
    await call('atrium/importSession', { channel, chat: chat.resource, start: 0, turns: [second] });
    const state = { summary: { ...summary, ...times }, chats: [chat] };
    await call('atrium/importSession', { channel, start: 1, turns: [], state });
    const file = path.join(await newFolder(host), 'chats.jsonl');
    expect(await host.run(['sessions', 'export', 'with-chats', file])).toMatchObject({ code: 0 });
    const [header, ...lines] = jsonLines(await readFile(file, 'utf8'));
    expect(header).toMatchObject({ version: 3, turns: 1, chats: [{ resource: chat.resource, turns: 1 }] });
    expect(lines).toMatchObject([{ id: 't-one' }, { chat: chat.resource, turn: second }]);
    const { session } = JSON.parse((await host.run(['sessions', 'import', file, '--json'])).stdout);
    const { chats } = await call('atrium/chats', { channel: session });
    expect(chats).toMatchObject([{ title: 'Aside', turns: 1 }]);
    expect(chats[0].resource).not.toBe(chat.resource);
    const { turns } = await call('atrium/chatTurns', { channel: chats[0].resource, start: 0, end: 9 });
    expect(turns).toMatchObject([second]);
  });

  it('pages through a session that is longer than one answer of the host', async () => {
    const host = shared();
    const turn = (id: number) => ({
      id: `t${id}`,
      userMessage: { text: `q${id}` },
      responseParts: [],
      state: 'complete',
    });
    const summary = { resource: 'x:1', provider: 'mock', title: 'Long', status: 1, createdAt: 1, modifiedAt: 2 };
    const header = { format: 'atrium-session', version: 1, exportedAt: '', turns: 450, state: { summary } };
    const lines = [header, ...Array.from({ length: 450 }, (_, id) => turn(id))].map((line) => JSON.stringify(line));
    const imported = await host.run(['sessions', 'import', '-', '--json'], lines.join('\n'));
    const { session } = JSON.parse(imported.stdout);
    const { stdout } = await host.run(['sessions', 'export', session]);
    expect(turnsIn(stdout)).toEqual((turnsIn(lines.join('\n')) as OldTurn[]).map(today));
    expect((await host.run(['sessions', 'show', session, '--turns', '2'])).stdout).not.toContain('q447');
  });

  it('carries turns that are larger than a message of the protocol, without a loss', async () => {
    const host = shared();
    const text = 'A "long" story \\ 日本 👍🏽\n'.repeat(150_000);
    const turn = (id: string, words: string) => ({
      ...{ id, userMessage: { text: words }, state: 'complete' },
      responseParts: [{ kind: 'markdown', id: `p-${id}`, content: words }],
    });
    const summary = { resource: 'x:1', provider: 'mock', title: 'Large', status: 1, createdAt: 1, modifiedAt: 2 };
    const header = { format: 'atrium-session', version: 1, exportedAt: '', turns: 3, state: { summary } };
    const lines = [header, turn('a', 'small'), turn('b', text), turn('c', 'small')].map((line) => JSON.stringify(line));
    const imported = await host.run(['sessions', 'import', '-', '--json'], lines.join('\n'));
    expect(imported).toMatchObject({ code: 0, stderr: '' });
    const { session } = JSON.parse(imported.stdout);
    const { stdout } = await host.run(['sessions', 'export', session]);
    expect(turnsIn(stdout)).toEqual((turnsIn(lines.join('\n')) as OldTurn[]).map(today));
  });

  it('refuses files that are not whole, not ours, or there already', async () => {
    const host = shared();
    await host.run(['run', 'hello']);
    const file = path.join(await newFolder(host), 'session.jsonl');
    await writeFile(file, 'mine');
    expect((await host.run(['sessions', 'export', 'last', file])).code).toBe(2);
    expect(await readFile(file, 'utf8')).toBe('mine');
    expect(await host.run(['sessions', 'import', file])).toMatchObject({ code: 1, stdout: '' });
    const { stdout } = await host.run(['sessions', 'export', 'last']);
    await writeFile(file, stdout.split('\n')[0] ?? '');
    const cut = await host.run(['sessions', 'import', file]);
    expect(cut.code).toBe(1);
    expect(cut.stderr).toContain('not complete');
    const foreign = stdout.replaceAll('"provider":"mock"', '"provider":"nobody"');
    expect((await host.run(['sessions', 'import', '-'], foreign)).stderr).toContain('nobody');
    expect((await host.run(['sessions', 'import', '-', '--agent', 'mock'], foreign)).code).toBe(0);
  });

  it('leaves archived sessions out of the list, says how many there are, and marks them where they are shown', async () => {
    const host = await startHost();
    await host.run(['run', 'hello']);
    const [old] = JSON.parse((await host.run(['sessions', 'list', '--json'])).stdout);
    const client = await connect(await place(host));
    onTestFinished(() => client.close());
    await client.dispatch(old.resource, { type: 'session/isArchivedChanged', isArchived: true });
    await host.run(['run', 'another']);
    const list = await host.run(['sessions', 'list']);
    expect(list.stdout.trim().split('\n')).toHaveLength(2);
    expect(list.stdout).not.toContain('A first hello');
    expect(list.stderr).toBe('1 archived session is not shown: atrium sessions list --archived\n');
    const all = await host.run(['sessions', 'list', '--archived']);
    expect(all.stdout).toMatch(/^[\da-f]{8} +archived +\d+s ago +mock +A first hello/m);
    expect(all.stderr).toBe('');
    expect(JSON.parse((await host.run(['sessions', 'list', '--json'])).stdout)).toHaveLength(2);
    expect((await host.run(['sessions', 'show', old.resource])).stdout).toContain(' · archived · ');
  });

  it('removes and restores', async () => {
    const host = await startHost();
    await host.run(['run', 'hello']);
    const removed = JSON.parse((await host.run(['sessions', 'rm', 'last', '--json'])).stdout);
    expect(JSON.parse((await host.run(['sessions', 'list', '--json'])).stdout)).toEqual([]);
    expect((await host.run(['sessions', 'rm', removed.session])).code).toBe(4);
    expect((await host.run(['sessions', 'restore', removed.session])).code).toBe(0);
    const [item] = JSON.parse((await host.run(['sessions', 'list', '--json'])).stdout);
    expect(item.resource).toBe(removed.session);
    expect((await host.run(['sessions', 'restore', 'nowhere'])).code).toBe(4);
  });

  it('[DAY-100] imports what another program left on this machine, once', async () => {
    const host = await startHost();
    const folder = await newFolder(host);
    vi.stubEnv('CLAUDE_CONFIG_DIR', folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv('CODEX_HOME', path.join(folder, 'none'));
    vi.stubEnv('XDG_DATA_HOME', path.join(folder, 'none'));
    const id = 'f171cac9-3346-45de-988f-e78d25c93c37';
    await mkdir(path.join(folder, 'projects', '-srv-app'), { recursive: true });
    const asked = { type: 'user', uuid: 'u1', timestamp: '2026-03-01T10:00:00.000Z', cwd: '/srv/app' };
    const line = JSON.stringify({ ...asked, message: { role: 'user', content: 'what is this?' } });
    await writeFile(path.join(folder, 'projects', '-srv-app', `${id}.jsonl`), `${line}\nhalf a li`);
    const dry = await host.run(['import', '--dry-run']);
    expect(dry.stdout).toMatch(/Claude Code +[\d-]+ +what is this\? +\/srv\/app/);
    expect((await host.run(['import', 'claude', '--folder', '/srv/other'])).stdout).toContain('No sessions');
    const { stdout, stderr } = await host.run(['import', '--folder', '/srv']);
    expect(stdout).toContain('Imported 1 session.');
    expect(stderr).toContain('1 damaged line was left out.');
    expect((await host.run(['import'])).stdout).toContain('All of them are here already.');
    expect((await host.run(['sessions', 'show', `claude-${id}`])).stdout).toContain('> what is this?');
  });
});

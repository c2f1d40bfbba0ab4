/** What lists of sessions are ordered by, and what the next session begins with: kept by the host for all clients. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  forkOf,
  groupedSessions,
  isPinned,
  PINNED_META_KEY,
  placeOfSession,
  SessionStatus,
  type SessionSummary,
} from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { projectsOf } from '../../src/workspace/git/projects.js';
import { KeptLog } from '../support/logs.js';
import { nativeClient, nativeSession, nativeTurn, sessionState, userMessage } from '../support/native-client.js';
import { startHost } from '../support/session-fixture.js';
import { tempFolder } from '../support/temp-folder.js';
import { type RawClient, ROOT } from '../support/test-host.js';

const NOW = Date.parse('2026-03-01T00:00:00Z');

function summary(id: string, minutesAgo: number, more: Partial<SessionSummary> = {}): SessionSummary {
  const modifiedAt = new Date(NOW - minutesAgo * 60_000).toISOString();
  const status = SessionStatus.Idle | SessionStatus.IsRead;
  return { resource: id, provider: 'mock', title: id, status, createdAt: modifiedAt, modifiedAt, ...more };
}

const shown = (items: readonly SessionSummary[], projects = {}) =>
  groupedSessions(items, projects).map(({ name, items: own }) => [
    name,
    ...own.map(({ summary: { resource }, depth }) => `${'-'.repeat(depth)}${resource}`),
  ]);

async function listed(client: RawClient): Promise<SessionSummary[]> {
  return (await client.request<{ items: SessionSummary[] }>('listSessions', { channel: ROOT })).items;
}

describe('the order of sessions', () => {
  it('[DAY-031] is by project, attention and time, with pinned ones above and the archive below', () => {
    const at = (folder: string) => ({ workingDirectories: [`file:///srv/${folder}`] });
    const project = { uri: 'file:///srv/shop', displayName: 'shop', branch: 'fix' };
    const items = [
      summary('old', 50, at('shop/web')),
      summary('waits', 60, { ...at('blog'), status: SessionStatus.InputNeeded }),
      summary('new', 1, at('blog')),
      summary('works', 70, { ...at('shop/web'), status: SessionStatus.InProgress }),
      summary('unseen', 80, { ...at('shop'), status: SessionStatus.Idle }),
      summary('branch', 2, { workingDirectories: ['file:///data/worktrees/x'], project }),
      summary('pinned', 90, { ...at('blog'), _meta: { [PINNED_META_KEY]: true } }),
      summary('at work again', 3, { ...at('blog'), status: SessionStatus.InProgress | SessionStatus.IsArchived }),
      summary('archived', 0, { ...at('blog'), status: SessionStatus.Idle | SessionStatus.IsArchived }),
    ];
    const shop = { root: 'file:///srv/shop', name: 'shop' };
    expect(shown(items, { 'file:///srv/shop/web': shop, 'file:///srv/shop': shop })).toEqual([
      ['Pinned', 'pinned'],
      ['blog', 'waits', 'at work again', 'new'],
      ['shop', 'unseen', 'works', 'branch', 'old'],
      ['Archive', 'archived'],
    ]);
    expect(shown([summary('a', 1, at('one/app')), summary('b', 2, at('two/app'))])).toEqual([
      ['app (one)', 'a'],
      ['app (two)', 'b'],
    ]);
  });

  it('[DAY-031] names the branch that is checked out in a worktree, whatever was written down', () => {
    const folder = 'file:///data/worktrees/x';
    const project = { uri: 'file:///srv/shop', displayName: 'shop', branch: 'main' };
    const item = summary('tree', 1, { workingDirectories: [folder], project });
    const shop = { root: 'file:///srv/shop', name: 'shop' };
    expect(placeOfSession(item, { [folder]: { ...shop, branch: 'atrium/x' } }).branch).toBe('atrium/x');
    expect(placeOfSession(item, {}).branch).toBe('main');
  });

  it('[DAY-033] has copies below their sources, whatever a host says about them', () => {
    const copy = (id: string, of: string) => summary(id, 0, { _meta: { 'atrium.forkOf': of } });
    expect(shown([copy('fork', 'source'), summary('source', 9), copy('lost', 'gone'), copy('self', 'self')])).toEqual([
      ['Without a folder', 'lost', 'self', 'source', '-fork'],
    ]);
    expect(shown([copy('a', 'b'), copy('b', 'a')])[0]?.length).toBe(3);
  });

  it('[DAY-031] knows repositories, their worktrees with branches, and folders in none', async () => {
    const folder = await tempFolder({ 'app/src/a.txt': '', 'app/.git/HEAD': '', 'plain/a.txt': '', 'tree/b.txt': '' });
    const in_ = (name: string) => path.join(folder, name);
    mkdirSync(in_('app/.git/worktrees/tree'), { recursive: true });
    writeFileSync(in_('tree/.git'), `gitdir: ${in_('app/.git/worktrees/tree')}\n`);
    writeFileSync(in_('app/.git/worktrees/tree/HEAD'), 'ref: refs/heads/fix/it\n');
    const root = pathToFileURL(in_('app')).href;
    expect(await projectsOf([in_('app/src'), in_('tree'), in_('plain'), in_('gone')])).toEqual({
      [pathToFileURL(in_('app/src')).href]: { root, name: 'app' },
      [pathToFileURL(in_('tree')).href]: { root, name: 'app', branch: 'fix/it' },
    });
  });

  it('[DAY-031] [DAY-033] pins for all clients and over restarts; a copy names its source and is titled after it', async () => {
    const log = new KeptLog();
    const first = await startHost({ log });
    const [desk, phone] = [await nativeClient(first, 'desk'), await nativeClient(first, 'phone')];
    const { uri, chat } = await nativeSession(desk);
    const turnId = await nativeTurn(desk, chat, 'hello');
    desk.dispatch(uri, { type: 'session/titleChanged', title: 'Plums' } as never);
    await desk.request('atrium/pinSession', { channel: uri, pinned: true });
    await phone.until(({ method, params }) => method === 'root/sessionSummaryChanged' && params?.session === uri);
    expect((await listed(phone)).map(isPinned)).toEqual([true]);
    expect((await desk.ask('atrium/pinSession', { channel: uri, pinned: 'yes' })).error).toBeDefined();
    const older = await first.client('older', { protocolVersions: ['0.7.0'] });
    const copy = 'ahp-session:/copy';
    await older.request('createSession', { channel: copy, provider: 'mock', fork: { session: uri, turnId } });
    await first.stop();
    const again = await nativeClient(await startHost({ log }), 'desk');
    const items = await listed(again);
    expect(items.map((item) => [item.resource, isPinned(item), forkOf(item)])).toEqual(
      expect.arrayContaining([
        [uri, true, undefined],
        [copy, false, uri],
      ]),
    );
    expect((await sessionState(again, copy)).title).toBe('Plums (fork)');
    await again.request('atrium/pinSession', { channel: uri, pinned: false });
    expect((await listed(again)).map(isPinned)).toEqual([false, false]);
  });

  it('[DAY-032] tells what the last session of a folder worked with', async () => {
    const host = await startHost();
    const client = await nativeClient(host, 'desk');
    const folder = pathToFileURL(await tempFolder({})).href;
    const last = () => client.request('atrium/lastChoice', { folder });
    expect(await last()).toEqual({});
    const { chat } = await nativeSession(client, { workingDirectories: [folder] });
    expect(await last()).toEqual({ provider: 'mock', config: { mode: 'ask' } });
    const message = { ...userMessage('hello'), model: { id: 'small' } };
    client.dispatch(chat, { type: 'chat/turnStarted', turnId: 'a', message } as never);
    await client.action(chat, 'chat/turnComplete');
    expect(await last()).toEqual({ provider: 'mock', model: 'small', config: { mode: 'ask' } });
  });
});

/** Which views a session names, how much each of them shows, and what becomes of them when the session is over. */
import type { ChangesetState, ChangesetSummary, SessionState } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { ChangesRoom, edit, repository } from '../support/changes-room.js';
import { tempFolder } from '../support/temp-folder.js';
import { ROOT } from '../support/test-host.js';

async function catalogue(room: ChangesRoom, fits: (all: readonly ChangesetSummary[]) => boolean) {
  for (let tries = 0; tries < 200; tries += 1) {
    const { summary } = await room.desk.state<SessionState>(room.uri);
    if (fits(summary.changesets ?? [])) return summary.changesets ?? [];
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('the catalogue stays as it is');
}

describe('the catalogue of changesets', { timeout: 30_000 }, () => {
  it('[AHP-222] [AHP-227] names views with their sums, and mirrors them to everyone who keeps a list', async () => {
    const folder = await repository({ 'a.txt': '1\n2\n', 'b.txt': 'b\n' });
    await edit(folder, 'b.txt', 'by hand\nmore\n');
    const room = await ChangesRoom.open({ folder });
    await room.turn((call) => call('edit_file', { path: 'a.txt', oldText: '2', newText: 'two\nthree' }));
    const all = await catalogue(room, (entries) =>
      entries.some(({ uriTemplate, files }) => uriTemplate.endsWith('/session') && files === 1),
    );
    const sums = all.map(({ additions, deletions, files }) => ({ additions, deletions, files }));
    expect(sums.slice(0, 2)).toEqual([
      { additions: 4, deletions: 2, files: 2 },
      { additions: 2, deletions: 1, files: 1 },
    ]);
    const told = await room.desk.until(
      ({ method, params }) =>
        method === 'root/sessionSummaryChanged' &&
        JSON.stringify((params as { changes?: SessionState['summary'] }).changes?.changesets) === JSON.stringify(all),
    );
    expect(told.params).toMatchObject({ channel: ROOT, session: room.uri });
    const { action } = await room.desk.action(
      room.uri,
      ({ type, changesets }) =>
        type === 'session/changesetsChanged' && JSON.stringify(changesets) === JSON.stringify(all),
    );
    expect(action.changesets).toHaveLength(4);
    const state = await room.shown('uncommitted');
    expect(Object.keys(state).sort()).toEqual(['files', 'operations', 'status']);
    const added = state.files.reduce((sum, { edit: { diff } }) => sum + (diff?.added ?? 0), 0);
    expect(added).toBe(all[0]?.additions);
  });

  it('[AHP-223] uses no variables but the turn, and two turns together', async () => {
    const room = await ChangesRoom.open({ folder: await repository() });
    const all = await catalogue(room, (entries) => entries.length > 0);
    expect(all.map(({ uriTemplate }) => uriTemplate)).toEqual([
      room.view('uncommitted'),
      room.view('session'),
      room.view('turn/{turnId}'),
      room.view('turns/{originalTurnId}/{modifiedTurnId}'),
    ]);
    const first = await room.turn((call) => call('write_file', { path: 'one.txt', content: '1\n' }));
    const second = await room.turn((call) => call('write_file', { path: 'two.txt', content: '2\n' }), 'turn 2/ü');
    const third = await room.turn((call) => call('shell', { command: 'rm one.txt; echo 3 > three.txt' }));
    const expanded = encodeURIComponent(second);
    expect([...(await room.files(`turn/${expanded}`)).keys()]).toEqual(['two.txt']);
    expect([...(await room.files(`turns/${first}/${expanded}`)).keys()]).toEqual(['two.txt']);
    expect([...(await room.files(`turns/${first}/${third}`)).keys()].sort()).toEqual([
      'one.txt',
      'three.txt',
      'two.txt',
    ]);
    expect([...(await room.files('session')).keys()].sort()).toEqual(['three.txt', 'two.txt']);
  });

  it('names nothing uncommitted where there is no Git, and nothing at all without a folder', async () => {
    const room = await ChangesRoom.open({ folder: await tempFolder({ 'a.txt': 'a\n' }) });
    const all = await catalogue(room, (entries) => entries.length > 0);
    expect(all.map(({ label }) => label)).toEqual(['This session', 'One turn', 'Between two turns']);
    expect(await room.shown('uncommitted')).toMatchObject({ status: 'error', error: { errorType: 'no-repository' } });
    const bare = await room.desk.session(undefined, { provider: 'puppet' });
    expect((await room.desk.state<SessionState>(bare)).summary.changesets).toBeUndefined();
    const channel = bare.replace('ahp-session:', 'ahp-changeset:');
    expect((await room.desk.ask('subscribe', { channel: `${channel}/session` })).error?.code).toBe(-32008);
  });

  it('[AHP-224] answers a subscription at once, as computing, and tells the rest by actions', async () => {
    const folder = await repository();
    await edit(folder, 'new.txt', 'n\n');
    const room = await ChangesRoom.open({ folder });
    const view = room.view('uncommitted');
    expect(await room.desk.state<ChangesetState>(view)).toEqual({ status: 'computing', files: [] });
    await room.desk.action(view, ({ type, status }) => type === 'changeset/statusChanged' && status === 'ready');
    const types = room.desk.types(view).filter((type) => type !== 'changeset/cleared');
    expect(types.indexOf('changeset/fileSet')).toBeGreaterThan(-1);
    expect(types.lastIndexOf('changeset/statusChanged')).toBeGreaterThan(types.indexOf('changeset/fileSet'));
  });

  it('[AHP-167] [AHP-226] clears the views of a session that is disposed, and lets go of who watches', async () => {
    const folder = await repository();
    const room = await ChangesRoom.open({ folder });
    await room.turn((call) => call('write_file', { path: 'new.txt', content: 'n\n' }));
    expect((await room.shown('session')).files).toHaveLength(1);
    const view = room.view('session');
    const before = room.desk.types(view).length;
    await room.desk.request('disposeSession', { channel: room.uri });
    await room.desk.until(({ method, params }) => method === 'root/sessionRemoved' && params?.session === room.uri);
    await expect.poll(() => room.desk.types(view).slice(before)).toContain('changeset/cleared');
    expect((await room.desk.ask('subscribe', { channel: view })).error?.code).toBe(-32008);
    const after = room.desk.types(view).length;
    await edit(folder, 'later.txt', 'l\n');
    await room.desk.request('listSessions', { channel: ROOT });
    expect(room.desk.types(view)).toHaveLength(after);
    expect(room.desk.types(view)).not.toContain('changeset/disposed');
  });
});

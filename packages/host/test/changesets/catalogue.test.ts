/** Which views a session names, how much each of them shows, and what becomes of them when the session is over. */
import type { ChangesetState, ChangesetSummary, SessionState } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { ChangesFixture, edit, repository } from '../support/changes-fixture.js';
import { tempFolder } from '../support/temp-folder.js';
import { ROOT } from '../support/test-host.js';

async function catalogue(fixture: ChangesFixture, fits: (all: readonly ChangesetSummary[]) => boolean) {
  for (let tries = 0; tries < 200; tries += 1) {
    const { summary } = await fixture.client.state<SessionState>(fixture.uri);
    if (fits(summary.changesets ?? [])) return summary.changesets ?? [];
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('the catalogue stays as it is');
}

describe('the catalogue of changesets', { timeout: 30_000 }, () => {
  it('[AHP-222] [AHP-227] names views with their sums, and mirrors them to everyone who keeps a list', async () => {
    const folder = await repository({ 'a.txt': '1\n2\n', 'b.txt': 'b\n' });
    await edit(folder, 'b.txt', 'by hand\nmore\n');
    const fixture = await ChangesFixture.open({ folder });
    await fixture.turn((call) => call('edit_file', { path: 'a.txt', oldText: '2', newText: 'two\nthree' }));
    const all = await catalogue(fixture, (entries) =>
      entries.some(({ uriTemplate, files }) => uriTemplate.endsWith('/session') && files === 1),
    );
    const sums = all.map(({ additions, deletions, files }) => ({ additions, deletions, files }));
    expect(sums.slice(0, 2)).toEqual([
      { additions: 4, deletions: 2, files: 2 },
      { additions: 2, deletions: 1, files: 1 },
    ]);
    const told = await fixture.client.until(
      ({ method, params }) =>
        method === 'root/sessionSummaryChanged' &&
        JSON.stringify((params as { changes?: SessionState['summary'] }).changes?.changesets) === JSON.stringify(all),
    );
    expect(told.params).toMatchObject({ channel: ROOT, session: fixture.uri });
    const { action } = await fixture.client.action(
      fixture.uri,
      ({ type, changesets }) =>
        type === 'session/changesetsChanged' && JSON.stringify(changesets) === JSON.stringify(all),
    );
    expect(action.changesets).toHaveLength(4);
    const state = await fixture.shown('uncommitted');
    expect(Object.keys(state).sort()).toEqual(['files', 'operations', 'status']);
    const added = state.files.reduce((sum, { edit: { diff } }) => sum + (diff?.added ?? 0), 0);
    expect(added).toBe(all[0]?.additions);
  });

  it('[AHP-223] uses no variables but the turn, and two turns together', async () => {
    const fixture = await ChangesFixture.open({ folder: await repository() });
    const all = await catalogue(fixture, (entries) => entries.length > 0);
    expect(all.map(({ uriTemplate }) => uriTemplate)).toEqual([
      fixture.view('uncommitted'),
      fixture.view('session'),
      fixture.view('turn/{turnId}'),
      fixture.view('turns/{originalTurnId}/{modifiedTurnId}'),
    ]);
    const first = await fixture.turn((call) => call('write_file', { path: 'one.txt', content: '1\n' }));
    const second = await fixture.turn((call) => call('write_file', { path: 'two.txt', content: '2\n' }), 'turn 2/ü');
    const third = await fixture.turn((call) => call('shell', { command: 'rm one.txt; echo 3 > three.txt' }));
    const expanded = encodeURIComponent(second);
    expect([...(await fixture.files(`turn/${expanded}`)).keys()]).toEqual(['two.txt']);
    expect([...(await fixture.files(`turns/${first}/${expanded}`)).keys()]).toEqual(['two.txt']);
    expect([...(await fixture.files(`turns/${first}/${third}`)).keys()].sort()).toEqual([
      'one.txt',
      'three.txt',
      'two.txt',
    ]);
    expect([...(await fixture.files('session')).keys()].sort()).toEqual(['three.txt', 'two.txt']);
  });

  it('names nothing uncommitted where there is no Git, and nothing at all without a folder', async () => {
    const fixture = await ChangesFixture.open({ folder: await tempFolder({ 'a.txt': 'a\n' }) });
    const all = await catalogue(fixture, (entries) => entries.length > 0);
    expect(all.map(({ label }) => label)).toEqual(['This session', 'One turn', 'Between two turns']);
    expect(await fixture.shown('uncommitted')).toMatchObject({
      status: 'error',
      error: { errorType: 'no-repository' },
    });
    const bare = await fixture.client.session(undefined, { provider: 'puppet' });
    expect((await fixture.client.state<SessionState>(bare)).summary.changesets).toBeUndefined();
    const channel = bare.replace('ahp-session:', 'ahp-changeset:');
    expect((await fixture.client.ask('subscribe', { channel: `${channel}/session` })).error?.code).toBe(-32008);
  });

  it('[AHP-224] answers a subscription at once, as computing, and tells the rest by actions', async () => {
    const folder = await repository();
    await edit(folder, 'new.txt', 'n\n');
    const fixture = await ChangesFixture.open({ folder });
    const view = fixture.view('uncommitted');
    expect(await fixture.client.state<ChangesetState>(view)).toEqual({ status: 'computing', files: [] });
    await fixture.client.action(view, ({ type, status }) => type === 'changeset/statusChanged' && status === 'ready');
    const types = fixture.client.types(view).filter((type) => type !== 'changeset/cleared');
    expect(types.indexOf('changeset/fileSet')).toBeGreaterThan(-1);
    expect(types.lastIndexOf('changeset/statusChanged')).toBeGreaterThan(types.indexOf('changeset/fileSet'));
  });

  it('[AHP-167] [AHP-226] clears the views of a session that is disposed, and lets go of who watches', async () => {
    const folder = await repository();
    const fixture = await ChangesFixture.open({ folder });
    await fixture.turn((call) => call('write_file', { path: 'new.txt', content: 'n\n' }));
    expect((await fixture.shown('session')).files).toHaveLength(1);
    const view = fixture.view('session');
    const before = fixture.client.types(view).length;
    await fixture.client.request('disposeSession', { channel: fixture.uri });
    await fixture.client.until(
      ({ method, params }) => method === 'root/sessionRemoved' && params?.session === fixture.uri,
    );
    await expect.poll(() => fixture.client.types(view).slice(before)).toContain('changeset/cleared');
    expect((await fixture.client.ask('subscribe', { channel: view })).error?.code).toBe(-32008);
    const after = fixture.client.types(view).length;
    await edit(folder, 'later.txt', 'l\n');
    await fixture.client.request('listSessions', { channel: ROOT });
    expect(fixture.client.types(view)).toHaveLength(after);
    expect(fixture.client.types(view)).not.toContain('changeset/disposed');
  });
});

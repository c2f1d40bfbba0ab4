/** The files of a session with several folders, as the terminal lists and finds them. */

import type { OpenSessionState } from '@atrium/client';
import type { ChangesetFile } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { findFile, nameOf } from '../src/changes/changes-view.js';
import { entryOf } from '../src/changes/changeset.js';

const FIRST = 'file:///srv/app';

function changed(uri: string): ChangesetFile {
  return { id: uri, edit: { before: { uri, content: { uri: 'data:,' } }, after: { uri, content: { uri: 'data:,' } } } };
}

const own = changed(`${FIRST}/src/a.txt`);
const further = changed('file:///srv/lib/src/a.txt');
const beside = changed('file:///srv/application/src/a.txt');

describe('the changed files of a session with several folders', () => {
  it('[UP-063] are named within the first folder, and by their whole path in any other', () => {
    const names = [own, further, beside].map(({ edit }) => nameOf(edit, FIRST));
    expect(names).toEqual(['src/a.txt', '/srv/lib/src/a.txt', '/srv/application/src/a.txt']);
  });

  it('[UP-063] are found by what is shown, and none is taken for another', () => {
    const find = (name: string) => findFile([further, own, beside], name, FIRST);
    expect(find('src/a.txt')).toBe(own);
    expect(find('/srv/lib/src/a.txt')).toBe(further);
    expect(find('lib/src/a.txt')).toBe(further);
    expect(() => find('a.txt')).toThrow('type more of the path');
  });

  it('[UP-063] are uncommitted in the first folder, or in the one that is named', () => {
    const view = (label: string, uriTemplate: string) => ({ label, uriTemplate, changeKind: 'uncommitted' });
    const changesets = [
      view('Uncommitted changes', 'a:/uncommitted'),
      view('Uncommitted changes in lib', 'a:/uncommitted/%2Fsrv%2Flib'),
      view('Uncommitted changes in /srv/x/lib', 'a:/uncommitted/%2Fsrv%2Fx%2Flib'),
    ];
    const state = { session: { changesets }, chat: {} } as unknown as OpenSessionState;
    const chosen = [undefined, 'lib', '/srv/x/lib', 'b'].map((folder) => entryOf(state, 'uncommitted', folder)?.label);
    expect(chosen).toEqual([...changesets.map(({ label }) => label), undefined]);
  });
});

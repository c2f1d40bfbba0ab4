import { PLAN_META_KEY, SessionStatus, type SessionSummary } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { errorText } from '../src/exit.js';
import { folderText, placeText, sessionRow, stateOf } from '../src/sessions/summary-text.js';

const NOON = '2026-11-17T12:00:00.000Z';

describe('words', () => {
  it.each([
    ['file:///srv/app', '/srv/app'],
    ['file://other-machine/share', 'file://other-machine/share'],
    ['file:///srv/a%2Fb', 'file:///srv/a%2Fb'],
    ['vscode-remote://ssh/srv', 'vscode-remote://ssh/srv'],
    [undefined, ''],
  ])('of the folder %s are %s', (uri, text) => {
    expect(folderText(uri)).toBe(text);
  });

  const summary: SessionSummary = {
    ...{ resource: 'ahp-session:/s', provider: 'mock', title: 'T', status: SessionStatus.Idle },
    ...{ createdAt: NOON, modifiedAt: NOON, workingDirectories: ['file:///data/worktrees/0123456789ab'] },
  };

  it('of a worktree are its project and branch, and of any other folder its path', () => {
    const project = { uri: 'file:///srv/app', displayName: 'app' };
    expect(placeText(summary)).toBe('/data/worktrees/0123456789ab');
    expect(placeText({ ...summary, project })).toBe('app');
    const branched = { ...summary, project: { ...project, branch: 'fix-login' } };
    expect(placeText(branched)).toBe('app · fix-login');
    expect(sessionRow(branched, Date.parse(NOON)).at(-1)).toBe('app · fix-login');
  });

  it('of a list of tasks are there until it is done [DAY-116]', () => {
    const row = (done: number) => sessionRow({ ...summary, _meta: { [PLAN_META_KEY]: { done, total: 3 } } }, 0)[1];
    expect([row(2), row(3)]).toEqual(['idle 2/3', 'idle']);
  });

  it('of an archived session say so', () => {
    const archived = SessionStatus.IsArchived;
    expect(stateOf(summary)).toBe('idle');
    expect(stateOf({ ...summary, status: SessionStatus.Idle | archived })).toBe('archived');
    expect(stateOf({ ...summary, status: SessionStatus.InProgress | archived })).toBe('works, archived');
  });

  it('of an error are never empty, and speak to people', () => {
    expect(errorText(new AggregateError([]))).toBe('AggregateError');
    const lost = Object.assign(new Error('x: wait for the status "open"'), { name: 'DisconnectedError' });
    expect(errorText(lost)).toBe('the host is not there right now; try again when it is back');
  });
});

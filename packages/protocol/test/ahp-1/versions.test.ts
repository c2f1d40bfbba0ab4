/** How host and client agree on a version, and what a version knows. */
import { describe, expect, it } from 'vitest';
import type { ActionType } from '../../src/ahp-1/index.js';
import {
  ACTION_INTRODUCED_IN,
  AHP_1_VERSION,
  agreeOnVersion,
  BASELINES,
  CLIENT_DISPATCHABLE,
  isActionKnown,
  isClientDispatchable,
  isInCaretRange,
  isNotificationKnown,
  NOTIFICATION_INTRODUCED_IN,
} from '../../src/ahp-1/index.js';
import { hostNotifications, stateActions } from '../../src/ahp-1/schemas.js';

const agreed = (version: string, family: string) => ({ outcome: 'agreed', version, family });

describe('the range of a baseline', () => {
  it.each([
    ['1.0.0', '1.0.0', true],
    ['1.7.3', '1.0.0', true],
    ['2.0.0', '1.0.0', false],
    ['0.9.9', '1.0.0', false],
    ['0.9.7', '0.9.0', true],
    ['0.10.0', '0.9.0', false],
    ['0.5.2', '0.5.1', true],
    ['0.5.0', '0.5.1', false],
    ['1.9.0', '0.9.0', false],
    ['0.0.3', '0.0.3', true],
    ['0.0.4', '0.0.3', false],
    ['0.0.0', '0.0.0', true],
    ['0.0.1', '0.0.0', false],
    ['1.0', '1.0.0', false],
    ['1.0.0', 'one', false],
  ])('[UP-006] [UP-007] %s lies in that of %s: %s', (version, baseline, expected) => {
    expect(isInCaretRange(version, baseline)).toBe(expected);
  });
});

describe('the agreed version', () => {
  it.each([
    [['1.1.0'], '1.1.0', 'ahp-1'],
    [['2.0.0', '1.5.3', '0.9.7'], '1.5.3', 'ahp-1'],
    [['0.9.0', '1.0.0'], '1.0.0', 'ahp-1'],
    [['1.0.0', '0.9.0'], '1.0.0', 'ahp-1'],
    [['0.10.0', '0.9.0', '0.7.0'], '0.9.0', 'ahp-0.9'],
    [['1.2.0', '1.10.0', '1.9.0'], '1.10.0', 'ahp-1'],
    [['1.0.0', '1.0.0'], '1.0.0', 'ahp-1'],
  ])('[UP-008] [UP-009] of %j is the highest one in a range, exactly as offered: %s', (offer, version, family) => {
    expect(agreeOnVersion(offer)).toEqual(agreed(version, family));
    expect(agreeOnVersion(offer.toReversed())).toEqual(agreed(version, family));
  });

  it('[UP-012] is spoken by one of seven families; in 0.5 the patch tells the deltas apart', () => {
    expect(BASELINES.map(({ baseline }) => baseline)).toEqual([
      AHP_1_VERSION,
      '0.9.0',
      '0.7.0',
      '0.6.0',
      '0.5.0',
      '0.3.0',
      '0.2.0',
    ]);
    for (const { baseline, family } of BASELINES) expect(agreeOnVersion([baseline])).toEqual(agreed(baseline, family));
    for (const patch of ['0.5.0', '0.5.1', '0.5.2']) expect(agreeOnVersion([patch])).toEqual(agreed(patch, 'ahp-0.5'));
    expect(agreeOnVersion(['0.9.0', '0.7.0', '0.6.0', '0.5.2', '0.5.1'])).toEqual(agreed('0.9.0', 'ahp-0.9'));
    expect(agreeOnVersion(['0.8.0', '0.7.1', '0.6.0'])).toEqual(agreed('0.7.1', 'ahp-0.7'));
  });

  it.each([[['0.8.0']], [['0.4.0', '0.3.0']], [['2.0.0']], [['0.1.0']], [[]]])(
    '[UP-010] does not exist for %j, and the host says what it speaks',
    (offer) => {
      const answer = agreeOnVersion(offer);
      expect(answer).toMatchObject({ outcome: 'unsupported' });
      expect(answer).toHaveProperty('supportedVersions', expect.arrayContaining(['1.0.0', '0.9.0']));
    },
  );

  it.each(['1.0', '1.0.0-beta', 'v1.0.0', '1.0.0+1', '', ' 1.0.0', '^1.0.0', '1.0.0\n', '01.0.0', '1.00.0', 1, null])(
    '[UP-011] does not exist when an entry is not three plain numbers: %j',
    (entry) => expect(agreeOnVersion(['1.0.0', entry])).toEqual({ outcome: 'malformed', entry }),
  );

  it.each(['0.3.1', '0.4.0', '0.9.0', '0.10.0', '1.0.0', '10.0.0'])(
    '[UP-013] is never our 0.3.0 for a client that also offers %s',
    (later) => {
      const answer = agreeOnVersion(['0.3.0', later]);
      expect(answer).not.toHaveProperty('version', '0.3.0');
      expect(agreeOnVersion([later, '0.3.0', '0.2.0']).outcome).toBe('agreed');
      if (answer.outcome === 'unsupported') expect(answer.supportedVersions).not.toContain('0.3.0');
    },
  );

  it('[UP-013] is our 0.3.0 for a client that offers nothing above it', () => {
    expect(agreeOnVersion(['0.2.0', '0.3.0'])).toEqual(agreed('0.3.0', 'ahp-0.3'));
    expect(agreeOnVersion(['0.2.7'])).toEqual(agreed('0.2.7', 'ahp-0.2'));
  });
});

/** Written down again from the catalogue of actions, so that a slip in the table is seen. */
const BY_CLIENTS = {
  root: 'configChanged',
  session:
    'titleChanged isReadChanged isArchivedChanged configChanged activeClientSet activeClientRemoved workingDirectorySet workingDirectoryRemoved workingDirectoryReplaced customizationToggled mcpServerStartRequested mcpServerStopRequested mcpServerBackgroundRequested',
  chat: 'turnStarted turnCancelled turnResume toolCallConfirmed toolCallComplete toolCallResultConfirmed toolCallContentChanged pendingMessageSet pendingMessageRemoved queuedMessagesReordered inputAnswerChanged inputCompleted truncated draftChanged workingDirectorySet workingDirectoryRemoved isReadChanged isArchivedChanged',
  changeset: 'filesReviewChanged',
  annotations: 'set updated removed entrySet entryRemoved',
  terminal: 'input resized claimed titleChanged cleared',
  automation: 'createRequested updateRequested removed',
  automationRun: 'cancelRequested',
};

describe('the catalogue of actions', () => {
  it('has an entry for each in every table', () => {
    expect(Object.keys(CLIENT_DISPATCHABLE).sort()).toEqual(Object.keys(stateActions).sort());
    expect(Object.keys(ACTION_INTRODUCED_IN).sort()).toEqual(Object.keys(stateActions).sort());
    expect(Object.keys(NOTIFICATION_INTRODUCED_IN)).toEqual(Object.keys(hostNotifications));
  });

  it('says which clients may dispatch, two of them only the contributor of the tool', () => {
    const expected = Object.entries(BY_CLIENTS).flatMap(([family, names]) =>
      names.split(' ').map((name) => `${family}/${name}`),
    );
    expect(Object.keys(stateActions).filter(isClientDispatchable).sort()).toEqual(expected.sort());
    const owned = Object.entries(CLIENT_DISPATCHABLE).filter(([, who]) => who === 'owner');
    expect(owned.map(([type]) => type)).toEqual(['chat/toolCallComplete', 'chat/toolCallContentChanged']);
    for (const odd of ['', 'constructor', '__proto__', 'chat/future']) expect(isClientDispatchable(odd)).toBe(false);
  });

  const NEW: Readonly<Record<string, readonly ActionType[]>> = {
    '0.5.0': ['session/activeClientSet', 'session/activeClientRemoved', 'chat/activityChanged', 'chat/draftChanged'],
    '0.5.1': ['session/inputNeededSet', 'session/inputNeededRemoved', 'chat/turnsLoaded'],
    '0.5.2': ['session/mcpServerStartRequested', 'session/mcpServerStopRequested'],
    '0.6.0': ['chat/toolCallAuthRequired', 'chat/toolCallAuthResolved', 'changeset/filesReviewChanged'],
    '0.7.0': [
      'session/workingDirectorySet',
      'session/workingDirectoryRemoved',
      'chat/workingDirectorySet',
      'chat/workingDirectoryRemoved',
    ],
    '0.9.0': ['chat/turnResume'],
    '1.0.0': [
      'session/chatsReordered',
      'session/mcpServerBackgroundRequested',
      'chat/isReadChanged',
      'chat/isArchivedChanged',
      'chat/backgroundWorkSet',
      'chat/backgroundWorkRemoved',
      'chat/movableChanged',
      'chat/changesetsChanged',
      'chat/canvasesChanged',
      'canvas/stateChanged',
    ],
  };

  it.each(Object.entries(NEW))('[UP-014] dates to %s exactly what that version brought', (version, types) => {
    const dated = Object.keys(stateActions).filter((type) => ACTION_INTRODUCED_IN[type as ActionType] === version);
    expect(dated.sort()).toEqual([...types].sort());
  });

  it('[UP-014] keeps from an older peer what came later, and passes on what nobody knows', () => {
    expect(isActionKnown('chat/turnResume', '0.7.0')).toBe(false);
    expect(isActionKnown('chat/turnResume', '0.9.3')).toBe(true);
    expect(isActionKnown('chat/movableChanged', '0.9.0')).toBe(false);
    expect(isActionKnown('chat/movableChanged', '1.4.0')).toBe(true);
    expect(isActionKnown('session/inputNeededSet', '0.5.0')).toBe(false);
    expect(isActionKnown('session/mcpServerStateChanged', '0.3.0')).toBe(false);
    expect(isActionKnown('chat/delta', '0.5.0')).toBe(true);
    expect(isActionKnown('chat/future', '0.5.0')).toBe(true);
    expect(isNotificationKnown('root/progress', '0.3.0')).toBe(false);
    expect(isNotificationKnown('root/progress', '0.5.0')).toBe(true);
  });
});

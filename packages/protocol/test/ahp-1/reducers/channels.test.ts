/** The reducers of the other channels. */
import { describe, expect, it } from 'vitest';
import type {
  AnnotationsAction,
  AnnotationsState,
  AutomationAction,
  AutomationEntry,
  AutomationRunAction,
  AutomationRunState,
  AutomationState,
  CanvasState,
  ChangesetAction,
  ChangesetFile,
  ChangesetState,
  RootState,
  TerminalAction,
  TerminalContentPart,
  TerminalState,
} from '../../../src/ahp-1/index.js';
import {
  annotationsReducer,
  automationReducer,
  automationRunReducer,
  canvasReducer,
  changesetReducer,
  resourceWatchReducer,
  rootReducer,
  terminalReducer,
} from '../../../src/ahp-1/index.js';
import { deepFreeze } from '../../support/fixtures.js';
import { annotation, operation, terminalState } from '../support/builders.js';

const crash = { errorType: 'crash', message: 'Failed' };

describe('root state', () => {
  it('[UP-236] changes as in 0.2.0', () => {
    const state: RootState = deepFreeze({ agents: [], _meta: { a: 1 } });
    const agents = [{ provider: 'echo', displayName: 'Echo', description: '', models: [] }];
    expect(rootReducer(state, { type: 'root/agentsChanged', agents })).toStrictEqual({ ...state, agents });
    const counted = rootReducer(state, { type: 'root/activeSessionsChanged', activeSessions: 2 });
    expect(counted).toStrictEqual({ ...state, activeSessions: 2 });
    expect(rootReducer(counted, { type: 'root/activeSessionsChanged', activeSessions: 2 })).toBe(counted);
    const info = { resource: 'ahp-terminal:/1', title: 'sh', claim: { kind: 'client', clientId: 'desk' } } as const;
    const terminals = [{ ...info, lifecycle: { status: 'running' } as const }];
    expect(rootReducer(state, { type: 'root/terminalsChanged', terminals })).toStrictEqual({ ...state, terminals });
  });

  it('[UP-236] has a configuration only when the host offers one', () => {
    const change = { type: 'root/configChanged', config: { a: 2 } } as const;
    const none: RootState = deepFreeze({ agents: [] });
    expect(rootReducer(none, change)).toBe(none);
    const schema = { type: 'object', properties: {} } as const;
    const state: RootState = deepFreeze({ agents: [], config: { schema, values: { a: 1, b: 1 } } });
    expect(rootReducer(state, change).config?.values).toEqual({ a: 2, b: 1 });
    expect(rootReducer(state, { ...change, replace: true }).config?.values).toEqual({ a: 2 });
  });
});

describe('a terminal', () => {
  const reduce = (state: TerminalState, ...actions: TerminalAction[]) =>
    actions.reduce((now, action) => terminalReducer(deepFreeze(now), deepFreeze(action)), state);

  it('[UP-141] ends with or without an exit code', () => {
    const ended = reduce(terminalState(), { type: 'terminal/exited', exitCode: 1 });
    expect(ended).toStrictEqual(terminalState({ lifecycle: { status: 'exited', exitCode: 1 } }));
    expect(reduce(ended, { type: 'terminal/exited', exitCode: 1 })).toBe(ended);
    const gone = reduce(ended, { type: 'terminal/exited' });
    expect(gone.lifecycle).toStrictEqual({ status: 'exited' });
    expect(reduce(gone, { type: 'terminal/exited' })).toBe(gone);
  });

  it('[UP-141] otherwise changes as in 0.2.0: size, owner, title, folder', () => {
    const claim = { kind: 'session', session: 'ahp-session:/one', chat: 'ahp-chat:/one' } as const;
    const state = reduce(
      terminalState(),
      { type: 'terminal/resized', cols: 80, rows: 24 },
      { type: 'terminal/claimed', claim },
      { type: 'terminal/titleChanged', title: 'Test' },
      { type: 'terminal/cwdChanged', cwd: 'file:///w' },
      { type: 'terminal/commandDetectionAvailable' },
    );
    expect(state).toStrictEqual(
      terminalState({ cols: 80, rows: 24, claim, title: 'Test', cwd: 'file:///w', supportsCommandDetection: true }),
    );
    expect(reduce(state, { type: 'terminal/input', data: 'x' })).toBe(state);
  });

  it('[UP-141] its output belongs to the command that runs, or to none', () => {
    const state = reduce(
      terminalState(),
      { type: 'terminal/data', data: '$ ' },
      { type: 'terminal/data', data: 'make' },
      { type: 'terminal/commandExecuted', commandId: 'c', commandLine: 'make', timestamp: 5 },
      { type: 'terminal/data', data: 'ok' },
    );
    const command = { type: 'command', commandId: 'c', commandLine: 'make', output: 'ok', timestamp: 5 } as const;
    expect(state.content).toStrictEqual([
      { type: 'unclassified', value: '$ make' },
      { ...command, isComplete: false },
    ]);
    expect(state.supportsCommandDetection).toBe(true);
    const done = reduce(
      state,
      { type: 'terminal/commandFinished', commandId: 'c', exitCode: 0, durationMs: 7 },
      { type: 'terminal/data', data: '$ ' },
    );
    expect(done.content.slice(1)).toStrictEqual([
      { ...command, isComplete: true, exitCode: 0, durationMs: 7 },
      { type: 'unclassified', value: '$ ' },
    ]);
    expect(reduce(done, { type: 'terminal/commandFinished', commandId: 'gone' })).toBe(done);
    const cleared = reduce(done, { type: 'terminal/cleared' });
    expect(cleared.content).toEqual([]);
    expect(reduce(cleared, { type: 'terminal/cleared' })).toBe(cleared);
  });

  it('[UP-141] output after a part of an unknown kind begins a new one', () => {
    const later = { type: 'later' } as unknown as TerminalContentPart;
    const state = reduce(terminalState({ content: [later] }), { type: 'terminal/data', data: 'x' });
    expect(state.content).toEqual([later, { type: 'unclassified', value: 'x' }]);
  });
});

describe('a changeset', () => {
  const file = (id: string, members: Partial<ChangesetFile> = {}): ChangesetFile => ({ id, edit: {}, ...members });
  const changeset = (members: Partial<ChangesetState> = {}): ChangesetState => ({
    status: 'ready',
    files: [file('a'), file('b')],
    ...members,
  });
  const reduce = (state: ChangesetState, ...actions: ChangesetAction[]) =>
    actions.reduce((now, action) => changesetReducer(deepFreeze(now), deepFreeze(action)), state);

  it('[UP-236] changes its status, files and operations as in 0.2.0', () => {
    const failed = reduce(changeset(), { type: 'changeset/statusChanged', status: 'error', error: crash });
    expect(failed).toStrictEqual(changeset({ status: 'error', error: crash }));
    const again = reduce(failed, { type: 'changeset/statusChanged', status: 'computing', error: crash });
    expect(again).toStrictEqual(changeset({ status: 'computing' }));
    const files = reduce(
      changeset(),
      { type: 'changeset/fileSet', file: file('b', { reviewed: true }) },
      { type: 'changeset/fileSet', file: file('c') },
      { type: 'changeset/fileRemoved', fileId: 'a' },
    );
    expect(files.files).toStrictEqual([file('b', { reviewed: true }), file('c')]);
    expect(reduce(files, { type: 'changeset/fileRemoved', fileId: 'a' })).toBe(files);
    const operations = [operation('undo')];
    const offered = reduce(changeset(), { type: 'changeset/operationsChanged', operations });
    expect(offered).toStrictEqual(changeset({ operations }));
    expect(reduce(offered, { type: 'changeset/operationsChanged' })).toStrictEqual(changeset());
    const cleared = reduce(offered, { type: 'changeset/cleared' });
    expect(cleared).toStrictEqual(changeset({ files: [], operations }));
    expect(reduce(cleared, { type: 'changeset/cleared' })).toBe(cleared);
  });

  it('[UP-142] replaces its content; operations only when they are given', () => {
    const operations = [operation('undo')];
    const state = changeset({ operations, error: crash, status: 'error' });
    const changed = reduce(state, { type: 'changeset/contentChanged', files: [file('c')] });
    expect(changed).toStrictEqual({ status: 'error', files: [file('c')], operations });
    const other = reduce(changed, { type: 'changeset/contentChanged', files: [], operations: [], error: crash });
    expect(other).toStrictEqual({ status: 'error', files: [], operations: [], error: crash });
  });

  it('[UP-143] marks the named files as reviewed, or not', () => {
    const review = (reviewed: boolean, ...files: string[]): ChangesetAction => ({
      type: 'changeset/filesReviewChanged',
      files,
      reviewed,
    });
    const state = changeset();
    const seen = reduce(state, review(true, 'a', 'gone'));
    expect(seen.files).toStrictEqual([file('a', { reviewed: true }), file('b')]);
    expect(seen.files[1]).toBe(state.files[1]);
    expect(reduce(seen, review(true, 'a'))).toBe(seen);
    expect(reduce(seen, review(true, 'gone'))).toBe(seen);
    expect(reduce(seen, review(false, 'a')).files[0]).toStrictEqual(file('a', { reviewed: false }));
  });

  it('[UP-144] tells how an operation goes; an error only while it failed', () => {
    const to = (status: 'running' | 'error' | 'idle', error?: typeof crash): ChangesetAction => ({
      type: 'changeset/operationStatusChanged',
      operationId: 'undo',
      status,
      ...(error && { error }),
    });
    const state = changeset({ operations: [operation('keep'), operation('undo')] });
    const failed = reduce(state, to('error', crash));
    expect(failed.operations).toStrictEqual([operation('keep'), operation('undo', { status: 'error', error: crash })]);
    expect(reduce(failed, to('running', crash)).operations?.[1]).toStrictEqual(
      operation('undo', { status: 'running' }),
    );
    expect(reduce(failed, to('error')).operations?.[1]).toStrictEqual(operation('undo', { status: 'error' }));
    expect(reduce(state, to('idle'))).toBe(state);
    const none = changeset();
    expect(reduce(none, to('idle'))).toBe(none);
  });
});

describe('annotations', () => {
  const reduce = (state: AnnotationsState, ...actions: AnnotationsAction[]) =>
    actions.reduce((now, action) => annotationsReducer(deepFreeze(now), deepFreeze(action)), state);
  const state: AnnotationsState = { annotations: [annotation('a'), annotation('b')] };
  const update = { type: 'annotations/updated', annotationId: 'a' } as const;

  it('[UP-145] are set, each in its place, and removed', () => {
    const changed = annotation('a', { resolved: true });
    const set = reduce(
      state,
      { type: 'annotations/set', annotation: changed },
      { type: 'annotations/set', annotation: annotation('c') },
    );
    expect(set.annotations).toStrictEqual([changed, annotation('b'), annotation('c')]);
    const fewer = reduce(set, { type: 'annotations/removed', annotationId: 'a' });
    expect(fewer.annotations).toStrictEqual([annotation('b'), annotation('c')]);
    expect(reduce(fewer, { type: 'annotations/removed', annotationId: 'a' })).toBe(fewer);
  });

  it('[UP-145] change only in the members that are given', () => {
    const range = { start: { line: 1, character: 0 }, end: { line: 2, character: 0 } };
    const origin = { session: 'ahp-session:/two' };
    const moved = reduce(state, { ...update, range, resource: 'file:///w/lexer.ts', resolved: true, origin });
    expect(moved.annotations).toStrictEqual([
      annotation('a', { range, resource: 'file:///w/lexer.ts', resolved: true, origin }),
      annotation('b'),
    ]);
    expect(reduce(moved, { ...update, resolved: false }).annotations[0]).toMatchObject({ range, resolved: false });
    expect(reduce(state, update)).toBe(state);
    expect(reduce(state, { ...update, annotationId: 'gone', resolved: true })).toBe(state);
  });

  it('[UP-145] understand the older name of the turn', () => {
    const moved = reduce(state, { ...update, turnId: 'turn-2' });
    expect(moved.annotations[0]?.origin).toStrictEqual({ ...annotation('a').origin, turnId: 'turn-2' });
    expect(reduce(state, { ...update, turnId: 'turn-1' })).toBe(state);
  });

  it('[UP-145] have entries, which are set and removed by id', () => {
    const entry = { id: 'entry-2', text: 'Because.' };
    const set = { type: 'annotations/entrySet', annotationId: 'a', entry } as const;
    const added = reduce(state, set);
    expect(added.annotations[0]?.entries).toStrictEqual([{ id: 'entry-1', text: 'Why?' }, entry]);
    const edited = reduce(added, { ...set, entry: { id: 'entry-2', text: 'No.' } });
    expect(edited.annotations[0]?.entries[1]).toStrictEqual({ id: 'entry-2', text: 'No.' });
    const remove = { type: 'annotations/entryRemoved', annotationId: 'a', entryId: 'entry-1' } as const;
    const removed = reduce(edited, remove);
    expect(removed.annotations[0]?.entries).toHaveLength(1);
    expect(reduce(removed, remove)).toBe(removed);
    expect(reduce(state, { ...set, annotationId: 'gone' })).toBe(state);
    expect(reduce(state, { ...remove, annotationId: 'gone' })).toBe(state);
  });
});

describe('automations', () => {
  const entry = (id: string, title = id): AutomationEntry => ({
    resource: `ahp-automation:/${id}`,
    definition: {
      title,
      message: { text: 'Look', origin: { kind: 'automation' } },
      session: {},
      enabled: true,
      triggers: [],
    },
    runs: [],
    operations: ['run'],
    createdAt: 'then',
    modifiedAt: 'then',
  });
  const reduce = (state: AutomationState, ...actions: AutomationAction[]) =>
    actions.reduce((now, action) => automationReducer(deepFreeze(now), deepFreeze(action)), state);

  it('[UP-146] change by what the host says, not by what clients ask for', () => {
    const state = reduce(
      { entries: [] },
      { type: 'automation/set', automation: entry('a') },
      { type: 'automation/set', automation: entry('b') },
      { type: 'automation/set', automation: entry('a', 'Renamed') },
    );
    expect(state.entries).toStrictEqual([entry('a', 'Renamed'), entry('b')]);
    expect(reduce(state, { type: 'automation/createRequested' })).toBe(state);
    expect(reduce(state, { type: 'automation/updateRequested', resource: 'ahp-automation:/a' })).toBe(state);
    const fewer = reduce(state, { type: 'automation/removed', resource: 'ahp-automation:/a' });
    expect(fewer.entries).toStrictEqual([entry('b')]);
    expect(reduce(fewer, { type: 'automation/removed', resource: 'ahp-automation:/a' })).toBe(fewer);
  });

  it('[UP-147] a run has a life and sessions, one of them the main one', () => {
    const run: AutomationRunState = {
      resource: 'ahp-automation-run:/1',
      automation: 'ahp-automation:/a',
      origin: { kind: 'manual' },
      lifecycle: { status: 'pending', createdAt: 'then' },
      sessions: [],
    };
    const reduceRun = (state: AutomationRunState, ...actions: AutomationRunAction[]) =>
      actions.reduce((now, action) => automationRunReducer(deepFreeze(now), deepFreeze(action)), state);
    const lifecycle = { status: 'running', createdAt: 'then', startedAt: 'now' } as const;
    const started = reduceRun(
      run,
      { type: 'automationRun/lifecycleChanged', lifecycle },
      { type: 'automationRun/sessionSet', session: 'one' },
      { type: 'automationRun/sessionSet', session: 'two' },
      { type: 'automationRun/primarySessionChanged', primarySession: 'two' },
    );
    expect(started).toStrictEqual({ ...run, lifecycle, sessions: ['one', 'two'], primarySession: 'two' });
    expect(reduceRun(started, { type: 'automationRun/sessionSet', session: 'one' })).toBe(started);
    expect(reduceRun(started, { type: 'automationRun/cancelRequested' })).toBe(started);
    expect(reduceRun(started, { type: 'automationRun/sessionRemoved', session: 'gone' })).toBe(started);
    const secondary = reduceRun(started, { type: 'automationRun/sessionRemoved', session: 'one' });
    expect(secondary).toStrictEqual({ ...started, sessions: ['two'] });
    const none = reduceRun(secondary, { type: 'automationRun/sessionRemoved', session: 'two' });
    expect(none).toStrictEqual({ ...run, lifecycle });
    expect(reduceRun(started, { type: 'automationRun/primarySessionChanged' })).not.toHaveProperty('primarySession');
  });
});

describe('a canvas and a watch', () => {
  it('[UP-148] a canvas is replaced as a whole', () => {
    const before: CanvasState = { instanceId: '1', extensionId: 'e', canvasId: 'c', title: 'Old' };
    const canvas: CanvasState = { instanceId: '1', extensionId: 'e', canvasId: 'c', url: 'https://a.example' };
    expect(canvasReducer(deepFreeze(before), { type: 'canvas/stateChanged', canvas })).toBe(canvas);
  });

  it('[UP-236] a watch never changes', () => {
    const state = deepFreeze({ root: 'file:///w', recursive: true });
    expect(resourceWatchReducer(state, { type: 'resourceWatch/changed', changes: { items: [] } })).toBe(state);
  });
});

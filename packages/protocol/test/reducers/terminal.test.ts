import { describe, expect, it } from 'vitest';
import { terminalReducer } from '../../src/terminal/reducer.js';
import { BEFORE, commandPart, reduceTerminal, terminalState } from '../support/builders.js';

const text = (value: string) => ({ type: 'unclassified' as const, value });
const over = commandPart({ isComplete: true, output: 'ok\n', exitCode: 0 });

describe('terminal output', () => {
  const data = (chunk: string) => ({ type: 'terminal/data', data: chunk }) as const;

  it.each([
    { title: 'begins the content', content: [], expected: [text('hi')] },
    { title: 'goes on after output of no command', content: [text('oh ')], expected: [text('oh hi')] },
    {
      title: 'belongs to the command that runs',
      content: [text('$ '), commandPart({ output: 'oh ' })],
      expected: [text('$ '), commandPart({ output: 'oh hi' })],
    },
    { title: 'belongs to no command after one is over', content: [over], expected: [over, text('hi')] },
    {
      title: 'goes to the last part only, though a command before it runs',
      content: [commandPart(), text('oh ')],
      expected: [commandPart(), text('oh hi')],
    },
  ])('[ACT-050] $title', ({ content, expected }) => {
    const state = terminalState({ content, exitCode: 0 });
    expect(reduceTerminal(state, data('hi'))).toStrictEqual({ ...state, content: expected });
  });

  it('[ACT-050] shares the parts before the last', () => {
    const state = terminalState({ content: [over, text('oh ')] });
    expect(reduceTerminal(state, data('hi')).content[0]).toBe(over);
  });

  it('[ACT-051] does not come from input: that is for the process', () => {
    const state = terminalState({ content: [text('$ ')] });
    expect(reduceTerminal(state, { type: 'terminal/input', data: 'ls\n' })).toBe(state);
  });

  it('[ACT-057] is cleared, and nothing else is', () => {
    const state = terminalState({ content: [over, text('x')], supportsCommandDetection: true, exitCode: 2 });
    const result = reduceTerminal(state, { type: 'terminal/cleared' });
    expect(result).toStrictEqual({ ...state, content: [] });
    expect(reduceTerminal(result, { type: 'terminal/cleared' })).toBe(result);
  });
});

describe('a terminal', () => {
  it('[ACT-052] is resized, and returns the very same state for the same size', () => {
    const state = terminalState({ cols: 80 });
    const result = reduceTerminal(state, { type: 'terminal/resized', cols: 100, rows: 30 });
    expect(result).toStrictEqual({ ...state, cols: 100, rows: 30 });
    expect(result.content).toBe(state.content);
    expect(reduceTerminal(result, { type: 'terminal/resized', cols: 100, rows: 30 })).toBe(result);
  });

  it('[ACT-053] changes owner; nothing of the old claim survives', () => {
    const state = terminalState({ claim: { kind: 'session', session: 'ahp-session:/one', toolCallId: 'c' } });
    const claim = { kind: 'session' as const, session: 'ahp-session:/two' };
    const result = reduceTerminal(state, { type: 'terminal/claimed', claim });
    expect(result).toStrictEqual({ ...state, claim });
    expect(reduceTerminal(result, { type: 'terminal/claimed', claim })).toBe(result);
  });

  it('[ACT-054] changes its title', () => {
    const state = terminalState();
    const result = reduceTerminal(state, { type: 'terminal/titleChanged', title: 'Tests' });
    expect(result).toStrictEqual({ ...state, title: 'Tests' });
    expect(reduceTerminal(result, { type: 'terminal/titleChanged', title: 'Tests' })).toBe(result);
  });

  it('[ACT-055] changes its folder', () => {
    const state = terminalState();
    const result = reduceTerminal(state, { type: 'terminal/cwdChanged', cwd: 'file:///src' });
    expect(result).toStrictEqual({ ...state, cwd: 'file:///src' });
    expect(reduceTerminal(result, { type: 'terminal/cwdChanged', cwd: 'file:///src' })).toBe(result);
  });

  it('[ACT-056] exits, with a code or without one; the key is there either way', () => {
    const state = terminalState();
    expect(reduceTerminal(state, { type: 'terminal/exited', exitCode: 0 })).toStrictEqual({ ...state, exitCode: 0 });
    const killed = reduceTerminal(state, { type: 'terminal/exited' });
    expect(killed).toStrictEqual({ ...state, exitCode: undefined });
    expect(reduceTerminal(killed, { type: 'terminal/exited' })).toBe(killed);
  });
});

describe('commands in a terminal', () => {
  it('[ACT-058] can be told apart from now on', () => {
    const state = terminalState();
    const result = reduceTerminal(state, { type: 'terminal/commandDetectionAvailable' });
    expect(result).toStrictEqual({ ...state, supportsCommandDetection: true });
    expect(reduceTerminal(result, { type: 'terminal/commandDetectionAvailable' })).toBe(result);
  });

  it('[ACT-059] begin without output, and show that they can be told apart', () => {
    const state = terminalState({ content: [text('$ ')] });
    const action = { commandId: 'cmd-1', commandLine: 'make', timestamp: BEFORE };
    const result = reduceTerminal(state, { type: 'terminal/commandExecuted', ...action });
    expect(result).toStrictEqual({
      ...state,
      content: [text('$ '), { type: 'command', ...action, output: '', isComplete: false }],
      supportsCommandDetection: true,
    });
    expect(result.content[0]).toBe(state.content[0]);
  });

  it('[ACT-060] end, with output kept; keys are there even without code and duration', () => {
    const state = terminalState({ content: [text('$ '), commandPart({ output: 'ok\n' })] });
    const result = reduceTerminal(state, { type: 'terminal/commandFinished', commandId: 'cmd-1' });
    const ended = { ...commandPart({ output: 'ok\n' }), isComplete: true, exitCode: undefined, durationMs: undefined };
    expect(result).toStrictEqual({ ...state, content: [text('$ '), ended] });
    expect(result.content[0]).toBe(state.content[0]);
  });

  it('[ACT-060] end together when they share an id', () => {
    const other = commandPart({ commandId: 'cmd-2' });
    const state = terminalState({ content: [commandPart(), other, commandPart()] });
    const end = { type: 'terminal/commandFinished', commandId: 'cmd-1', exitCode: 1, durationMs: 40 } as const;
    const result = reduceTerminal(state, end);
    const ended = commandPart({ isComplete: true, exitCode: 1, durationMs: 40 });
    expect(result.content).toStrictEqual([ended, other, ended]);
    expect(reduceTerminal(result, end)).toBe(result);
  });

  it('[ACT-060] that nobody knows change nothing by their end', () => {
    const state = terminalState({ content: [text('$ '), commandPart()] });
    expect(reduceTerminal(state, { type: 'terminal/commandFinished', commandId: 'cmd-9' })).toBe(state);
  });
});

it('[ACT-050] starts a part of its own behind one of a kind that is not known', () => {
  const state = { title: 'sh', claim: { kind: 'client' as const, clientId: 'c' }, content: [{ type: 'image' }] };
  const after = terminalReducer(state as never, { type: 'terminal/data', data: 'hi' }, { now: 1 });
  expect(after.content).toEqual([{ type: 'image' }, { type: 'unclassified', value: 'hi' }]);
});

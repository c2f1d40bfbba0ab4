/** The histories that properties are tested with: legal, repeatable, and of every kind. */
import { describe, expect, it } from 'vitest';
import { sessionActions } from '../../src/session/actions.js';
import type { ToolCallState } from '../../src/session/tool-calls.js';
import { callsOf } from '../support/builders.js';
import { type HistoryStep, randomHistory } from '../support/session-history.js';

const steps = Array.from({ length: 60 }, (_, seed) => randomHistory(seed, 300)).flatMap((history) => history.steps);

describe('random histories', () => {
  it('repeat with their seed', () => {
    expect(randomHistory(7, 80)).toEqual(randomHistory(7, 80));
    expect(randomHistory(7, 80).final).not.toEqual(randomHistory(8, 80).final);
  });

  it('take every action of a session', () => {
    expect(new Set(steps.map(({ action }) => action.type))).toEqual(new Set(Object.keys(sessionActions)));
  });

  it('take every arrow in the life of a tool call', () => {
    expect([...new Set(steps.flatMap(arrows))].sort()).toEqual(ARROWS);
  });

  it('stay as long as asked, give or take a pair', () => {
    const { length } = randomHistory(3, 50).steps;
    expect(length === 50 || length === 51).toBe(true);
  });
});

const ARROWS = [
  'pending-confirmation -> cancelled',
  'pending-confirmation -> completed',
  'pending-confirmation -> pending-result-confirmation',
  'pending-confirmation -> running',
  'pending-result-confirmation -> cancelled',
  'pending-result-confirmation -> completed',
  'running -> completed',
  'running -> pending-confirmation',
  'running -> pending-result-confirmation',
  'streaming -> pending-confirmation',
  'streaming -> running',
];

function arrows({ before, after }: HistoryStep): string[] {
  const earlier = new Map(callsOf(before).map((call) => [call.toolCallId, call]));
  return callsOf(after).flatMap((call) => arrow(earlier.get(call.toolCallId), call));
}

function arrow(was: ToolCallState | undefined, is: ToolCallState): string[] {
  return was && was.status !== is.status ? [`${was.status} -> ${is.status}`] : [];
}

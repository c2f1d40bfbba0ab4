import { expect, it } from 'vitest';
import { SessionStatus, WorkClock } from '../../src/ahp-1/index.js';

const turn = (id: string) => ({ id, startedAt: '', message: { text: '' }, responseParts: [] }) as never;

it('the time that an agent waits for a person is no work, also before anybody has seen the turn [DAY-118]', () => {
  const clock = new WorkClock();
  expect(clock.workedMs(5)).toBeUndefined();
  const [works, asks] = [SessionStatus.InProgress, SessionStatus.InputNeeded];
  clock.see({ activeTurn: turn('a'), status: works }, 10);
  expect([clock.workedMs(15), clock.workedMs(15, 2)]).toEqual([5, 13]);
  clock.see({ activeTurn: turn('a'), status: asks }, 20);
  clock.see({ activeTurn: turn('a'), status: asks }, 90);
  expect(clock.workedMs(100)).toBe(10);
  clock.see({ activeTurn: turn('a'), status: works }, 120);
  expect(clock.workedMs(125)).toBe(15);
  clock.see({ activeTurn: turn('b'), status: works }, 130);
  expect(clock.workedMs(140)).toBe(10);
  clock.see({ activeTurn: undefined, status: SessionStatus.Idle }, 150);
  expect(clock.workedMs(160)).toBeUndefined();
});

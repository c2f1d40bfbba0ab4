/** Reads reducer fixtures: `{ description, reducer, initial, actions, expected }`, one JSON file each. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { changesetReducer } from '../../src/changeset/reducer.js';
import type { Reducer, UnknownAction } from '../../src/reducing.js';
import { resourceWatchReducer } from '../../src/resource-watch/reducer.js';
import { rootReducer } from '../../src/root/reducer.js';
import { sessionReducer } from '../../src/session/reducer.js';
import { terminalReducer } from '../../src/terminal/reducer.js';

export const REDUCERS = {
  root: rootReducer,
  session: sessionReducer,
  terminal: terminalReducer,
  changeset: changesetReducer,
  resourceWatch: resourceWatchReducer,
};

export interface Fixture {
  readonly file: string;
  readonly description: string;
  readonly reducer: keyof typeof REDUCERS;
  readonly initial: object;
  readonly actions: readonly UnknownAction[];
  readonly expected: object;
}

const packageFolder = new URL('../../', import.meta.url);
export const OWN_FIXTURES = fileURLToPath(new URL('fixtures/', packageFolder));
/** The published fixtures of AHP 0.2.0, when somebody has put them beside this checkout. */
export const PUBLISHED_FIXTURES = fileURLToPath(new URL('../../../shared/ahp-0.2.0/reducer-fixtures/', packageFolder));

export function readFixtures(folder: string): Fixture[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  return files.sort().map((file) => ({ file, ...JSON.parse(readFileSync(join(folder, file), 'utf8')) }));
}

/** JSON has no `undefined`: in a fixture, `null` stands for a key that is there and holds it. */
export function nullsToUndefined<T>(value: T): T {
  if (value === null) return undefined as T;
  if (Array.isArray(value)) return value.map(nullsToUndefined) as T;
  if (typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, nullsToUndefined(inner)])) as T;
}

/** Freezes all the way down, so that a reducer that mutates its input throws. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}

/** Runs a fixture on frozen input, as its file describes it. */
export function runFixture(fixture: Fixture): { result: unknown; expected: unknown } {
  const reduce = REDUCERS[fixture.reducer] as Reducer<unknown, UnknownAction>;
  const { initial, actions, expected } = nullsToUndefined(fixture);
  const result = actions.reduce(
    (state: unknown, action) => deepFreeze(reduce(state, deepFreeze(action), { now: 9999 })),
    deepFreeze(initial),
  );
  return { result, expected };
}

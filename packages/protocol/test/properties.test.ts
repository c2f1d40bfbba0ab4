/** What must hold for any sequence of actions. A failure prints the seed and the path to replay it with. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { states as stateValidators } from '../generated/ahp.js';
import { stateActions } from '../src/actions.js';
import { actionKind } from '../src/channels.js';
import type { SessionAction } from '../src/index.js';
import type { Reducer, UnknownAction } from '../src/reducing.js';
import type { SchemaNode } from '../src/schema/node.js';
import { channelStates } from '../src/schemas.js';
import { sessionReducer } from '../src/session/reducer.js';
import { arbitraryFrom } from './support/arbitrary.js';
import { deepFreeze, REDUCERS } from './support/fixtures.js';
import { randomHistory } from './support/session-history.js';

const RUNS = 150;
const kinds = Object.keys(channelStates) as (keyof typeof channelStates)[];

/** Any action of a kind of channel that its schema allows, whether or not it makes sense in the state it meets. */
const anyAction = (kind: string) =>
  fc.oneof(
    ...Object.entries(stateActions)
      .filter(([type]) => actionKind(type) === kind)
      .map(([, schema]) => arbitraryFrom(schema as SchemaNode)),
  ) as fc.Arbitrary<UnknownAction>;

const json = (value: unknown) => JSON.parse(JSON.stringify(value));

describe.each(kinds)('the %s reducer, for any valid actions in any state they lead to', (kind) => {
  const reduce = REDUCERS[kind] as Reducer<unknown, UnknownAction>;
  const anyState = arbitraryFrom(channelStates[kind] as SchemaNode);

  it('never throws, never mutates, and leaves a valid state', () => {
    fc.assert(
      fc.property(anyState, fc.array(anyAction(kind), { maxLength: 40 }), (initial, actions) => {
        const final = actions.reduce(
          (state: unknown, action) => deepFreeze(reduce(state, deepFreeze(action), { now: 5 })),
          deepFreeze(initial),
        );
        const validator = stateValidators.get(kind)?.check;
        expect(validator?.(json(final)), JSON.stringify(validator?.errors)).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it('gives the very same state back when an action of another kind, or of none, arrives', () => {
    fc.assert(
      fc.property(anyState, fc.constantFrom('unheard/of', 'toString', '__proto__', ''), (state, type) => {
        expect(reduce(state, { type }, { now: 5 })).toBe(state);
      }),
      { numRuns: 30 },
    );
  });
});

describe('a log of a session', () => {
  const seed = fc.integer({ min: 1, max: 2 ** 31 - 1 });

  it('replayed from its JSON gives what was seen live, from any snapshot on', () => {
    fc.assert(
      fc.property(seed, fc.nat(199), (number, cut) => {
        const { steps, final } = randomHistory(number, 200);
        const log = steps.map(({ action, now }) => json({ action, now }) as { action: SessionAction; now: number });
        const snapshot = json(steps[Math.min(cut, steps.length - 1)]?.before);
        const replayed = log
          .slice(Math.min(cut, steps.length - 1))
          .reduce((state, { action, now }) => sessionReducer(state, action, { now }), snapshot);
        expect(json(replayed)).toEqual(json(final));
      }),
      { numRuns: RUNS },
    );
  });

  it('reduced twice gives equal states: there is no clock and no chance inside', () => {
    fc.assert(
      fc.property(seed, (number) => {
        const { initial, steps, final } = randomHistory(number, 100);
        const again = steps.reduce((state, { action, now }) => sessionReducer(state, action, { now }), initial);
        expect(again).toStrictEqual(final);
      }),
      { numRuns: RUNS },
    );
  });
});

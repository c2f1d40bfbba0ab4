/** What must hold for any actions in any state. A failure prints the seed and the path to replay it with. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { states as stateValidators } from '../../generated/ahp-1.js';
import { actionKind } from '../../src/ahp-1/channels.js';
import type { ChatAction, ChatState, ResponsePart } from '../../src/ahp-1/index.js';
import { chatReducer, SessionStatus } from '../../src/ahp-1/index.js';
import { reducers } from '../../src/ahp-1/reducers.js';
import type { Reducer } from '../../src/ahp-1/reducing.js';
import { channelStates, stateActions } from '../../src/ahp-1/schemas.js';
import type { UnknownAction } from '../../src/reducing.js';
import type { SchemaNode } from '../../src/schema/node.js';
import { arbitraryFrom } from '../support/arbitrary.js';
import { deepFreeze } from '../support/fixtures.js';
import { chatState } from './support/builders.js';

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

describe.each(kinds)('[UP-083] the %s reducer', (kind) => {
  const reduce = reducers[kind] as Reducer<unknown, UnknownAction>;
  const anyState = arbitraryFrom(channelStates[kind] as SchemaNode);
  const anyLog = fc.array(anyAction(kind), { maxLength: 40 });

  it('never throws, never mutates, and leaves a valid state', () => {
    fc.assert(
      fc.property(anyState, anyLog, (initial, actions) => {
        const final = actions.reduce(
          (state: unknown, action) => deepFreeze(reduce(state, deepFreeze(action))),
          deepFreeze(initial),
        );
        const validator = stateValidators.get(kind)?.check;
        expect(validator?.(json(final)), JSON.stringify(validator?.errors)).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it('has no clock and no chance inside, and no memory that JSON does not have', () => {
    fc.assert(
      fc.property(anyState, anyLog, (initial, actions) => {
        const live = actions.reduce<unknown>(reduce, initial);
        const replayed = actions.reduce<unknown>((state, action) => json(reduce(state, json(action))), json(initial));
        expect(json(live)).toEqual(replayed);
      }),
      { numRuns: RUNS },
    );
  });

  it('[UP-014] gives the very same state back when an action of an unknown type arrives', () => {
    fc.assert(
      fc.property(anyState, fc.constantFrom('unheard/of', 'toString', '__proto__', ''), (state, type) => {
        expect(reduce(state, { type })).toBe(state);
      }),
      { numRuns: 30 },
    );
  });

  it('copies nothing when nothing changes', () => {
    const told = anyAction(kind).filter((action) => !BUILT_ANEW.has(action.type) && !('replace' in action));
    fc.assert(
      fc.property(anyState, told, (initial, action) => {
        const once = reduce(initial, action);
        const twice = reduce(once, action);
        if (isDeepStrictEqual(twice, once)) expect(twice).toBe(once);
      }),
      { numRuns: RUNS * 4 },
    );
  });
});

/**
 * Actions whose handlers build an entry of their own out of the action, equal but not the same each time. Configuration
 * that is replaced is copied, too.
 */
const BUILT_ANEW = new Set(['chat/pendingMessageSet', 'chat/inputRequested', 'chat/toolCallReady']);

describe('the status of a chat', () => {
  const { Idle, Error: Failed, InProgress, InputNeeded } = SessionStatus;
  const ASKING = ['pending-confirmation', 'pending-result-confirmation', 'auth-required'];

  const isOpen = (part: ResponsePart) =>
    (part.kind === 'inputRequest' && !part.response) ||
    (part.kind === 'toolCall' && ASKING.includes(part.toolCall.status));

  /** Said again, independent of the reducer: what the five lowest bits may be. */
  function allowed({ activeTurn }: ChatState): number[] {
    if (!activeTurn) return [Idle, Failed];
    return [activeTurn.responseParts.some(isOpen) ? InputNeeded : InProgress];
  }

  /** A host asks with `chat/inputRequested` and `chat/toolCallReady`: it never streams a part that already waits. */
  const tells = (action: UnknownAction) => {
    const { type, part } = action as { type: string; part?: ResponsePart };
    return type !== 'chat/responsePart' || (part !== undefined && !isOpen(part));
  };

  it('[UP-107] is what the active turn says, in every state that actions lead to', () => {
    fc.assert(
      fc.property(fc.array(anyAction('chat').filter(tells), { maxLength: 60 }), (actions) => {
        let state = chatState();
        for (const action of actions) {
          state = chatReducer(state, action as ChatAction);
          expect(allowed(state), action.type).toContain(state.status & 31);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('[UP-107] keeps the flags above the activity, but for the mark that it was read', () => {
    fc.assert(
      fc.property(fc.array(anyAction('chat').filter(tells), { maxLength: 30 }), (actions) => {
        const higher = 128 | 256;
        const final = actions.reduce<ChatState>(chatReducer, chatState({ status: Idle | higher }));
        expect(final.status & higher).toBe(higher);
      }),
      { numRuns: RUNS },
    );
  });
});

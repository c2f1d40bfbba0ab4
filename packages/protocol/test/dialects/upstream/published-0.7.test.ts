/**
 * The published files of AHP 0.7.0, where they are at hand: fixtures and round-trips come back from the shapes of 1.0 as
 * they went there, and what the host says to a client of 0.7 is valid by the published schemas.
 */
import { existsSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stateActions } from '../../../src/ahp-1/actions.js';
import { reducers } from '../../../src/ahp-1/reducers.js';
import { channelStates } from '../../../src/ahp-1/states.js';
import { RESYNC } from '../../../src/dialects/upstream/delta.js';
import { isJson, type Json } from '../../../src/dialects/upstream/shapes.js';
import { type Action, type VersionCodec, versionCodec } from '../../../src/dialects/upstream/stack.js';
import type { SchemaNode } from '../../../src/schema/node.js';
import { readJson, UPSTREAM_FOLDER, type UpstreamFixture } from '../../ahp-1/support/upstream-0.7.js';
import { arbitraryFrom } from '../../support/arbitrary.js';
import { chatHistory } from './support/chat-history.js';
import { comparable } from './support/comparable.js';
import { knownOnly } from './support/known-only.js';
import type { Kind, Reduce } from './support/older-reducers.js';

const codec = versionCodec('0.7.0') as VersionCodec;

const isHere = existsSync(UPSTREAM_FOLDER);
const fixtures = readJson<UpstreamFixture>('reducer-fixtures');
const surroundings = {
  channel: 'ahp-session:/s/annotations',
  defaultChatOf: (session: string) => `chat-of:${session}`,
};

/** `null` stands for a member that holds nothing: in fixtures, and in partial changes that remove it. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJson(value)) return value;
  const members = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(members.map(([key, inner]) => [key, withoutNulls(inner)]));
}

describe.skipIf(!isHere)(
  '[UP-217] the published fixtures of AHP 0.7.0, lifted to 1.0, reduced there and lowered again (skipped: not here)',
  () => {
    it.each(fixtures.map((fixture) => [fixture.file, fixture] as const))('%s', (_file, fixture) => {
      const kind = fixture.reducer as Kind;
      const { initial, actions, expected } = withoutNulls(fixture) as {
        initial: Json;
        actions: Action[];
        expected: Json;
      };
      const lifted = codec.stateUp(kind, initial, surroundings);
      const reduced = actions
        .map((action) => codec.actionUp(action, surroundings))
        .reduce((state, action) => (reducers[kind] as unknown as Reduce)(state, action), lifted);
      expect(comparable('0.7.0', codec.stateDown(kind, reduced))).toEqual(comparable('0.7.0', expected));
    });
  },
);

interface RoundTrip {
  readonly type: string;
  readonly input: Json;
}

const trips = readJson<RoundTrip>('round-trips').filter(({ type }) => type !== 'JsonRpcMessage');

/** What the host does with a value of 0.7: it lifts it, and lowers it for another client. */
function roundTrip({ type, input }: RoundTrip): unknown {
  const action = (value: Json) => codec.actionDown(codec.actionUp(value as Action, surroundings));
  switch (type) {
    case 'StateAction':
      return action(input);
    case 'ActionEnvelope':
      return { ...input, action: action(input.action as Json) };
    case 'ChatSource':
      return (codec.paramsUp('createChat', { source: input }) as { source: Json }).source;
    case 'InitializeResult':
      return codec.resultDown('initialize', input);
    case 'SessionAddedParams':
      return codec.notificationDown('root/sessionAdded', input);
    default:
      return codec.shapeDown(type, input);
  }
}

describe.skipIf(!isHere)('[UP-219] the published round-trips of AHP 0.7.0 (skipped: not here)', () => {
  it.each(trips.map((trip) => [trip.file, trip] as const))('%s', (_file, trip) => {
    expect(roundTrip(trip)).toEqual(trip.input);
  });
});

/** The published definitions; a status is a sum of bits, which they forgot. */
function published(): Json {
  const [file] = readJson<{ $defs: Json }>('schema').filter((each) => each.file === 'errors.schema.json');
  const text = JSON.stringify(file?.$defs ?? {}).replaceAll('"oneOf":', '"anyOf":');
  return { ...JSON.parse(text), SessionStatus: { type: 'number' } };
}

function validators() {
  const $defs = published();
  const ajv = new Ajv2020({ strict: false, allErrors: false });
  const compiled = new Map<string, ReturnType<typeof ajv.compile>>();
  return (name: string, value: unknown): string | undefined => {
    const validate = compiled.get(name) ?? ajv.compile({ $ref: `#/$defs/${name}`, $defs });
    compiled.set(name, validate);
    return validate(value) ? undefined : `${name}: ${ajv.errorsText(validate.errors)} ${JSON.stringify(value)}`;
  };
}

/** The names of the published definitions of each action type. */
function actionNames(): Map<string, string> {
  const named = new Map<string, string>();
  for (const [name, definition] of Object.entries(published())) {
    const type = (definition as { properties?: { type?: { const?: string } } }).properties?.type?.const;
    if (type?.includes('/')) named.set(type, name);
  }
  return named.set('chat/toolCallConfirmed', 'ChatToolCallConfirmedAction');
}

/** Actions that are dropped when nothing of what they hold can be said. */
const mayHoldNothing = (type: string) => type === 'session/chatUpdated' || type === 'chat/responsePart';

const plain = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value));
const KINDS = ['root', 'session', 'chat', 'terminal', 'changeset', 'annotations', 'resourceWatch'] as const;

describe.skipIf(!isHere)(
  '[UP-014] what a client of 0.7 gets is valid by the published schemas (skipped: not here)',
  () => {
    const problem = validators();
    const names = actionNames();

    it.each(Object.entries(stateActions))('%s', (type, schema) => {
      const any = arbitraryFrom(knownOnly(plain(schema)) as SchemaNode) as fc.Arbitrary<Action>;
      fc.assert(
        fc.property(any, (action) => {
          const told = codec.actionDown(plain(action));
          if (told === undefined || told === RESYNC) expect(codec.hasAction(type) && !mayHoldNothing(type)).toBe(false);
          else expect(problem(names.get(told.type) ?? type, withoutNulls(plain(told)))).toBeUndefined();
        }),
        { numRuns: 25 },
      );
    });

    it.each(KINDS)('any state of a %s channel', (kind) => {
      const any = arbitraryFrom(knownOnly(plain(channelStates[kind])) as SchemaNode) as fc.Arbitrary<Json>;
      const name = `${kind[0]?.toUpperCase()}${kind.slice(1)}State`;
      fc.assert(
        fc.property(any, (state) => {
          expect(problem(name, plain(codec.stateDown(kind, plain(state))))).toBeUndefined();
        }),
        { numRuns: 30 },
      );
    });

    it('the states and actions of histories of chats', () => {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), (seed) => {
          for (const { action, after } of chatHistory(seed, 60)) {
            const told = codec.actionDown(action as unknown as Action);
            if (told !== undefined && told !== RESYNC)
              expect(problem(names.get(told.type) ?? '', plain(told))).toBeUndefined();
            expect(problem('ChatState', plain(codec.stateDown('chat', after as unknown as Json)))).toBeUndefined();
          }
        }),
        { numRuns: 8 },
      );
    });
  },
);

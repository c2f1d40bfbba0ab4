/**
 * The law of every dialect: a client that reduces the translated actions comes to the translated state. Checked for each
 * version against reference reducers of that version.
 */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stateActions } from '../../../src/ahp-1/actions.js';
import { actionKind } from '../../../src/ahp-1/channels.js';
import { reducers } from '../../../src/ahp-1/reducers.js';
import { RESYNC, translatorOf } from '../../../src/dialects/upstream/delta.js';
import type { Json } from '../../../src/dialects/upstream/shapes.js';
import { type Action, DELTAS, VERSION_CODECS, type VersionCodec } from '../../../src/dialects/upstream/stack.js';
import type { SchemaNode } from '../../../src/schema/node.js';
import { arbitraryFrom } from '../../support/arbitrary.js';
import { deepFreeze } from '../../support/fixtures.js';
import { chatHistory } from './support/chat-history.js';
import { comparable } from './support/comparable.js';
import { knownOnly } from './support/known-only.js';
import { type Kind, OLDER_REDUCERS, type Reduce } from './support/older-reducers.js';

interface AnyStep {
  readonly action: Action;
  readonly before: Json;
  readonly after: Json;
}

/** A client of an older version that follows a channel. */
function follow(codec: VersionCodec, kind: Kind, steps: readonly AnyStep[]): void {
  const reduce = OLDER_REDUCERS[codec.version]?.[kind];
  const down = (state: Json) => codec.stateDown(kind, state) as Json;
  let mirror = down(steps[0]?.before ?? {});
  for (const { action, before, after } of steps) {
    const told = codec.actionDown(action, { before, after });
    const cannotFollow = told === RESYNC || isUntold(codec, action);
    mirror = cannotFollow ? down(after) : told && reduce ? reduce(mirror, told) : mirror;
    const [seen, meant] = [comparable(codec.version, mirror), comparable(codec.version, down(after))];
    // The strict comparison of Vitest is slow, and only needed to say what differs.
    if (!isDeepStrictEqual(seen, meant)) expect(seen, JSON.stringify(action)).toStrictEqual(meant);
  }
}

/** 0.5.0 clients ask for older turns instead of being told. */
const isUntold = ({ version }: VersionCodec, { type }: Action) => version === '0.5.0' && type === 'chat/turnsLoaded';

const NOW = '2026-10-01T09:00:00.000Z';

/** Chat actions that clients dispatch. */
const FROM_CLIENTS: ReadonlySet<string> = new Set([
  'chat/turnStarted',
  'chat/turnCancelled',
  'chat/toolCallConfirmed',
  'chat/toolCallComplete',
  'chat/toolCallResultConfirmed',
  'chat/toolCallContentChanged',
  'chat/pendingMessageSet',
  'chat/pendingMessageRemoved',
  'chat/queuedMessagesReordered',
  'chat/inputAnswerChanged',
  'chat/inputCompleted',
  'chat/truncated',
  'chat/draftChanged',
]);

/** Channels whose reducers bear any action in any order. */
const NEW_STATES = {
  root: { agents: [] },
  session: { provider: 'echo', title: '', status: 1, lifecycle: 'creating', activeClients: [], chats: [] },
  terminal: { title: '', content: [], lifecycle: { status: 'running' }, claim: { kind: 'client', clientId: 'c' } },
  changeset: { status: 'ready', files: [] },
  annotations: { annotations: [] },
} satisfies Partial<Record<Kind, Json>>;

/** Any actions of a kind of channel, with the states that they lead through. */
function anySteps(kind: keyof typeof NEW_STATES): fc.Arbitrary<AnyStep[]> {
  const schemas = Object.entries(stateActions).filter(([type]) => actionKind(type) === kind);
  const any = schemas.map(([, schema]) => arbitraryFrom(knownOnly(JSON.parse(JSON.stringify(schema))) as SchemaNode));
  const reduce = reducers[kind] as unknown as Reduce;
  return fc.array(fc.oneof(...any), { minLength: 1, maxLength: 30 }).map((actions) => {
    let state: Json = NEW_STATES[kind];
    return (actions as Action[]).map((raw) => {
      const [action, before] = [withOwnIds(raw), state];
      state = reduce(state, action);
      return { action, before, after: state };
    });
  });
}

/** No two customizations of a session have the same id. */
function withOwnIds(action: Action): Action {
  const seen = new Set<unknown>();
  const own = (list: unknown): Json[] =>
    (list as Json[])
      .filter(({ id }) => !seen.has(id) && seen.add(id))
      .map((entry) => {
        return Array.isArray(entry.children) ? { ...entry, children: own(entry.children) } : entry;
      });
  if (Array.isArray(action.customizations)) return { ...action, customizations: own(action.customizations) };
  return action.type === 'session/customizationUpdated'
    ? { ...action, customization: own([action.customization])[0] }
    : action;
}

const RUNS = 10;
const seed = fc.integer({ min: 1, max: 2 ** 31 - 1 });
const chatSteps = (number: number) => chatHistory(number, 100) as unknown as AnyStep[];

const versions = VERSION_CODECS.map((codec) => [codec.version, codec] as const);

describe.each(versions)('[UP-217] a client of AHP %s', (_version, codec) => {
  it('follows any history of a chat', () => {
    fc.assert(
      fc.property(seed, (number) => follow(codec, 'chat', chatSteps(number))),
      { numRuns: RUNS },
    );
  });

  it.each(Object.keys(NEW_STATES) as (keyof typeof NEW_STATES)[])('follows any actions of a %s channel', (kind) => {
    fc.assert(
      fc.property(anySteps(kind), (steps) => follow(codec, kind, steps)),
      { numRuns: RUNS * 4 },
    );
  });

  it('[UP-235] says what it means: its own actions do in 1.0 what they do in its version', () => {
    fc.assert(
      fc.property(seed, (number) => {
        for (const { action, before, after } of chatSteps(number)) {
          if (!FROM_CLIENTS.has(action.type) || !codec.hasAction(action.type)) continue;
          const sent = codec.actionDown(action, { before, after });
          if (sent === undefined || sent === RESYNC) continue;
          // What older clients do not send, the host fills in.
          const filled = { startedAt: NOW, duration: 5, ...codec.actionUp(sent, { channel: 'ahp-chat:/history' }) };
          const done = codec.stateDown('chat', reducers.chat(before as never, filled as never) as unknown as Json);
          expect(comparable(codec.version, done)).toEqual(comparable(codec.version, codec.stateDown('chat', after)));
        }
      }),
      { numRuns: 4 },
    );
  });
});

describe('the deltas', () => {
  it('[UP-012] lie on each other: the oldest version is all of them, one after another', () => {
    const oldest = VERSION_CODECS.at(-1);
    const step = (state: Json, { down }: (typeof DELTAS)[number]) =>
      translatorOf(down).translate('ChatState', state, {}) as Json;
    for (const { after } of chatSteps(11)) {
      expect(oldest?.stateDown('chat', after)).toEqual(DELTAS.reduce(step, after));
    }
  });

  it('never change what they are given', () => {
    for (const codec of VERSION_CODECS) {
      for (const { action, before, after } of deepFreeze(chatSteps(12))) {
        codec.actionDown(action, { before, after });
        codec.stateUp('chat', codec.stateDown('chat', after) ?? {});
      }
    }
  });
});

it('histories of chats reach every state of a tool call and every part', () => {
  const parts = chatHistory(7, 4000).flatMap(({ after }) => after.activeTurn?.responseParts ?? []);
  const reached = new Set(parts.map((part) => (part.kind === 'toolCall' ? part.toolCall.status : part.kind)));
  expect([...reached].sort()).toEqual([
    'auth-required',
    'cancelled',
    'completed',
    'contentRef',
    'error',
    'inputRequest',
    'markdown',
    'pending-confirmation',
    'pending-result-confirmation',
    'reasoning',
    'running',
    'streaming',
    'systemNotification',
  ]);
});

/** What clients of each version of the protocol do with what they get: how they keep a mirror, and what it is compared by. */
import type { LogEntry } from '@atrium/core/log/log.js';
import { type RootState, rootReducer, type SessionState, type StateAction, sessionReducer } from '@atrium/protocol';
import { channelKind, defaultChatUri, reducers, sessionOfDefaultChat } from '@atrium/protocol/ahp-1';
import { dialectNamed, type ModelView, NO_MEMORY, type ReferTo } from '@atrium/protocol/dialects';
import { comparable } from '../../../protocol/test/dialects/upstream/support/comparable.js';
import { OLDER_REDUCERS, type Reducers } from '../../../protocol/test/dialects/upstream/support/older-reducers.js';
import { withoutTimes } from './fuzz-difference.js';

/** An action of any version. */
export interface AnyAction {
  readonly type: string;
  readonly [member: string]: unknown;
}

export interface AnyEnvelope {
  readonly channel: string;
  readonly action: AnyAction;
  readonly serverSeq: number;
  readonly origin?: { readonly clientId: string; readonly clientSeq: number } | undefined;
  readonly rejectionReason?: string | undefined;
}

export interface FuzzWire {
  /** Whether a session and its conversation are channels of their own. */
  readonly hasChats: boolean;
  reduce(channel: string, state: object, envelope: AnyEnvelope): object;
  /** A state without what a mirror cannot know. */
  comparable(state: object): unknown;
}

/** The wire of the highest version that a client offers. */
export function wireOf(version: string): FuzzWire {
  if (version === '0.3.0' || version === '0.2.0') return SESSIONS_ONLY;
  const older = OLDER_REDUCERS[version];
  return older ? withChats(older, (state) => comparable(version, state)) : NATIVE;
}

/** Versions whose sessions hold their conversation. */
const SESSIONS_ONLY: FuzzWire = {
  hasChats: false,
  reduce: (channel, state, { action, serverSeq }) => {
    const context = { now: serverSeq };
    const reduced = action as unknown as StateAction;
    return channelKind(channel) === 'root'
      ? rootReducer(state as RootState, reduced, context)
      : sessionReducer(state as SessionState, reduced, context);
  },
  comparable: withoutTimes,
};

function withChats(all: Reducers, view: (state: object) => unknown): FuzzWire {
  return {
    hasChats: true,
    reduce: (channel, state, { action }) => {
      const reduce = all[channelKind(channel) as keyof Reducers];
      return reduce(state as Parameters<typeof reduce>[0], action);
    },
    comparable: view,
  };
}

const NATIVE: FuzzWire = withChats(reducers as unknown as Reducers, (state) => state);

/** A host that knows nothing but how default chats are named. */
const VIEW: ModelView = {
  providerOf: () => 'mock',
  sessionUriOf: sessionOfDefaultChat,
  defaultChatOf: defaultChatUri,
  summaryOf: () => undefined,
  sessionOf: () => undefined,
  chatOf: () => undefined,
  memoryOf: () => undefined,
};

/** A stored entry as a client of a version is told it, by a host that has no states: a replay after a restart is so. */
export function toldOf(version: string, entry: LogEntry, referTo?: ReferTo): AnyEnvelope | undefined {
  const { channel, seq, origin } = entry;
  const sender = origin && { origin: { clientId: origin.clientId, clientSeq: origin.clientSeq } };
  const envelope = { channel, action: JSON.parse(entry.action), serverSeq: seq, ...sender };
  const steps = [{ envelope, before: undefined, after: undefined }];
  const group = { channel: sessionOfDefaultChat(channel) ?? channel, steps, stateBefore: () => undefined };
  const { frames = [] } = dialectNamed(version)?.encodeSteps(NO_MEMORY, group, viewWith(referTo)) ?? {};
  return frames[0]?.params as AnyEnvelope | undefined;
}

function viewWith(referTo: ReferTo | undefined): ModelView {
  return referTo ? { ...VIEW, referTo } : VIEW;
}

/** A state as a client of 1.0 is shown it. */
export function shownTo1(resource: string, state: object, referTo: ReferTo | undefined): unknown {
  const parts = [{ resource, state, fromSeq: 0 }] as never;
  const shown = dialectNamed('1.0.0')?.encodeSnapshot({ channel: resource, parts }, {}, viewWith(referTo));
  return (shown as { readonly state: unknown } | undefined)?.state;
}

/** Where two values differ in what the second has: a host adds members, as the time of a message. */
export function withMembersOf(actual: unknown, asked: unknown): unknown {
  if (Array.isArray(actual) && Array.isArray(asked) && actual.length === asked.length) {
    return actual.map((entry, index) => withMembersOf(entry, asked[index]));
  }
  if (!isRecord(actual) || !isRecord(asked)) return actual;
  const shared = Object.keys(asked).filter((key) => key in actual);
  return Object.fromEntries(shared.map((key) => [key, withMembersOf(actual[key], asked[key])]));
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

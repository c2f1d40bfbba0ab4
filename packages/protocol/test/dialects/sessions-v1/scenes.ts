/** What the tests of dialects share: steps made by the real reducer, and a host to look things up in. */
import type { ActionOrigin } from '../../../src/common/envelope.js';
import {
  type ChannelMemory,
  type HostView,
  type InboundRequest,
  NO_MEMORY,
  type Step,
} from '../../../src/dialects/index.js';
import { translateSteps } from '../../../src/dialects/sessions-v1/actions.js';
import type { SessionsV1Action } from '../../../src/dialects/sessions-v1/wire.js';
import type { SessionAction } from '../../../src/session/actions.js';
import { sessionReducer } from '../../../src/session/reducer.js';
import type { SessionState } from '../../../src/session/state.js';
import { deepFreeze } from '../../support/fixtures.js';

/** The session of the builders, under its two names. */
export const CHANNEL = 'ahp-session:/one';
export const WIRE_SESSION = 'echo:/one';

export const ORIGIN: ActionOrigin = { clientId: 'desk', clientSeq: 4 };

/** Consecutive steps from a state; the first action gets number 1. */
export function stepsFrom(state: SessionState, actions: readonly SessionAction[], origin?: ActionOrigin): Step[] {
  let before = deepFreeze(state);
  return actions.map((action, index) => {
    const after = deepFreeze(sessionReducer(before, deepFreeze(action), { now: 5_000 }));
    const step = { envelope: { channel: CHANNEL, action, serverSeq: index + 1, origin }, before, after };
    before = after;
    return step;
  });
}

/** What a sessions-v1 client gets for some actions that happen in one tick. */
export function sent(state: SessionState, ...actions: SessionAction[]): SessionsV1Action[] {
  return translateSteps(NO_MEMORY, stepsFrom(state, actions)).frames.map(({ action }) => action);
}

export function typesSent(state: SessionState, ...actions: SessionAction[]): string[] {
  return sent(state, ...actions).map(({ type }) => type);
}

/** A host with some sessions. */
export function hostWith(...sessions: SessionState[]): HostView & { readonly memories: Map<string, ChannelMemory> } {
  const byChannel = new Map(sessions.map((state) => [state.summary.resource, state]));
  const memories = new Map<string, ChannelMemory>();
  return {
    memories,
    providerOf: (channel) => byChannel.get(channel)?.summary.provider,
    sessionOf: (channel) => byChannel.get(channel),
    memoryOf: (channel) => memories.get(channel),
  };
}

/** The forwarded form of a request that is expected to be forwarded. */
export function forwarded(inbound: InboundRequest) {
  if (inbound.kind !== 'forward') throw new Error(`Expected a request to be forwarded: ${JSON.stringify(inbound)}`);
  return inbound;
}

/** As it would arrive: without members that are undefined. */
export function onTheWire(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

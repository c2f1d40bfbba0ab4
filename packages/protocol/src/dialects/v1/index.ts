/** Version 1 as a dialect. This folder alone knows its shapes. */
import type { Dialect } from '../dialect.js';
import { errorToV1 } from './errors.js';
import { translateNotification, translateRequest } from './inbound.js';
import { actionFrame, alsoFlat, notificationToV1, ownActionFrame } from './notifications.js';
import { remember } from './permissions.js';
import { shownSnapshot } from './replies.js';
import { acceptedSteps, translateSteps } from './steps.js';

export const v1: Dialect = {
  version: '1',
  notifiesEveryone: true,
  request: translateRequest,
  notification: translateNotification,
  encodeError: errorToV1,
  encodeSnapshot: shownSnapshot,
  remember: (memory, steps) => acceptedSteps(steps).reduce(remember, memory),
  encodeSteps: (memory, steps) => {
    const { frames, ...rest } = translateSteps(memory, steps);
    return { ...rest, frames: frames.map(actionFrame) };
  },
  encodeEcho: ownActionFrame,
  encodeRejection: ownActionFrame,
  encodeNotification: (call, view) => notificationToV1(call, view.providerOf),
  maySend: () => false,
};

/** Version 1 for connections that spell the root `agenthost:/root`: actions come flat and wrapped, in one message. */
export const v1Slash: Dialect = {
  ...v1,
  encodeSteps: (memory, steps) => {
    const { frames, ...rest } = v1.encodeSteps(memory, steps);
    return { ...rest, frames: frames.map(alsoFlat) };
  },
  encodeEcho: (original, stamp) => alsoFlat(v1.encodeEcho(original, stamp)),
  encodeRejection: (original, stamp) => alsoFlat(v1.encodeRejection(original, stamp)),
};

export { isV1Initialize, isV1Reconnect } from './detect.js';
export type { TurnRange } from './fetch-turns.js';
export type { IndexedTurns } from './replies.js';
export { sessionFromV1, sessionToV1 } from './uris.js';

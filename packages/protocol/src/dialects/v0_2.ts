/** AHP 0.2.0: the frames of 0.3.0 without what came later. */
import { isActionKnown, isNotificationKnown, isServerCommandKnown } from '../versions/registry.js';
import type { Dialect } from './dialect.js';
import { v0_3 } from './v0_3.js';

const version = '0.2.0';

export const v0_2: Dialect = {
  ...v0_3,
  version,
  encodeSteps: (memory, steps) =>
    v0_3.encodeSteps(
      memory,
      steps.filter(({ envelope }) => isActionKnown(envelope.action.type, version)),
    ),
  encodeNotification: (call, view) =>
    isNotificationKnown(call.method, version) ? v0_3.encodeNotification(call, view) : undefined,
  maySend: (method) => v0_3.maySend(method) && isServerCommandKnown(method, version),
};

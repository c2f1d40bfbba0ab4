/** AHP 0.2.0: the frames of 0.3.0 without later messages. */
import { isActionKnown, isNotificationKnown, isServerCommandKnown } from '../../versions/introduced-in.js';
import { ahp03 } from '../ahp-0.3/codec.js';
import type { Dialect03 } from '../dialect-0.3.js';
import { AHP_0_2 } from './traits.js';

const { version } = AHP_0_2;

export const ahp02: Dialect03 = {
  ...ahp03,
  traits: AHP_0_2,
  forConnection: () => ahp02,
  encodeSteps: (memory, steps) =>
    ahp03.encodeSteps(
      memory,
      steps.filter(({ envelope }) => isActionKnown(envelope.action.type, version)),
    ),
  encodeNotification: (call, view) =>
    isNotificationKnown(call.method, version) ? ahp03.encodeNotification(call, view) : undefined,
  canSend: (method) => ahp03.canSend(method) && isServerCommandKnown(method, version),
};

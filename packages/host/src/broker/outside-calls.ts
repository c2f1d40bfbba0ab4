/** Calls that somebody else runs, the agent itself or a client: extensions are told when one begins and when it is over. */
import type { GateCall } from '../extensions/extension.js';
import type { TurnRunner } from '../sessions/turn.js';

/** Who runs it waits until everybody has heard. */
export async function tellBegins({ session }: TurnRunner, call: GateCall): Promise<void> {
  for (const extension of session.extensions.all()) await extension.outsideCallBegins?.(call);
}

export async function tellEnds({ session }: TurnRunner, call: GateCall): Promise<void> {
  for (const extension of session.extensions.all()) await extension.outsideCallEnds?.(call);
}

/** Calls that somebody else runs, the agent itself or a client: extensions are told when one begins and when it is over. */
import type { Extension, GateCall } from '../contracts/extension.js';
import type { TurnRunner } from '../sessions/turn.js';

/** Who runs it waits until everybody has heard. */
export function tellBegins(turn: TurnRunner, call: GateCall): Promise<void> {
  return tell(turn, (extension) => extension.outsideCallBegins?.(call));
}

export function tellEnds(turn: TurnRunner, call: GateCall): Promise<void> {
  return tell(turn, (extension) => extension.outsideCallEnds?.(call));
}

/** To be told is no say in the matter: one that fails stops neither the call nor the turn. */
async function tell({ session }: TurnRunner, what: (extension: Extension) => Promise<void> | undefined): Promise<void> {
  for (const extension of session.extensions.all()) {
    try {
      await what(extension);
    } catch (error) {
      const about = { session: session.uri, extension: extension.name, error: String(error) };
      session.parts.core.logger.log('warn', 'an extension failed', about);
    }
  }
}

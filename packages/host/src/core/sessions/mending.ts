/** What a session does after something went wrong around it: a crash, a full disk, a client that did not come back. */
import type { ErrorInfo, StateAction } from '@atrium/protocol';
import { STORE_RETRY_MS } from '../limits.js';
import { endCutCalls } from './cut-calls.js';
import type { InterruptedCommands } from './running-commands.js';
import type { Session } from './session.js';

function hostRestarted(isCallCut: boolean): ErrorInfo {
  const calls = isCallCut ? ' A tool was interrupted while it ran: see what it has done before you repeat it.' : '';
  const message = `The host stopped while this turn was running.${calls} Send the message again to go on.`;
  return { errorType: 'host-restarted', message };
}

const DAMAGED: ErrorInfo = {
  errorType: 'damaged',
  message: 'Part of this turn was damaged on disk and is missing here. Send the message again to go on.',
};

const NOT_STORED: ErrorInfo = {
  errorType: 'not-stored',
  message: 'The host could not store what the agent did. Send the message again to go on.',
};

/** What the host does without an agent: when it is lost, a running turn can go on. */
const OUTSIDE_TURNS: ReadonlySet<string> = new Set([
  'session/ready',
  'session/creationFailed',
  'session/activeClientChanged',
  'session/customizationsChanged',
  'session/customizationUpdated',
  'session/customizationRemoved',
  'session/turnCancelled',
]);

/** A crash cut the session off: its calls and its turn end as errors that say so, its creation goes on. */
export function afterCrash(session: Session, commands: InterruptedCommands): void {
  const { activeTurn, lifecycle } = session.state;
  if (activeTurn) fail(session, activeTurn.id, hostRestarted(endCutCalls(session, activeTurn, commands)));
  if (lifecycle === 'creating') session.create();
  else if (!activeTurn) session.parts.notes.setActive(session.uri, false);
}

/** Part of what happened here was damaged on disk: a turn that misses something says so, and the rest is stored anew. */
export function afterDamage(session: Session): void {
  const { activeTurn } = session.state;
  if (activeTurn) fail(session, activeTurn.id, DAMAGED);
  session.archive();
}

/** What the host did here could not be stored. An agent whose words are lost is stopped; the rest is done again. */
export function afterLoss(session: Session, lost: readonly StateAction[]): void {
  const { activeTurn } = session.state;
  const types = new Set<string>(lost.map(({ type }) => type));
  const isTurnLost = [...types].some((type) => !OUTSIDE_TURNS.has(type));
  if (activeTurn && isTurnLost) session.stopAgent(activeTurn.id);
  session.parts.core.clock.after(STORE_RETRY_MS, () => {
    if (session.isClosed) return;
    if (activeTurn && isTurnLost) fail(session, activeTurn.id, NOT_STORED);
    if (types.has('session/ready') || types.has('session/creationFailed')) session.create();
    dropAbsentClient(session);
    session.lost();
  });
}

/** Ends a turn as failed, if it still runs. */
function fail(session: Session, turnId: string, error: ErrorInfo): void {
  if (session.state.activeTurn?.id === turnId) session.write({ type: 'session/error', turnId, error });
}

/** The role of active client is free when whoever had it is not here. */
export function dropAbsentClient(session: Session): void {
  const clientId = session.state.activeClient?.clientId;
  if (clientId === undefined || session.parts.core.connections.isConnected(clientId)) return;
  session.write({ type: 'session/activeClientChanged', activeClient: null });
}

/** A client has been gone for too long: its calls fail. */
export function abandonCalls(session: Session, clientId: string): void {
  const { activeTurn } = session.state;
  for (const part of activeTurn?.responseParts ?? []) {
    if (!activeTurn || part.kind !== 'toolCall' || part.toolCall.toolClientId !== clientId) continue;
    const { status, toolCallId, displayName } = part.toolCall;
    if (status !== 'running' && status !== 'pending-confirmation' && status !== 'streaming') continue;
    if (status === 'streaming') {
      // Only a call that is ready can be completed. Nobody ever sees it run: gates may still be asked about it.
      const invocationMessage = `Use ${displayName}`;
      session.write({ type: 'session/toolCallReady', turnId: activeTurn.id, toolCallId, invocationMessage });
    }
    const message = `the client ${clientId} left and did not come back`;
    const result = { success: false, pastTenseMessage: 'Lost its client', error: { message, code: 'DISCONNECTED' } };
    session.write({ type: 'session/toolCallComplete', turnId: activeTurn.id, toolCallId, result });
  }
}

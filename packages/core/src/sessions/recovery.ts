/** What a session does after something went wrong: a crash, damage on disk, a failed commit, a client that did not come back. */
import type {
  ActiveTurn,
  ErrorInfo,
  SessionAction,
  StateAction,
  ToolCallState,
  ToolResultContent,
} from '@atrium/protocol';
import { STORE_RETRY_MS } from '../channels/limits.js';
import { plain } from '../tool-calls/results.js';
import { plainText } from '../util/plain-text.js';
import type { InterruptedCommand, InterruptedCommands } from './running-commands.js';
import type { Session, SessionOptions } from './session.js';

function hostRestarted(isCallCut: boolean): ErrorInfo {
  const calls = isCallCut ? ' A tool was interrupted while it ran: see what it has done before you repeat it.' : '';
  const message = `The host stopped while this turn was running.${calls} Send the message again to go on.`;
  return { errorType: 'host-restarted', message };
}

export const DAMAGED: ErrorInfo = {
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
export function afterCrash(session: Session, options: SessionOptions, commands: InterruptedCommands): void {
  const { activeTurn, lifecycle } = session.state;
  if (activeTurn) fail(session, activeTurn.id, hostRestarted(endCutCalls(session, activeTurn, commands)));
  if (lifecycle === 'creating') session.create();
  else if (!activeTurn) options.records.setActive(session.uri, false);
}

/** Part of what happened here was damaged on disk: a turn that misses something says so, and the rest is stored anew. */
export function afterDamage(session: Session): void {
  const { activeTurn } = session.state;
  if (activeTurn) fail(session, activeTurn.id, DAMAGED);
  session.archive();
}

/** What the host did here could not be stored. An agent whose words are lost is stopped; the rest is done again. */
export function afterLoss(session: Session, options: SessionOptions, lost: readonly StateAction[]): void {
  const { activeTurn } = session.state;
  const types = new Set<string>(lost.map(({ type }) => type));
  const isTurnLost = [...types].some((type) => !OUTSIDE_TURNS.has(type));
  if (activeTurn && isTurnLost) session.stopAgent(activeTurn.id);
  options.clock.after(STORE_RETRY_MS, () => {
    if (session.isClosed) return;
    if (activeTurn && isTurnLost) fail(session, activeTurn.id, NOT_STORED);
    if (types.has('session/ready') || types.has('session/creationFailed')) session.create();
    session.dropAbsentClient();
    session.lost();
  });
}

/** Ends a turn as failed, if it still runs. */
function fail(session: Session, turnId: string, error: ErrorInfo): void {
  if (session.state.activeTurn?.id === turnId) session.write({ type: 'session/error', turnId, error });
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

/**
 * What a restarted host says about the tool calls of a turn that its end cut off. What people have seen of them stays:
 * the approval, the output, that they ran. A call that never started says that.
 */

/** In the error of a call that was running. */
export const INTERRUPTED_CODE = 'INTERRUPTED';

const NEVER_STARTED = 'The host stopped before this call was allowed to run. It never started.';
const INPUT_INCOMPLETE = 'The host stopped before the input of this call was complete. It never started.';

interface Writable {
  readonly uri: string;
  write(action: SessionAction): void;
}

/** Ends every call of the turn that is not over. Says whether one of them was running. */
export function endCutCalls(session: Writable, turn: ActiveTurn, commands: InterruptedCommands): boolean {
  const calls = turn.responseParts.flatMap((part) => (part.kind === 'toolCall' ? part.toolCall : []));
  for (const call of calls) {
    const command = commands.of({ session: session.uri, toolCallId: call.toolCallId });
    for (const action of endOf(turn.id, call, command)) session.write(action);
  }
  return calls.some(({ status }) => status === 'running');
}

function endOf(turnId: string, call: ToolCallState, command: InterruptedCommand | undefined): SessionAction[] {
  const target = { turnId, toolCallId: call.toolCallId };
  switch (call.status) {
    case 'running':
      return [{ type: 'session/toolCallComplete', ...target, result: interrupted(call, command) }];
    case 'pending-confirmation':
      return [notRun(target, NEVER_STARTED)];
    case 'streaming': {
      const invocationMessage = call.invocationMessage ?? `Use ${call.displayName}`;
      const input = call.partialInput !== undefined && { toolInput: call.partialInput };
      // The state knows no shorter way that keeps what was seen of the input.
      return [
        { type: 'session/toolCallReady', ...target, invocationMessage, ...input },
        notRun(target, INPUT_INCOMPLETE),
      ];
    }
    case 'pending-result-confirmation':
      return withheld(target, call);
    default:
      return [];
  }
}

type Target = { readonly turnId: string; readonly toolCallId: string };
type Running = Extract<ToolCallState, { status: 'running' }>;
type Unreleased = Extract<ToolCallState, { status: 'pending-result-confirmation' }>;

function notRun(target: Target, reasonMessage: string): SessionAction {
  return { type: 'session/toolCallConfirmed', ...target, approved: false, reason: 'skipped', reasonMessage };
}

function interrupted(call: Running, command: InterruptedCommand | undefined) {
  const message = `Interrupted while running: the host stopped. It may have done some or all of its work. ${rest(call, command)}`;
  return {
    success: false,
    pastTenseMessage: `Interrupted while running: ${plain(call.invocationMessage) ?? call.displayName}`,
    content: seenOf(call, command),
    error: { message, code: INTERRUPTED_CODE },
  };
}

/** Whether something of it may still be at work. */
function rest({ toolClientId }: Running, command: InterruptedCommand | undefined): string {
  if (command?.processes === 'ended') return 'Processes of it were still running and have been ended.';
  if (command?.processes === 'gone') return 'No process of it is running any more.';
  if (command) return 'Processes that it started may still be running.';
  if (toolClientId !== undefined) return `The client ${toolClientId} was running it and may have gone on.`;
  return 'Whatever was running it may have gone on for a while.';
}

/** Its terminal is gone; what the terminal had shown is longer, or the same, as what the call itself says of it. */
function seenOf({ content = [] }: Running, command: InterruptedCommand | undefined): ToolResultContent[] {
  const output = command ? plainText(command.output) : '';
  const kept = content.filter(({ type }) => type !== 'terminal' && (type !== 'text' || output === ''));
  return output === '' ? kept : [{ type: 'text', text: output }, ...kept];
}

/** Nobody has let the model see the result, so it does not; people have seen it, and find it in a note. */
function withheld(target: Target, { displayName, content = [] }: Unreleased): SessionAction[] {
  const text = content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('\n');
  const note = `The host stopped before the result of ${displayName} was released to the model. It stays withheld:\n${text}`;
  return [
    { type: 'session/toolCallResultConfirmed', ...target, approved: false },
    { type: 'session/responsePart', turnId: target.turnId, part: { kind: 'systemNotification', content: note } },
  ];
}

/**
 * What a session does after something went wrong: a crash, damage on disk, a failed commit, a client that did not come
 * back.
 */
import type {
  ActiveTurn,
  ChatAction,
  ErrorInfo,
  StateAction,
  ToolCallState,
  ToolResultContent,
} from '@atrium/protocol/ahp-1';
import { STORE_RETRY_MS } from '../channels/limits.js';
import { plain } from '../tool-calls/results.js';
import { plainText } from '../util/plain-text.js';
import type { Chat } from './chat.js';
import { sessionUriOf } from './chat-rules.js';
import type { InterruptedCommand, InterruptedCommands } from './running-commands.js';
import type { Session, SessionOptions } from './session.js';

const SEND_AGAIN = 'Send the message again to go on.';
/** Advice when the agent can resume the turn. */
const RESUME = 'Resume the turn to go on.';

function hostRestarted(isCallCut: boolean): ErrorInfo {
  const calls = isCallCut ? ' A tool was interrupted while it ran: see what it has done before you repeat it.' : '';
  const message = `The host stopped while this turn was running.${calls} ${SEND_AGAIN}`;
  return { errorType: 'host-restarted', message };
}

export const DAMAGED: ErrorInfo = {
  errorType: 'damaged',
  message: 'Part of this turn was damaged on disk and is missing here. Send the message again to go on.',
};

const NOT_STORED: ErrorInfo = {
  errorType: 'not-stored',
  message: `The host could not store what the agent did. ${SEND_AGAIN}`,
};

/** What the stopped host recorded beside the states of its sessions. */
interface Interrupted {
  readonly commands: InterruptedCommands;
  /** Turns that it no longer began, by the key of their chat. */
  readonly handedOverTurns: ReadonlyMap<string, string>;
}

/** After a crash: ends running calls and turns with errors that say so, and goes on with a creation. */
export function afterCrash(
  session: Session,
  options: SessionOptions,
  { commands, handedOverTurns }: Interrupted,
): void {
  const wasAtWork = session.isAtWork;
  for (const chat of session.chats) {
    const { activeTurn } = chat.state;
    if (!activeTurn) continue;
    if (handedOverTurns.get(chat.ownKey) === activeTurn.id) chat.startHandedOverTurn(activeTurn.id);
    else fail(chat, activeTurn.id, hostRestarted(endCutCalls(chat, activeTurn, commands)));
  }
  if (session.state.lifecycle === 'creating') session.create();
  else if (!wasAtWork) options.records.setActive(session.uri, false);
}

/** After damage on disk: a turn that lost something ends with an error that says so, and the rest is archived again. */
export function afterDamage(session: Session): void {
  for (const chat of session.chats) {
    const { activeTurn } = chat.state;
    if (activeTurn) fail(chat, activeTurn.id, DAMAGED, false);
  }
  session.relist();
  session.storeArchive();
}

/**
 * After a write of the host could not be stored: an agent whose words are lost is stopped; everything else is written
 * again.
 */
export function afterLoss(session: Session, options: SessionOptions, lost: readonly StateAction[]): void {
  const types = new Set<string>(lost.map(({ type }) => type));
  const isTurnLost = [...types].some((type) => type.startsWith('chat/') && type !== 'chat/turnCancelled');
  const running = session.chats.flatMap((chat) =>
    chat.state.activeTurn ? { chat, turnId: chat.state.activeTurn.id } : [],
  );
  if (isTurnLost) for (const { chat, turnId } of running) chat.stopAgent(turnId);
  options.clock.after(STORE_RETRY_MS, () => {
    if (session.isClosed) return;
    if (isTurnLost) for (const { chat, turnId } of running) fail(chat, turnId, NOT_STORED, false);
    if (types.has('session/ready') || types.has('session/creationFailed')) session.create();
    session.dropAbsentClients();
    session.lost();
  });
}

/** Fails a turn if it still runs. The turn can be resumed when nothing of it is missing and the agent is able to. */
function fail(chat: Chat, turnId: string, error: ErrorInfo, isWhole = true): void {
  if (chat.state.activeTurn?.id !== turnId) return;
  const resumable = isWhole && chat.canResume;
  const shown = resumable ? { ...error, message: error.message.replace(SEND_AGAIN, RESUME) } : error;
  const part = { kind: 'error' as const, error: shown, ...(resumable && { resumable }) };
  chat.write({ type: 'chat/error', turnId, duration: 0, part });
}

/** Fails the calls of a client that has been gone for too long. */
export function abandonCalls(session: Session, clientId: string): void {
  for (const chat of session.chats) abandonCallsIn(chat, clientId);
}

function abandonCallsIn(chat: Chat, clientId: string): void {
  const { activeTurn } = chat.state;
  for (const part of activeTurn?.responseParts ?? []) {
    if (!activeTurn || part.kind !== 'toolCall' || sessionUriOf(part.toolCall) !== clientId) continue;
    const { status, toolCallId, displayName } = part.toolCall;
    if (status !== 'running' && status !== 'pending-confirmation' && status !== 'streaming') continue;
    if (status === 'streaming') {
      // Only a ready call can be completed. Clients do not see it as running: gates may still be deciding about it.
      const invocationMessage = `Use ${displayName}`;
      chat.write({ type: 'chat/toolCallReady', turnId: activeTurn.id, toolCallId, invocationMessage });
    }
    const message = `the client ${clientId} left and did not come back`;
    const result = { success: false, pastTenseMessage: 'Lost its client', error: { message, code: 'DISCONNECTED' } };
    chat.write({ type: 'chat/toolCallComplete', turnId: activeTurn.id, toolCallId, result });
  }
}

/** Error code of a call that was running when the host stopped. */
export const INTERRUPTED_CODE = 'INTERRUPTED';

const NEVER_STARTED = 'The host stopped before this call was allowed to run. It never started.';
const INPUT_INCOMPLETE = 'The host stopped before the input of this call was complete. It never started.';

interface Writable {
  /** The key under which the log keeps its commands. */
  readonly ownKey: string;
  write(action: ChatAction): void;
}

/**
 * Ends every unfinished call of a turn that was cut off, after a restart. What people have seen stays: the approval,
 * the output, that the call ran. A call that never started says so. Returns true when one was running.
 */
export function endCutCalls(chat: Writable, turn: ActiveTurn, commands: InterruptedCommands): boolean {
  const calls = turn.responseParts.flatMap((part) => (part.kind === 'toolCall' ? part.toolCall : []));
  for (const call of calls) {
    const command = commands.of({ owner: chat.ownKey, toolCallId: call.toolCallId });
    for (const action of endOf(turn.id, call, command)) chat.write(action);
  }
  return calls.some(({ status }) => status === 'running');
}

function endOf(turnId: string, call: ToolCallState, command: InterruptedCommand | undefined): ChatAction[] {
  const target = { turnId, toolCallId: call.toolCallId };
  switch (call.status) {
    case 'running':
      return [{ type: 'chat/toolCallComplete', ...target, result: interrupted(call, command) }];
    case 'auth-required':
      return [{ type: 'chat/toolCallComplete', ...target, result: notSignedIn(call) }];
    case 'pending-confirmation':
      return [notRun(target, NEVER_STARTED)];
    case 'streaming': {
      const invocationMessage = call.invocationMessage ?? `Use ${call.displayName}`;
      const input = call.partialInput !== undefined && { toolInput: call.partialInput };
      // The state has no shorter way that keeps the visible input.
      return [{ type: 'chat/toolCallReady', ...target, invocationMessage, ...input }, notRun(target, INPUT_INCOMPLETE)];
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

function notRun(target: Target, reasonMessage: string): ChatAction {
  return { type: 'chat/toolCallConfirmed', ...target, approved: false, reason: 'skipped', reasonMessage };
}

/** The server refused the call, so it has done nothing. */
function notSignedIn({ displayName }: ToolCallState) {
  const message = 'The host stopped before somebody signed in. The server did nothing for this call.';
  return {
    success: false,
    pastTenseMessage: `Could not use ${displayName}`,
    error: { message, code: 'AUTH_REQUIRED' },
  };
}

function interrupted(call: Running, command: InterruptedCommand | undefined) {
  const message = `Interrupted while running: the host stopped. It may have done some or all of its work. ${leftoverProcesses(call, command)}`;
  return {
    success: false,
    pastTenseMessage: `Interrupted while running: ${plain(call.invocationMessage) ?? call.displayName}`,
    content: seenOf(call, command),
    error: { message, code: INTERRUPTED_CODE },
  };
}

/** Says whether processes of the call may still be running. */
function leftoverProcesses(call: Running, command: InterruptedCommand | undefined): string {
  if (command?.processes === 'ended') return 'Some of its processes were still running and have been ended.';
  if (command?.processes === 'gone') return 'None of its processes is running any more.';
  if (command) return 'Processes that it started may still be running.';
  const client = sessionUriOf(call);
  if (client !== undefined) return `The client ${client} was running it and may have gone on.`;
  return 'Whatever was running it may have gone on for a while.';
}

/**
 * The output that people saw. The call's terminal is gone, but what it showed is at least as long as the call's own
 * output.
 */
function seenOf({ content = [] }: Running, command: InterruptedCommand | undefined): ToolResultContent[] {
  const output = command ? plainText(command.output) : '';
  const kept = content.filter(({ type }) => type !== 'terminal' && (type !== 'text' || output === ''));
  return output === '' ? kept : [{ type: 'text', text: output }, ...kept];
}

/**
 * Ends a call whose result nobody released to the model. The model does not get it; people saw it, and find it in a
 * note.
 */
function withheld(target: Target, { displayName, content = [] }: Unreleased): ChatAction[] {
  const text = content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('\n');
  const note = `The host stopped before the result of ${displayName} was released to the model. It stays withheld:\n${text}`;
  return [
    { type: 'chat/toolCallResultConfirmed', ...target, approved: false },
    { type: 'chat/responsePart', turnId: target.turnId, part: { kind: 'systemNotification', content: note } },
  ];
}

/**
 * What a restarted host says about the tool calls of a turn that its end cut off. What people have seen of them stays:
 * the approval, the output, that they ran. A call that never started says that.
 */
import type { ActiveTurn, SessionAction, ToolCallState, ToolResultContent } from '@atrium/protocol';
import { plainText } from '../../workspace/terminals/plain-text.js';
import { plain } from '../tool-calls/call-steps.js';
import type { InterruptedCommand, InterruptedCommands } from './running-commands.js';

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

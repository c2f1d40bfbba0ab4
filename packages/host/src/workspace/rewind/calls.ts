/** Effects of tool calls that no rewind undoes: commands, and other tools that may have changed something elsewhere. */
import type { Session } from '@atrium/core/sessions/session.js';
import { isRecord } from '@atrium/core/util/shape.js';
import { shorten } from '@atrium/core/util/text.js';
import type { ResponsePart, StringOrMarkdown, ToolCallState, Turn } from '@atrium/protocol/ahp-1';
import { onlyReadsTool } from '../changes/recording.js';
import { NOT_UNDONE_MAX_CHARACTERS } from './limits.js';

/** A command that ran, and whether it succeeded. */
export interface RanCommand {
  readonly command: string;
  readonly success: boolean;
}

/** The commands that ran to their end in a turn, in order. */
export function commandsIn({ responseParts }: Pick<Turn, 'responseParts'>): RanCommand[] {
  return callsIn(responseParts).flatMap((call) => {
    const command = commandOf(call);
    return call.status === 'completed' && command !== undefined ? [{ command, success: call.success }] : [];
  });
}

/** What the calls of a turn may have done besides the recorded file changes, in words for people. */
export function effectsBeyondFiles(session: Session, { responseParts }: Pick<Turn, 'responseParts'>): string[] {
  return callsIn(responseParts).flatMap((call) => {
    if (!hasRun(call)) return [];
    const command = commandOf(call);
    if (command !== undefined) return [oneLine(`$ ${command}`)];
    if (onlyReadsTool(session, call.toolName) || isAboutFiles(call)) return [];
    return [oneLine(`${call.displayName}: ${plain(call.invocationMessage)}`)];
  });
}

function callsIn(parts: readonly ResponsePart[]): ToolCallState[] {
  return parts.flatMap((part) => (part.kind === 'toolCall' ? [part.toolCall] : []));
}

/** A call that was stopped may already have done something. A call that was never allowed has not. */
function hasRun(call: ToolCallState): boolean {
  if (call.status === 'cancelled') return call.reason !== 'denied' && call.reason !== 'skipped';
  return call.status === 'completed' || call.status === 'running' || call.status === 'pending-result-confirmation';
}

/** Tools of the host and of agents that change only files that they name, or nothing at all; in lower case. */
const ABOUT_FILES: ReadonlySet<string> = new Set([
  ...['write_file', 'edit_file', 'apply_patch', 'write', 'edit', 'multiedit', 'notebookedit', 'create', 'str_replace'],
  ...['todo_list', 'ask_user', 'task', 'todowrite', 'exitplanmode', 'present_plan'],
]);

function isAboutFiles(call: ToolCallState): boolean {
  const edits = 'content' in call ? (call.content ?? []).some(({ type }) => type === 'fileEdit') : false;
  return edits || ABOUT_FILES.has(call.toolName.toLowerCase());
}

/** The command line of a call that runs a command; tools name it `command` or `cmd`. */
function commandOf(call: ToolCallState): string | undefined {
  const input = 'toolInput' in call && typeof call.toolInput === 'string' ? parsed(call.toolInput) : undefined;
  const command = isRecord(input) ? (input.command ?? input.cmd) : undefined;
  if (typeof command === 'string') return command;
  const words = Array.isArray(command) ? command : undefined;
  return words?.every((word) => typeof word === 'string') ? words.join(' ') : undefined;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function plain(text: StringOrMarkdown | undefined): string {
  return typeof text === 'string' ? text : (text?.markdown ?? '');
}

function oneLine(text: string): string {
  return shorten(text.replace(/\s+/g, ' ').trim(), NOT_UNDONE_MAX_CHARACTERS);
}

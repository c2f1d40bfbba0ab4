/**
 * The words of a notification. It says only as much about a session as its receiver allows. Text of a model or a file
 * cannot fake anything: it is on one line, its invisible characters are spelled out, and long text is cut.
 */
import { shorten } from '@atrium/core/util/text.js';
import {
  isVisible,
  type NotificationDetail,
  type NotificationEvent,
  type NotificationMessage,
  type SessionInputRequest,
  type ToolCallState,
  visibleText,
} from '@atrium/protocol/ahp-1';
import { type FoundEvent, inputOf } from './events.js';
import {
  BODY_MAX_CHARACTERS,
  PAYLOAD_MAX_BYTES,
  TITLE_MAX_CHARACTERS,
  WHOLE_COMMAND_MAX_CHARACTERS,
} from './limits.js';

const WORDS: Readonly<Record<NotificationEvent, string>> = {
  question: 'Needs an answer',
  ended: 'Is done',
  failed: 'Has failed',
  budget: 'Has used up its budget',
  automation: 'Automation has run',
};

export interface MessageFacts {
  readonly event: FoundEvent;
  readonly detail: NotificationDetail;
  /** The title of the session. */
  readonly title: string | undefined;
  /** The present content of the question. */
  readonly request?: SessionInputRequest | undefined;
}

/** The message without the key for an answer: see `wholeCommand`. */
export function messageOf({ event: found, detail, title = '', request }: MessageFacts): NotificationMessage {
  const { id, event, session } = found;
  const base = { id, tag: id, kind: 'show' as const, event };
  if (detail === 'nothing') return { ...base, title: 'Atrium', body: NOTHING[event] };
  const name = oneLine(title, TITLE_MAX_CHARACTERS) || 'A session';
  const more = detail === 'command' ? quoteOf(found, request) : '';
  const body = more === '' ? WORDS[event] : `${WORDS[event]}: ${more}`;
  return fitting({ ...base, title: name, body, ...(session && { session }) });
}

const NOTHING: Readonly<Record<NotificationEvent, string>> = {
  question: 'A session needs an answer.',
  ended: 'A session is done.',
  failed: 'A session has failed.',
  budget: 'A budget is used up.',
  automation: 'An automation has run.',
};

export function closing({ id, tag, event, title, session }: NotificationMessage): NotificationMessage {
  return { id, tag, kind: 'close', event, title, ...(session !== undefined && { session }) };
}

export function testMessage(id: string): NotificationMessage {
  return { id, tag: id, kind: 'show', event: 'test', title: 'Atrium', body: 'This is how Atrium tells you something.' };
}

function quoteOf({ text = '' }: FoundEvent, request: SessionInputRequest | undefined): string {
  if (!request) return oneLine(text, BODY_MAX_CHARACTERS);
  if (request.kind === 'chatInput') return oneLine(request.request.message ?? '', BODY_MAX_CHARACTERS);
  const { toolCall } = request;
  const command = commandOf(toolCall);
  return command === undefined
    ? oneLine(toolCall.displayName, TITLE_MAX_CHARACTERS)
    : `${oneLine(toolCall.displayName, TITLE_MAX_CHARACTERS)}: ${oneLine(command, BODY_MAX_CHARACTERS)}`;
}

/**
 * The command that would run, if a notification can hold all of it visibly; then it may have buttons. Undefined for
 * questions, for changes of files, for results to be released, and for input that is long or has odd characters.
 */
export function wholeCommand(request: SessionInputRequest | undefined): string | undefined {
  if (request?.kind !== 'toolConfirmation' || request.toolCall.status !== 'pending-confirmation') return undefined;
  const { toolCall } = request;
  if (toolCall.edits && toolCall.edits.items.length > 0) return undefined;
  const command = commandOf(toolCall);
  const isShown =
    command !== undefined && isVisible(command, 'line') && oneLine(command, BODY_MAX_CHARACTERS) === command;
  const name = toolCall.displayName;
  const isNamed = isVisible(name, 'line') && oneLine(name, TITLE_MAX_CHARACTERS) === name;
  return isShown && isNamed && command.length <= WHOLE_COMMAND_MAX_CHARACTERS ? command : undefined;
}

/**
 * The whole input: the command line of a shell, or anything else unchanged. Undefined if the state has only a
 * reference.
 */
function commandOf(call: ToolCallState): string | undefined {
  const input = inputOf(call);
  if (typeof input !== 'string') return undefined;
  const { command, ...rest } = objectIn(input);
  return typeof command === 'string' && Object.keys(rest).length === 0 ? command : input;
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
  } catch {
    return {};
  }
}

function oneLine(text: string, maxCharacters: number): string {
  // Cut before spelling it out, because it may be very long.
  const start = text.slice(0, 2 * maxCharacters).replace(/\s+/g, ' ');
  return shorten(visibleText(start, 'line') + (text.length > 2 * maxCharacters ? ' …' : ''), maxCharacters);
}

/** Shortens the body to the byte limit: letters of other scripts have several bytes each. */
function fitting(message: NotificationMessage): NotificationMessage {
  const { body = '' } = message;
  if (Buffer.byteLength(JSON.stringify(message)) <= PAYLOAD_MAX_BYTES || body.length < 20) return message;
  return fitting({ ...message, body: shorten(body, Math.floor(body.length / 2)) });
}

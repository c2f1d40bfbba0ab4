/** Rebuilds a conversation from the turns that the host has stored: text, tool calls and their results. */

import type {
  AssistantContent,
  ImagePart,
  ModelMessage,
  ToolResultPart,
  UserModelMessage,
} from '@ai-sdk/provider-utils';
import {
  compactCommand,
  compactionIn,
  type Message,
  type ResponsePart,
  steeringIn,
  type ToolCallState,
  type Turn,
} from '@atrium/protocol/ahp-1';
import { embeddedImages, messageText } from '../shared/messages.js';
import { wireId, wireName } from '../shared/tool-names.js';
import { TURN_ENDED_FIRST } from '../shared/tool-results.js';
import { type Conversation, type Exchange, successOutput, withCompaction } from './conversation.js';

/** The conversation of these turns, with the newest summary in place of the turns that it covers. */
export function conversationOf(turns: readonly Turn[]): Conversation {
  let conversation: Conversation = { leftOut: [], exchanges: turns.map(exchangeOf) };
  for (const { id, responseParts } of turns) conversation = withSummaries(conversation, id, responseParts);
  return conversation;
}

/** Applies the summaries in a turn to a conversation. */
export function withSummaries(
  conversation: Conversation,
  turnId: string,
  parts: readonly ResponsePart[],
): Conversation {
  const last = parts.flatMap((part) => compactionIn(part) ?? []).at(-1);
  return last ? withCompaction(conversation, turnId, last) : conversation;
}

/** One turn for the model. A turn that only made room has nothing for it. */
export function exchangeOf(turn: Turn): Exchange {
  if (compactCommand(turn.message) !== undefined) return { turnId: turn.id, messages: [] };
  return { turnId: turn.id, messages: [userMessage(turn.message), ...answersOf(turn.responseParts)] };
}

interface MessageExtras {
  /** Text that only the model reads. It belongs to this message, and is lost at a restart. */
  readonly context?: readonly string[];
  readonly images?: readonly ImagePart[];
}

/** A person's message as the model gets it. */
export function userMessage(message: Message, { context = [], images }: MessageExtras = {}): UserModelMessage {
  const blocks = context.map((block) => `[Context, not written by the person]\n${block}`);
  const content = [messageText(message), ...blocks].join('\n\n');
  const seen = images ?? embeddedImages(message);
  return { role: 'user', content: seen.length === 0 ? content : [{ type: 'text', text: content }, ...seen] };
}

type ContentPart = Exclude<AssistantContent, string>[number];

/** The model's messages. Text after tool calls begins a new step, as it did when the model wrote it. */
export function answersOf(parts: readonly ResponsePart[]): ModelMessage[] {
  const messages: ModelMessage[] = [];
  let said: ContentPart[] = [];
  let results: ToolResultPart[] = [];
  const endStep = () => {
    if (said.length > 0) messages.push({ role: 'assistant', content: said });
    if (results.length > 0) messages.push({ role: 'tool', content: results });
    said = [];
    results = [];
  };
  for (const part of parts) {
    const steering = steeringIn(part);
    if (steering) {
      endStep();
      messages.push(userMessage(steering));
    }
    if (part.kind === 'markdown' && part.content !== '') {
      if (results.length > 0) endStep();
      said.push({ type: 'text', text: part.content });
    }
    if (part.kind !== 'toolCall') continue;
    said.push(callOf(part.toolCall));
    results.push(resultOf(part.toolCall));
  }
  endStep();
  return messages;
}

function callOf(call: ToolCallState): ContentPart {
  const toolInput = 'toolInput' in call && typeof call.toolInput === 'string' ? call.toolInput : undefined;
  const target = { toolCallId: wireId(call.toolCallId), toolName: wireName(call.toolName) };
  return { type: 'tool-call', ...target, input: inputOf(toolInput) };
}

function inputOf(text: string | undefined): unknown {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return typeof value === 'object' && value !== null ? value : { value };
  } catch {
    return { text };
  }
}

type CancelledCall = Extract<ToolCallState, { status: 'cancelled' }>;

/** The result of a call. Every call needs one, or providers refuse the whole conversation. */
function resultOf(call: ToolCallState): ToolResultPart {
  const target = { toolCallId: wireId(call.toolCallId), toolName: wireName(call.toolName) };
  return { type: 'tool-result', ...target, output: outputOf(call) };
}

/** True for calls that still waited or ran when a turn ended: they are skipped with it, without a reason. */
function isCutOff(call: CancelledCall): boolean {
  return call.reason === 'skipped' && !call.userSuggestion && call.reasonMessage === undefined;
}

function reasonOf({ userSuggestion, reasonMessage }: CancelledCall): string {
  const reason = typeof reasonMessage === 'object' ? reasonMessage.markdown : reasonMessage;
  return userSuggestion?.text ?? reason ?? 'the person said no';
}

function outputOf(call: ToolCallState): ToolResultPart['output'] {
  if (call.status === 'cancelled' && !isCutOff(call)) {
    return { type: 'error-text', value: `The call was denied: ${reasonOf(call)}` };
  }
  if (call.status !== 'completed') return { type: 'error-text', value: TURN_ENDED_FIRST };
  const texts = (call.content ?? []).flatMap((block) => (block.type === 'text' ? block.text : []));
  const structured = call.structuredContent && JSON.stringify(call.structuredContent);
  const value = texts.join('\n') || structured || (call.error?.message ?? '');
  return call.success ? successOutput(value, call.content ?? []) : { type: 'error-text', value };
}

/**
 * Bounds the result of a call before it is stored and sent to every client, and cuts it further for the model. People
 * can read the whole result; a model pays for every character, in every later step. So a model gets the beginning and
 * the end of a long output, and can read the rest in pieces: `read_file` accepts the name of a stored result as a path.
 */
import type {
  ChatState,
  ResponsePart,
  ToolCallResult,
  ToolCallState,
  ToolResultContent,
  Turn,
} from '@atrium/protocol/ahp-1';
import type { ToolOutcome } from '../contracts/agent.js';
import { READ_FILE_TOOL } from '../contracts/tool.js';
import { beginning, type LinePiece, linePieces, RESULT_SCHEME, sizeText } from '../util/text.js';
import type { CallContext, CallExtensions } from './call-context.js';
import { wholeContent } from './large-results.js';

/** Most text in one result. */
export const RESULT_TEXT_MAX_CHARACTERS = 2 ** 20;
/** Most embedded data in one result, as it is encoded. */
export const RESULT_DATA_MAX_CHARACTERS = 4 * 2 ** 20;

/** Most output shown while a tool runs. Only the end is shown, because every change sends all of it again. */
const PROGRESS_TEXT_MAX_CHARACTERS = 64 * 2 ** 10;
const PROGRESS_DATA_MAX_CHARACTERS = 64 * 2 ** 10;

/** The result, with content that does not fit cut or left out; the content says so. */
export function bounded(result: ToolCallResult): ToolCallResult {
  const { content, structuredContent, ...rest } = result;
  const structured = structuredContent && JSON.stringify(structuredContent).length <= RESULT_TEXT_MAX_CHARACTERS;
  return {
    ...rest,
    ...(content && { content: boundedContent(content) }),
    ...(structured && { structuredContent }),
  };
}

function boundedContent(content: readonly ToolResultContent[]): ToolResultContent[] {
  const room = { text: RESULT_TEXT_MAX_CHARACTERS, data: RESULT_DATA_MAX_CHARACTERS };
  return content.map((block) => fitted(block, room, (text, max) => `${beginning(text, max)}\n[Cut: it is too long.]`));
}

/** The same for output shown while a tool runs. */
export function progressContent(content: readonly ToolResultContent[]): ToolResultContent[] {
  const room = { text: PROGRESS_TEXT_MAX_CHARACTERS, data: PROGRESS_DATA_MAX_CHARACTERS };
  return content.map((block) => fitted(block, room, (text, max) => `[…]\n${max > 0 ? text.slice(-max) : ''}`));
}

interface Room {
  text: number;
  data: number;
}

/** One block, cut to the remaining room, which it reduces. */
function fitted(block: ToolResultContent, room: Room, cut: (text: string, max: number) => string): ToolResultContent {
  if (block.type === 'text') {
    const { text } = block;
    const max = room.text;
    room.text = Math.max(0, max - text.length);
    return text.length <= max ? block : { ...block, text: cut(text, max) };
  }
  if (block.type !== 'embeddedResource') return block;
  const { data, contentType } = block;
  if (data.length > room.data) {
    return { type: 'text', text: `[Left out: ${contentType} of ${sizeText(data.length)}, which is too large.]` };
  }
  room.data -= data.length;
  return block;
}

/** The outcome of a finished call. */
export function outcomeOf(call: ToolCallState): ToolOutcome {
  if (call.status !== 'completed') return { kind: 'denied', reason: reasonOf(call) };
  const { success, content = [], toolCallId: callId } = call;
  return { kind: 'completed', success, text: textOfResult(call), content, callId };
}

/** Why a call did not run, in words for the model; a person's own suggestion comes first. */
export function reasonOf(call: ToolCallState): string {
  if (call.status !== 'cancelled') return 'the call is over';
  const plainly = call.reason === 'skipped' ? 'the person skipped it' : 'the person said no';
  return call.userSuggestion?.text ?? plain(call.reasonMessage) ?? plainly;
}

export function plain(text: string | { markdown: string } | undefined): string | undefined {
  return typeof text === 'object' ? text.markdown : text;
}

type CompletedCall = Extract<ToolCallState, { status: 'completed' }>;

/** The text of a result, for a model. */
function textOfResult({ content = [], structuredContent, error }: CompletedCall): string {
  const texts = content.flatMap((block) => (block.type === 'text' ? block.text : []));
  return texts.join('\n') || (structuredContent && JSON.stringify(structuredContent)) || (error?.message ?? '');
}

/** How many turns are searched for a result, newest first: as many as a reopened agent remembers. */
export const RESULT_TURNS_MAX = 200;
/** Room for the sentence between beginning and end. */
const NOTE_CHARACTERS = 400;

interface Cut {
  readonly maxCharacters: number;
  /** The id of the call; undefined when the model cannot read stored results. */
  readonly readable: string | undefined;
}

/** The beginning and the end of a text, in whole lines; in between, how to read the rest. */
export function cutForModel(text: string, { maxCharacters, readable }: Cut): string {
  if (text.length <= maxCharacters) return text;
  const pieces = linePieces(text);
  const room = maxCharacters - NOTE_CHARACTERS;
  const head = fitting(pieces, Math.floor(room / 2));
  const tail = fitting(pieces.slice(head).reverse(), Math.ceil(room / 2));
  const [first, last] = [head + 1, pieces.length - tail];
  const size = fitting(pieces.slice(head, last), room);
  const range = `lines ${first} to ${last} of ${pieces.length}`;
  const note = `[… ${last - head} lines left out here, ${range}. ${advice(readable, first, Math.min(last, head + size))}]`;
  const parts = [text.slice(0, pieces[head - 1]?.end ?? 0), note, text.slice(pieces[last]?.start ?? text.length)];
  return parts.filter((part) => part !== '').join('\n');
}

/**
 * How many of these pieces fit. At least one does: a piece is shorter than the smallest limit that can be configured.
 */
function fitting(pieces: readonly LinePiece[], room: number): number {
  let left = room;
  const index = pieces.findIndex(({ start, end }) => {
    left -= end - start + 1;
    return left < 0;
  });
  return index < 0 ? pieces.length : index;
}

function advice(readable: string | undefined, startLine: number, endLine: number): string {
  if (readable === undefined) return 'Call the tool again, asking for less, if you need them.';
  const input = { path: `${RESULT_SCHEME}${readable}`, startLine, endLine };
  return `Read them with ${READ_FILE_TOOL}, for example ${JSON.stringify(input)}.`;
}

/** The outcome of a call, cut for an agent. */
export function outcomeForModel(context: CallContext, outcome: ToolOutcome): ToolOutcome {
  if (outcome.kind === 'denied') return outcome;
  const readable = canReadResults(context.extensions, context.chat) ? outcome.callId : undefined;
  return { ...outcome, text: cutForModel(outcome.text, { maxCharacters: context.outputMaxCharacters, readable }) };
}

interface Remembering {
  readonly maxCharacters: number;
  readonly canRead: boolean;
}

/** Stored turns, cut for an agent that is opened again. */
export function turnsForModel(turns: readonly Turn[], limit: Remembering): Turn[] {
  return turns.map((turn) => ({ ...turn, responseParts: turn.responseParts.map((part) => partForModel(part, limit)) }));
}

function partForModel(part: ResponsePart, { maxCharacters, canRead }: Remembering): ResponsePart {
  if (part.kind !== 'toolCall' || part.toolCall.status !== 'completed') return part;
  const { structuredContent: _, ...call } = part.toolCall;
  const text = textOfResult(part.toolCall);
  if (text.length <= maxCharacters) return part;
  const cut = cutForModel(text, { maxCharacters, readable: canRead ? call.toolCallId : undefined });
  const others = (call.content ?? []).filter(({ type }) => type !== 'text');
  return { ...part, toolCall: { ...call, content: [{ type: 'text', text: cut }, ...others] } };
}

/** True when the model is offered the host's own tool for reading stored results. */
export function canReadResults(extensions: Pick<CallExtensions, 'tools' | 'hidden'>, chat: string): boolean {
  const tool = extensions.tools().find(({ definition }) => definition.name === READ_FILE_TOOL);
  return tool !== undefined && tool.owner === undefined && !extensions.hidden(chat)(READ_FILE_TOOL);
}

/** The whole text of an earlier result in this session; undefined when there is no such call. */
export async function storedResult(context: CallContext, toolCallId: string): Promise<string | undefined> {
  const { blobs, state } = context;
  const call = callIn(state, toolCallId) ?? callIn(await unloaded(context), toolCallId);
  if (!call) return undefined;
  const content = call.content ?? [];
  return textOfResult({ ...call, content: blobs ? await wholeContent(blobs, content) : content });
}

async function unloaded(context: CallContext): Promise<SearchedTurns> {
  return { turns: await context.unloadedTurns(RESULT_TURNS_MAX) };
}

interface SearchedTurns {
  readonly turns: readonly Turn[];
  readonly activeTurn?: ChatState['activeTurn'];
}

function callIn({ turns, activeTurn }: SearchedTurns, id: string): CompletedCall | undefined {
  for (const turn of [...turns, ...(activeTurn ? [activeTurn] : [])].reverse()) {
    for (const part of turn.responseParts) {
      if (part.kind === 'toolCall' && part.toolCall.toolCallId === id && part.toolCall.status === 'completed')
        return part.toolCall;
    }
  }
  return undefined;
}

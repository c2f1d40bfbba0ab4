/**
 * What a model reads of a tool's output. People can read the whole; a model pays for every character, in every step that
 * follows. So a long output reaches it as its beginning and its end, and it can read the rest piece by piece: `read_file`
 * takes the name of a stored result for a path.
 */
import type { ResponsePart, SessionState, ToolCallState, Turn } from '@atrium/protocol';
import { readFileTool } from '../../workspace/tools/read-file.js';
import type { ToolOutcome } from '../contracts/agent.js';
import type { Session } from '../sessions/session.js';
import { type LinePiece, linePieces, RESULT_SCHEME } from '../util/text.js';
import { wholeContent } from './large-results.js';

/** Turns that are looked through for a result, newest first: what an agent that was opened anew remembers. */
export const RESULT_TURNS_MAX = 200;
/** Kept free for the sentence between beginning and end. */
const NOTE_CHARACTERS = 400;

interface Cut {
  readonly maxCharacters: number;
  /** The id of the call; undefined where the model cannot read stored results. */
  readonly readable: string | undefined;
}

/** The beginning and the end, in whole lines, and what to do for the rest. */
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

/** How many of these fit. There is always one: a piece is short beside the least that can be configured. */
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
  return `Read them with ${READ_FILE}, for example ${JSON.stringify(input)}.`;
}

const READ_FILE = readFileTool.definition.name;

/** The outcome of a call, as it is handed to an agent. */
export function outcomeForModel(session: Session, outcome: ToolOutcome, canRead: boolean): ToolOutcome {
  if (outcome.kind === 'denied') return outcome;
  const { toolOutputMaxCharacters: maxCharacters } = session.parts.core;
  const readable = canRead ? outcome.callId : undefined;
  return { ...outcome, text: cutForModel(outcome.text, { maxCharacters, readable }) };
}

/** Stored turns, as an agent should remember them when it is opened anew. */
export function turnsForModel(turns: readonly Turn[], limit: Remembering): Turn[] {
  return turns.map((turn) => ({ ...turn, responseParts: turn.responseParts.map((part) => partForModel(part, limit)) }));
}

interface Remembering {
  readonly maxCharacters: number;
  readonly canRead: boolean;
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

type CompletedCall = Extract<ToolCallState, { status: 'completed' }>;

/** What of a result is text for a model. */
export function textOfResult({ content = [], structuredContent, error }: CompletedCall): string {
  const texts = content.flatMap((block) => (block.type === 'text' ? block.text : []));
  return texts.join('\n') || (structuredContent && JSON.stringify(structuredContent)) || (error?.message ?? '');
}

/** Whether the model is offered the host's own way to read a stored result. */
export function canReadResults(session: Session): boolean {
  const tool = session.extensions.tools().find(({ definition }) => definition.name === READ_FILE);
  return tool !== undefined && tool.owner === undefined && !session.extensions.hidden()(READ_FILE);
}

/** The whole text of an earlier call's result in this session; undefined when there is no such call. */
export async function storedResult({ parts, state }: Session, toolCallId: string): Promise<string | undefined> {
  const { channel, core, pages } = parts;
  const call = callIn(state, toolCallId) ?? (await older());
  if (!call) return undefined;
  const content = call.content ?? [];
  return textOfResult({ ...call, content: core.blobs ? await wholeContent(core.blobs, content) : content });

  async function older(): Promise<CompletedCall | undefined> {
    const end = pages.base;
    const turns = await pages.slice(channel.committed, Math.max(0, end - RESULT_TURNS_MAX), end);
    return callIn({ turns, activeTurn: undefined }, toolCallId);
  }
}

function callIn(
  { turns, activeTurn }: Pick<SessionState, 'turns' | 'activeTurn'>,
  id: string,
): CompletedCall | undefined {
  for (const turn of [...turns, ...(activeTurn ? [activeTurn] : [])].reverse()) {
    for (const part of turn.responseParts) {
      if (part.kind === 'toolCall' && part.toolCall.toolCallId === id && part.toolCall.status === 'completed')
        return part.toolCall;
    }
  }
  return undefined;
}

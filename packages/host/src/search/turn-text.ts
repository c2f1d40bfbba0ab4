/** The searchable text of a turn: the message, the answer, the reasoning, what tools did, and the names of files. */
import type { TextDocument } from '@atrium/core/log/text-index.js';
import { pathOfUri } from '@atrium/core/util/folders.js';
import { beginning } from '@atrium/core/util/text.js';
import type { FileEdit, ResponsePart, SearchItem, StringOrMarkdown, ToolCallState, Turn } from '@atrium/protocol/ahp-1';

/** Of a longer turn, only the beginning is searchable. */
export const TURN_TEXT_MAX_CHARACTERS = 256 * 2 ** 10;
/** How much of one value in a tool's input is searchable: commands and names are short, contents of files are not. */
export const INPUT_VALUE_MAX_CHARACTERS = 500;
/** How many values of one input are searchable. */
const INPUT_VALUES_MAX = 20;

export interface Passage {
  readonly kind: SearchItem['kind'];
  readonly text: string;
}

/** In the order in which they were said. */
export function passagesOf({ message, responseParts }: Pick<Turn, 'message' | 'responseParts'>): Passage[] {
  const attached = (message.attachments ?? []).map(({ label }) => passage('message', label));
  const all = [passage('message', message.text), ...attached, ...responseParts.flatMap(partPassages)];
  return all.filter(({ text }) => text !== '');
}

const passage = (kind: Passage['kind'], text: string): Passage => ({ kind, text });

function partPassages(part: ResponsePart): Passage[] {
  switch (part.kind) {
    case 'markdown':
      return [passage('answer', part.content)];
    case 'reasoning':
      return [passage('reasoning', part.content)];
    case 'toolCall':
      return callPassages(part.toolCall);
    case 'systemNotification':
      return [passage('answer', plain(part.content))];
    case 'inputRequest':
      return [passage('answer', part.request.message ?? '')];
    case 'error':
      return [passage('answer', part.error.message)];
    default:
      return [];
  }
}

function callPassages(call: ToolCallState): Passage[] {
  const message = 'pastTenseMessage' in call ? call.pastTenseMessage : call.invocationMessage;
  const input = 'toolInput' in call && typeof call.toolInput === 'string' ? inputTexts(call.toolInput) : [];
  const words = [call.displayName, call.intention ?? '', plain(message), ...input].filter((text) => text !== '');
  return [passage('tool', words.join('\n')), ...editedFiles(call).map((file) => passage('file', file))];
}

function plain(text: StringOrMarkdown | undefined): string {
  return typeof text === 'string' ? text : (text?.markdown ?? '');
}

/** The short texts of an input: commands, patterns, names of files. Contents of files are too long. */
function inputTexts(input: string): string[] {
  let value: unknown = input;
  try {
    value = JSON.parse(input);
  } catch {
    // An agent may use another format for its input.
  }
  const found: string[] = [];
  const visit = (each: unknown): void => {
    if (found.length >= INPUT_VALUES_MAX) return;
    if (typeof each === 'string') found.push(beginning(each, INPUT_VALUE_MAX_CHARACTERS));
    else if (Array.isArray(each)) each.forEach(visit);
    else if (each !== null && typeof each === 'object') Object.values(each).forEach(visit);
  };
  visit(value);
  return found;
}

function editedFiles(call: ToolCallState): string[] {
  if (call.status !== 'completed') return [];
  const edits = (call.content ?? []).flatMap((content) => (content.type === 'fileEdit' ? [content as FileEdit] : []));
  return [...new Set(edits.flatMap(({ before, after }) => [before?.uri, after?.uri]))].flatMap((uri) =>
    uri === undefined ? [] : (pathOfUri(uri) ?? uri),
  );
}

/** The time of an imported turn may be missing or invalid; then the time of the previous turn is used. */
export function documentOf(turn: Turn, timeBefore: number): TextDocument {
  const passages = passagesOf(turn);
  const texts = (isFile: boolean) => passages.flatMap(({ kind, text }) => ((kind === 'file') === isFile ? [text] : []));
  const started = Date.parse(turn.startedAt ?? '');
  const models = [turn.message.model?.id, turn.usage?.model].filter((model) => model !== undefined);
  return {
    id: turn.id,
    time: Number.isNaN(started) ? timeBefore : started,
    text: beginning(texts(false).join('\n'), TURN_TEXT_MAX_CHARACTERS),
    files: beginning(texts(true).join('\n'), TURN_TEXT_MAX_CHARACTERS),
    model: [...new Set(models)].join('\n'),
  };
}

export const titleDocument = (title: string, time: number): TextDocument => ({
  ...{ id: title, time, text: title, files: '', model: '' },
});

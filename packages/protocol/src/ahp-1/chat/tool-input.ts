/**
 * The input of a tool call, divided for display. Clients show it before a person approves the call, so nothing may get
 * lost: if the members would not show everything in the text, the text itself is shown.
 */
import type { ChatInputRequest } from './input.js';
import type { ToolCallState, ToolInput } from './tool-calls.js';

export interface ToolInputMember {
  /** Empty when the input is shown as one text. */
  readonly name: string;
  readonly text: string;
  /** Text can be edited directly; anything else is shown as JSON. */
  readonly isText: boolean;
}

/** The text of an input, or its URI if the host keeps it elsewhere. */
export function toolInputText(input: ToolInput | undefined): string {
  if (input === undefined) return '';
  return typeof input === 'string' ? input : input.uri;
}

/** The members of an input that is a JSON object; one member without a name for any other input. */
export function toolInputMembers(input: string): readonly ToolInputMember[] {
  const members = toolInputObject(input);
  if (!members) return input === '' ? [] : [{ name: '', text: input, isText: true }];
  return Object.entries(members).map(([name, value]) => ({
    name,
    text: typeof value === 'string' ? value : JSON.stringify(value, null, 2),
    isText: typeof value === 'string',
  }));
}

/** The input as an object, if it is one and parsing loses nothing: no duplicate names, no numbers that get rounded. */
export function toolInputObject(input: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(input);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return compact(input) === JSON.stringify(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** The same JSON without whitespace, with strings in the form that `JSON.stringify` writes. */
function compact(json: string): string {
  return json.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|\s+/g, (piece) =>
    piece.startsWith('"') ? JSON.stringify(JSON.parse(piece)) : '',
  );
}

/** True when an open request already asks the person what this call asks: showing both would repeat the question. */
export function asksOneOf(call: ToolCallState, requests: readonly ChatInputRequest[]): boolean {
  if (call.status !== 'running' || requests.length === 0) return false;
  const texts = new Set(textsIn(toolInputObject(toolInputText(call.toolInput))));
  return requests.some(({ questions = [] }) => questions.some(({ message }) => texts.has(message)));
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** A change of a file, as a client shows it. */
export interface ShownEdit {
  readonly uri: string;
  readonly before: string;
  readonly after: string;
}

/** Tests whether an edit shows the same as a member of this name. */
const SHOWN_BY_EDIT: Readonly<Record<string, (text: string, edit: ShownEdit) => boolean>> = {
  path: (text, { uri }) => pathOf(uri).endsWith(`/${text}`) || pathOf(uri) === text,
  content: (text, { after }) => text === after,
  oldText: (text, { before }) => before.includes(text),
  newText: (text, { after }) => after.includes(text),
};

/** The members that the edits do not show. They are part of what runs, so they must be shown beside the edits. */
export function membersBesideEdits(
  members: readonly ToolInputMember[],
  edits: readonly ShownEdit[],
): readonly ToolInputMember[] {
  return members.filter(({ name, text, isText }) => {
    const isRepeated = isText && Object.hasOwn(SHOWN_BY_EDIT, name) ? SHOWN_BY_EDIT[name] : undefined;
    return !isRepeated || !edits.some((edit) => edit.before !== edit.after && isRepeated(text, edit));
  });
}

function pathOf(uri: string): string {
  try {
    return decodeURIComponent(uri.replace(/^file:\/\//, ''));
  } catch {
    return uri;
  }
}

/**
 * The input of a tool call, divided for display. Clients show it before a person approves the call, so nothing may get
 * lost: where the members would not show everything that the text says, the text itself is shown.
 */
import type { ChatInputRequest } from './input.js';
import type { ToolCallState, ToolInput } from './tool-calls.js';

export interface ToolInputMember {
  /** Empty where the input is shown as it is. */
  readonly name: string;
  readonly text: string;
  /** Text can be written over; anything else is shown as JSON. */
  readonly isText: boolean;
}

/** The input as far as it is here: one that the host keeps elsewhere is named by its URI. */
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

/** The input as an object, if it is one and reading it loses nothing: no name twice, no number that gets rounded. */
export function toolInputObject(input: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(input);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return compact(input) === JSON.stringify(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** The same JSON without blanks, its texts written in the one way that `JSON.stringify` has. */
function compact(json: string): string {
  return json.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|\s+/g, (piece) =>
    piece.startsWith('"') ? JSON.stringify(JSON.parse(piece)) : '',
  );
}

/** Whether an open request already asks the person what this call asks: showing both would repeat the question. */
export function asksOneOf(call: ToolCallState, requests: readonly ChatInputRequest[]): boolean {
  if (call.status !== 'running' || requests.length === 0) return false;
  const said = new Set(textsIn(toolInputObject(toolInputText(call.toolInput))));
  return requests.some(({ questions = [] }) => questions.some(({ message }) => said.has(message)));
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** A change of a file as a client shows it. */
export interface ShownEdit {
  readonly uri: string;
  readonly before: string;
  readonly after: string;
}

/** The part of an edit that shows the same as a member of this name. */
const SAID_BY_EDIT: Readonly<Record<string, (text: string, edit: ShownEdit) => boolean>> = {
  path: (text, { uri }) => pathOf(uri).endsWith(`/${text}`) || pathOf(uri) === text,
  content: (text, { after }) => text === after,
  oldText: (text, { before }) => before.includes(text),
  newText: (text, { after }) => after.includes(text),
};

/** The members that the edits do not show. They are part of what runs and must be shown beside the edits. */
export function membersBesideEdits(
  members: readonly ToolInputMember[],
  edits: readonly ShownEdit[],
): readonly ToolInputMember[] {
  return members.filter(({ name, text, isText }) => {
    const isSaid = isText && Object.hasOwn(SAID_BY_EDIT, name) ? SAID_BY_EDIT[name] : undefined;
    return !isSaid || !edits.some((edit) => edit.before !== edit.after && isSaid(text, edit));
  });
}

function pathOf(uri: string): string {
  try {
    return decodeURIComponent(uri.replace(/^file:\/\//, ''));
  } catch {
    return uri;
  }
}

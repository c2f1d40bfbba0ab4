/** The input of a tool call as a person reads and changes it: a command as it is, anything else as indented JSON. */
import { printableLines } from '../text/printable.js';
import { hardWrap } from '../text/width.js';

/** Longer input is shown as it is: it is looked at whenever the screen is drawn. */
const READ_MAX_CHARACTERS = 20_000;

export interface InputText {
  /** What stands before the text: the name of the only value, or nothing. */
  readonly name: string | undefined;
  /** The only value, or everything. */
  readonly value: string;
  /** Name and value together. */
  readonly text: string;
}

export function inputText(input = ''): InputText {
  const only = onlyValue(input);
  if (only) return { name: only[0], value: only[1], text: `${only[0]}: ${only[1]}` };
  const parsed = input.length > READ_MAX_CHARACTERS ? undefined : parsedObject(input);
  const text = parsed === undefined ? input : JSON.stringify(parsed, null, 2);
  return { name: undefined, value: text, text };
}

function onlyValue(input: string): [string, string] | undefined {
  const [only, ...others] = Object.entries(parsedObject(input) ?? {});
  return only && others.length === 0 && typeof only[1] === 'string' ? [only[0], only[1]] : undefined;
}

function parsedObject(input: string): object | undefined {
  try {
    const value: unknown = JSON.parse(input);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Wrapped anywhere, so that nothing is hidden and nothing is added. */
export function shownInput(text: string, columns: number, isWhole = false): string[] {
  if (text === '') return [];
  const shown = isWhole ? text : text.slice(0, READ_MAX_CHARACTERS);
  const lines = printableLines(shown)
    .split('\n')
    .flatMap((line) => hardWrap(line, columns - 2).map((piece) => `  ${piece}`));
  return shown.length < text.length ? [...lines, `  … ${text.length - shown.length} more characters`] : lines;
}

export type Edited = { readonly input: string } | { readonly problem: string };

/** What was written, as input of the call again. Input that was an object stays one. */
export function editedInput(before: string | undefined, written: string): Edited {
  const { name } = inputText(before);
  if (name !== undefined) return { input: JSON.stringify({ [name]: written }) };
  if (before === undefined || parsedObject(before) === undefined) return { input: written };
  const value = parsedObject(written);
  return value ? { input: JSON.stringify(value) } : { problem: 'This must be a JSON object, with { and }.' };
}

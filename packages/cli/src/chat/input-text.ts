/** The input of a tool call as a person reads and changes it: a command as it is, anything else as indented JSON. */
import { toolInputObject } from '@atrium/protocol';

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
  const parsed = toolInputObject(input);
  const text = parsed === undefined ? input : JSON.stringify(parsed, null, 2);
  return { name: undefined, value: text, text };
}

function onlyValue(input: string): [string, string] | undefined {
  const [only, ...others] = Object.entries(toolInputObject(input) ?? {});
  return only && others.length === 0 && typeof only[1] === 'string' ? [only[0], only[1]] : undefined;
}

export type Edited = { readonly input: string } | { readonly problem: string };

/** What was written, as input of the call again. Input that was an object stays one. */
export function editedInput(before: string | undefined, written: string): Edited {
  const { name } = inputText(before);
  if (name !== undefined) return { input: JSON.stringify({ [name]: written }) };
  if (before === undefined || toolInputObject(before) === undefined) return { input: written };
  const value = toolInputObject(written);
  return value ? { input: JSON.stringify(value) } : { problem: 'This must be a JSON object, with { and }.' };
}

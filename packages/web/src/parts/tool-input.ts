/** The input of a tool with one of its members said differently. */
import { toolInputObject } from '@atrium/protocol';

export function withMember(input: string, name: string, text: string): string {
  const members = toolInputObject(input);
  return members && name !== '' ? JSON.stringify({ ...members, [name]: text }) : text;
}

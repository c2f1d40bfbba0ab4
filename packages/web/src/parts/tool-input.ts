/** The input of a tool, taken apart for people: most inputs are an object with a few short members. */

export interface InputMember {
  /** Empty when the input has no members. */
  readonly name: string;
  readonly text: string;
  /** Text can be written over; anything else is shown as JSON. */
  readonly isText: boolean;
}

export function membersOf(input: string): readonly InputMember[] {
  const members = parsed(input);
  if (!members) return input === '' ? [] : [{ name: '', text: input, isText: true }];
  return Object.entries(members).map(([name, value]) => ({
    name,
    text: typeof value === 'string' ? value : JSON.stringify(value, null, 2),
    isText: typeof value === 'string',
  }));
}

/** The input with one of its members said differently. */
export function withMember(input: string, name: string, text: string): string {
  const members = parsed(input);
  return members && name !== '' ? JSON.stringify({ ...members, [name]: text }) : text;
}

function parsed(input: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(input);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

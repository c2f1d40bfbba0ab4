/** Puts what happened in a turn into the strings of a step. */

export interface Values {
  /** What the person wrote. */
  readonly text: string;
  /** What the last tool said, why it was denied, or what was answered. */
  readonly lastResult: string;
  /** What the person wrote last to steer the turn. */
  readonly steering: string;
}

/** One pass: what is put in is not looked at again, and names that are not known stay as they are. */
export function substitute<T>(template: T, values: Values): T {
  return replaceIn(template, values) as T;
}

function replaceIn(template: unknown, values: Values): unknown {
  if (typeof template === 'string') return replaceInText(template, values);
  if (Array.isArray(template)) return template.map((item) => replaceIn(item, values));
  if (typeof template !== 'object' || template === null) return template;
  return Object.fromEntries(Object.entries(template).map(([key, member]) => [key, replaceIn(member, values)]));
}

function replaceInText(template: string, values: Values): string {
  return template.replace(/\$\{(text|lastResult|steering)\}/g, (_, name: keyof Values) => values[name]);
}

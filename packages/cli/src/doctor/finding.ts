/** What a check found out, and what to do about it. */

export interface Finding {
  /** What was looked at, in a word. */
  readonly about: string;
  readonly state: 'fine' | 'warning' | 'problem';
  readonly text: string;
  /** What to do; absent when nothing is to be done. */
  readonly remedy?: string;
}

export function fine(about: string, text: string): Finding {
  return { about, state: 'fine', text };
}

export function warning(about: string, text: string, remedy: string): Finding {
  return { about, state: 'warning', text, remedy };
}

export function problem(about: string, text: string, remedy: string): Finding {
  return { about, state: 'problem', text, remedy };
}

/**
 * Messages that begin with a slash. A person who types `/name` means a command; if there is none of that name, it is a
 * slip, and no model should get it as a message. Clients decide with one function, so that they agree.
 */
import { isChildEnabled, isCustomizationEnabled } from './enablement.js';
import type { SessionState } from './state.js';

/** `/name`, alone or before a space. A path (`/usr/bin/env`) has another slash in its first word: it is a text. */
const COMMAND = /^\/(\p{L}[\p{L}\p{N}_.:-]*)(?=\s|$)/u;

export type SlashVerdict =
  /** To be sent, as it is written here. */
  | { readonly kind: 'message'; readonly text: string }
  /** Not to be sent. `advice` tells the person, with the nearest name and how to send the message anyway. */
  | { readonly kind: 'unknown'; readonly name: string; readonly advice: string };

/**
 * What to do with a message. `own` are the names of the client's commands, which it has looked for before; they are only
 * suggested. A second slash in front sends what would be a command as a text.
 */
export function readSlash(
  text: string,
  { customizations }: Pick<SessionState, 'customizations'>,
  own: readonly string[] = [],
): SlashVerdict {
  if (text.startsWith('//') && commandIn(text.slice(1)) !== undefined) return { kind: 'message', text: text.slice(1) };
  const name = commandIn(text);
  const known = callableNames({ customizations });
  if (name === undefined || known.some((each) => isSame(each, name))) return { kind: 'message', text };
  const near = nearest(name, [...own, ...known]);
  const hint = near === undefined ? '' : ` Did you mean /${near}?`;
  return {
    kind: 'unknown',
    name,
    advice: `There is no command /${name}.${hint} To send it as a text, write //${name}`,
  };
}

/** The name of the command that a message would be. */
export function commandIn(text: string): string | undefined {
  return COMMAND.exec(text)?.[1];
}

/** The skills and prompts that can be called by name now; those of a plugin with its name in front. */
export function callableNames({ customizations = [] }: Pick<SessionState, 'customizations'>): string[] {
  return customizations.flatMap((container) => {
    if (!isCustomizationEnabled(container)) return [];
    const prefix = container.type === 'plugin' ? `${container.name}:` : '';
    const children = 'children' in container ? (container.children ?? []) : [];
    return children.flatMap((child) =>
      (child.type === 'skill' || child.type === 'prompt') && isChildEnabled(container, child)
        ? [`${prefix}${child.name}`]
        : [],
    );
  });
}

/** Whether the host has looked for everything that can be called by name. A new session takes a moment for it. */
export function hasCallableNames({ lifecycle, customizations }: SessionState): boolean {
  if (lifecycle === 'creating' || customizations === undefined) return false;
  return !customizations.some((container) => 'load' in container && container.load?.kind === 'loading');
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** The name that takes the fewest slips to become what was typed; none when that would be another word. */
function nearest(typed: string, names: readonly string[]): string | undefined {
  const most = Math.max(1, Math.floor(typed.length / 3));
  const ranked = names
    .map((name) => ({ name, slips: slipsBetween(typed.toLowerCase(), name.toLowerCase()) }))
    .filter(({ slips }) => slips <= most)
    .sort((a, b) => a.slips - b.slips);
  return ranked[0]?.name;
}

/** How many letters are missing, too many, wrong, or in the place of their neighbour. */
function slipsBetween(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const cost = one[i - 1] === other[j - 1] ? 0 : 1;
      const plain = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + cost);
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      next[j] = isSwapped ? Math.min(plain, (before[j - 2] ?? 0) + 1) : plain;
    }
    before = row;
    row = next;
  }
  return row[other.length] ?? 0;
}

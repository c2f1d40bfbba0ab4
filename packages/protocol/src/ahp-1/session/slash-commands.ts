/**
 * Messages that begin with a slash. A person who types `/name` means a command; if there is none of that name, it is a
 * typing error, and no model should get it as a message. All clients decide with one function, so that they agree.
 */
import type { Message } from '../chat/messages.js';
import { isChildEnabled, isCustomizationEnabled } from './enablement.js';
import { offeredPrompts } from './server-prompts.js';
import type { SessionState } from './state.js';

/** `/name`, alone or before a space. A path (`/usr/bin/env`) has another slash in its first word, so it is text. */
const COMMAND = /^\/(\p{L}[\p{L}\p{N}_.:-]*)(?=\s|$)/u;

/** How many names are suggested for a typing error. */
export const NEAR_NAMES_MAX = 3;

export type SlashVerdict =
  /** Send it as it is written here. `isLiteral`: it looks like a command, but is text. */
  | { readonly kind: 'message'; readonly text: string; readonly isLiteral?: true }
  /**
   * Do not send it before the person has confirmed. `advice` says why, with the nearest names and how to send it
   * anyway.
   */
  | {
      readonly kind: 'unknown';
      readonly name: string;
      readonly near: readonly string[];
      readonly advice: string;
    };

/** In the `_meta` of a completed command's attachment: the plugin or the folder that offers the command. */
export const SOURCE_META_KEY = 'atrium.source';

/** The source of a completed command, in words; undefined when the host does not say. */
export function commandSource(meta: Readonly<Record<string, unknown>> | undefined): string | undefined {
  const source = meta?.[SOURCE_META_KEY];
  return typeof source === 'string' && source !== '' ? source : undefined;
}

/** Set on a message that looks like a command but is not: the host and the agent treat it as text. */
const LITERAL_META_KEY = 'atrium.literal';

export function literal(message: Message): Message {
  return { ...message, _meta: { ...message._meta, [LITERAL_META_KEY]: true } };
}

export function isLiteral({ _meta }: Pick<Message, '_meta'>): boolean {
  return _meta?.[LITERAL_META_KEY] === true;
}

/**
 * Decides what to do with a message. `own` are the names of the client's commands, which it has already checked; they
 * are only suggested. A second slash in front sends what would be a command as text.
 */
export function readSlash(
  text: string,
  { customizations }: Pick<SessionState, 'customizations'>,
  own: readonly string[] = [],
): SlashVerdict {
  if (text.startsWith('//') && commandIn(text.slice(1)) !== undefined)
    return { kind: 'message', text: text.slice(1), isLiteral: true };
  const name = commandIn(text);
  const known = callableNames({ customizations });
  if (name === undefined || known.some((each) => isSame(each, name))) return { kind: 'message', text };
  const near = nearest(name, [...own, ...known]);
  const hint = near.length === 0 ? '' : ` Did you mean ${near.map((one) => `/${one}`).join(' or ')}?`;
  return {
    kind: 'unknown',
    name,
    near,
    advice: `There is no command /${name}.${hint} To send it as a text, write //${name}`,
  };
}

/** The name of the command that a message would call. */
export function commandIn(text: string): string | undefined {
  return COMMAND.exec(text)?.[1];
}

/** The skills and prompts that can now be called by name; those of a plugin or an MCP server have its name in front. */
export function callableNames({ customizations = [] }: Pick<SessionState, 'customizations'>): string[] {
  const ofServers = offeredPrompts({ customizations }).map(({ command }) => command);
  const ofFiles = customizations.flatMap((container) => {
    if (!isCustomizationEnabled(container)) return [];
    const prefix = container.type === 'plugin' ? `${container.name}:` : '';
    const children = 'children' in container ? (container.children ?? []) : [];
    return children.flatMap((child) =>
      (child.type === 'skill' || child.type === 'prompt') && isChildEnabled(container, child)
        ? [`${prefix}${child.name}`]
        : [],
    );
  });
  return [...ofFiles, ...ofServers];
}

/** True when the host has looked for everything that can be called by name. For a new session, this takes a moment. */
export function hasCallableNames({ lifecycle, customizations }: SessionState): boolean {
  if (lifecycle === 'creating' || customizations === undefined) return false;
  return !customizations.some((container) => 'load' in container && container.load?.kind === 'loading');
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** The names most similar to what was typed, without those that are clearly different words. */
function nearest(typed: string, names: readonly string[]): string[] {
  const most = Math.max(1, Math.floor(typed.length / 3));
  const ranked = [...new Set(names)]
    .map((name) => ({ name, slips: slipsBetween(typed.toLowerCase(), name.toLowerCase()) }))
    .filter(({ slips }) => slips <= most)
    .sort((a, b) => a.slips - b.slips);
  const best = ranked[0]?.slips;
  return ranked.flatMap(({ name, slips }) => (slips === best ? name : [])).slice(0, NEAR_NAMES_MAX);
}

/** How many letters are missing, superfluous, wrong, or swapped with their neighbour. */
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

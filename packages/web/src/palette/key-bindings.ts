/** The keys of commands, and how a person changes them on this device. Two commands never have the same keys. */
import { Store } from '../model/store.js';

export const BINDINGS = [
  { id: 'palette', keys: 'Ctrl K', text: 'Find a command or a session' },
  { id: 'help', keys: 'Ctrl /', text: 'Show the list of keys' },
  { id: 'settings', keys: 'Ctrl ,', text: 'Settings' },
  { id: 'new', keys: 'N', text: 'New session' },
  { id: 'search', keys: '/', text: 'Search sessions' },
  { id: 'compose', keys: 'C', text: 'Write a message' },
  { id: 'next', keys: 'J', text: 'Next session' },
  { id: 'previous', keys: 'K', text: 'Previous session' },
  { id: 'details', keys: 'D', text: 'Show or hide the details' },
  { id: 'approve', keys: 'Alt Y', text: 'Approve what the agent asks' },
  { id: 'deny', keys: 'Alt N', text: 'Deny what the agent asks' },
  { id: 'stop', keys: 'Alt .', text: 'Stop the agent' },
] as const;

export type BindingId = (typeof BINDINGS)[number]['id'];
type Changed = Readonly<Partial<Record<BindingId, string>>>;

/** Keys that a command cannot have, because they act in text, in the browser, or elsewhere in the page. */
const TAKEN = [
  '?',
  'Ctrl F',
  'Ctrl Shift F',
  'Ctrl Enter',
  'Ctrl C',
  'Ctrl V',
  'Ctrl X',
  'Ctrl A',
  'Ctrl Z',
  'Ctrl W',
  'Ctrl T',
  'Ctrl N',
];
const NAMED =
  /^(?:Enter|Tab|Escape|Esc|Backspace|Delete| |Space|Arrow|Page|Home|End|F\d|Shift|Control|Alt|Meta|Dead|Process|AltGraph|CapsLock)/;
const KEY = 'atrium.keys';

export const changedKeys = new Store<Changed>(stored());

function stored(): Changed {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}');
    const known = typeof kept === 'object' && kept !== null ? Object.entries(kept) : [];
    const valid = known.filter(([id, keys]) => BINDINGS.some((each) => each.id === id) && typeof keys === 'string');
    return Object.fromEntries(valid);
  } catch {
    return {};
  }
}

export function keysOf(id: BindingId): string {
  return changedKeys.get()[id] ?? BINDINGS.find((each) => each.id === id)?.keys ?? '';
}

/** The keys of an event in words: `Ctrl Shift K`; undefined for keys that cannot be a command. */
export function chordOf({ key, code, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): string | undefined {
  if (NAMED.test(key) && key !== 'N') return undefined;
  const isLetter = /^Key[A-Z]$/.test(code);
  // With Alt many letters become other characters, so this uses the position of the key.
  const name = altKey ? altName(key, code) : key.toUpperCase();
  const parts = [(ctrlKey || metaKey) && 'Ctrl', altKey && 'Alt', shiftKey && isLetter && 'Shift', name];
  return parts.filter(Boolean).join(' ');
}

function altName(key: string, code: string): string {
  if (/^Key[A-Z]$/.test(code)) return code.slice('Key'.length);
  return code === 'Period' ? '.' : code === 'Comma' ? ',' : key.toUpperCase();
}

/** Says why the command cannot have these keys; undefined if it can. */
export function keysProblem(id: BindingId, keys: string): string | undefined {
  if (TAKEN.includes(keys)) return `${keys} does something else already.`;
  const other = BINDINGS.find((each) => each.id !== id && keysOf(each.id) === keys);
  if (other) return `${keys} is for “${other.text}”. Change that first.`;
  const isAnswer = id === 'approve' || id === 'deny' || id === 'stop';
  if (isAnswer && !/^(?:Ctrl|Alt) /.test(keys)) return 'An answer needs Ctrl or Alt, so that no letter gives it.';
  return undefined;
}

export function changeKeys(id: BindingId, keys: string | undefined): void {
  const { [id]: _, ...others } = changedKeys.get();
  const isUsual = keys === undefined || BINDINGS.some((each) => each.id === id && each.keys === keys);
  const next = isUsual ? others : { ...others, [id]: keys };
  changedKeys.set(next);
  localStorage.setItem(KEY, JSON.stringify(next));
}

/** The command of an event's keys. */
export function bindingOf(event: KeyboardEvent): BindingId | undefined {
  const chord = chordOf(event);
  return chord === undefined ? undefined : BINDINGS.find(({ id }) => keysOf(id) === chord)?.id;
}

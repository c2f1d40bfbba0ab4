/** Keyboard shortcuts. Single letters do nothing while a text field has the focus. */
import { useEffect } from 'react';
import { goTo } from '../host/router.js';
import { isFinding } from '../search/finding.js';
import { tell } from '../ui/notices.js';
import { togglePanel } from '../ui/panel-state.js';
import { BINDINGS, bindingOf, keysOf } from './key-bindings.js';

type Show = (overlay: 'settings' | 'palette' | 'help' | 'search' | undefined) => void;

/** All keys, those that were changed as they are now. */
export function shortcutList(): readonly (readonly [keys: string, what: string])[] {
  return [...BINDINGS.map(({ id, text }) => [keysOf(id), text] as const), ...FIXED];
}

const FIXED: readonly (readonly [keys: string, what: string])[] = [
  ['?', 'Show this list, outside of text'],
  ['Ctrl Shift F', 'Search everything that was said'],
  ['Ctrl F', 'Find in this chat; Enter and Shift Enter go on and back'],
  ['Alt ↓ or ↑', 'Next / previous session, also in an empty text field'],
  ['↑', 'What was written before; ↓ goes back to what was begun'],
  ['Enter', 'Send; while the agent works: queue'],
  ['Ctrl Enter', 'Steer the agent while it works'],
  ['Shift Enter', 'New line'],
  ['Shift Esc', 'Leave a terminal: every other key belongs to it'],
  ['Esc', 'Close, cancel editing, or leave the text: then the letters above work'],
];

export function useShortcuts(show: Show): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const run = commandFor(event, show);
      if (!run) return;
      event.preventDefault();
      run();
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, [show]);
}

function commandFor(event: KeyboardEvent, show: Show): (() => void) | undefined {
  const { key, ctrlKey, metaKey, altKey } = event;
  const id = bindingOf(event);
  // A key that is held must not answer one question after the other.
  if (event.repeat && id !== undefined && id in ANSWERS) return () => {};
  if ((ctrlKey || metaKey) && key.toLowerCase() === 'f') return finding(event, show);
  const isOverText = isWriting(event.target) && hasText(event.target);
  // Over a text, Alt with an arrow belongs to the text.
  if (altKey && key === 'ArrowDown') return isOverText ? undefined : () => neighbour(1);
  if (altKey && key === 'ArrowUp') return isOverText ? undefined : () => neighbour(-1);
  const isFree = !isWriting(event.target) && !document.querySelector('dialog[open]');
  if (isFree && key === '?' && !altKey) return () => show('help');
  if (id === undefined || (!ctrlKey && !metaKey && !altKey && !isFree)) return undefined;
  if (id === 'palette' || id === 'help' || id === 'settings') return () => show(id);
  return ANSWERS[id] ?? PLAIN[id];
}

/** The browser's own search sees only what is drawn. A terminal keeps its keys, and other hosts cannot search. */
function finding({ shiftKey, target }: KeyboardEvent, show: Show): (() => void) | undefined {
  const isTerminal = target instanceof Element && target.closest('.xterm') !== null;
  if (isTerminal || !document.querySelector('.shell[data-search]')) return undefined;
  if (shiftKey) return () => show('search');
  if (!document.querySelector('.conversation') || document.querySelector('dialog[open]')) return undefined;
  return () => {
    isFinding.set(true);
    requestAnimationFrame(() => focus('find-in-chat'));
  };
}

const ANSWERS: Readonly<Record<string, () => void>> = {
  approve: () => answer('approve'),
  deny: () => answer('deny'),
  stop: () => press('.composer .stop'),
};

const PLAIN: Readonly<Record<string, () => void>> = {
  new: () => {
    goTo({ at: 'new' });
    requestAnimationFrame(() => focus('home-message'));
  },
  search: () => focus('session-search'),
  compose: () => focus('composer'),
  next: () => neighbour(1),
  previous: () => neighbour(-1),
  details: togglePanel,
};

function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, textarea, select, [contenteditable]');
}

function hasText(target: EventTarget | null): boolean {
  return target instanceof HTMLTextAreaElement && target.value !== '';
}

/** The shortcut does what the button does, so that both can never differ. */
function press(selector: string): void {
  document.querySelector<HTMLButtonElement>(selector)?.click();
}

/**
 * Answers the first question, and only where it can be seen: otherwise it is brought into view first. Never another
 * one in its place, because it cannot be answered in this way.
 */
export function answer(kind: 'approve' | 'deny'): void {
  const question = document.querySelector('.confirmation');
  const button = question?.querySelector<HTMLButtonElement>(`[data-answer="${kind}"]`);
  if (!question || !button) return;
  const { top, bottom, left, right } = button.getBoundingClientRect();
  const shown = question.closest('.timeline')?.getBoundingClientRect();
  if (shown && (top < shown.top || bottom > shown.bottom)) return question.scrollIntoView({ block: 'end' });
  if (button.disabled) return unlock(question);
  // Whatever lies over it hides what is asked as well.
  if (!button.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2))) return;
  // The next question takes the place of this one, and must be seen before the same keys answer it, too.
  if (performance.now() - answeredAt < ANSWER_GUARD_MS) return;
  answeredAt = performance.now();
  button.click();
}

/** What keeps it from being answered is said, and what is still to be read has the focus: the keys of reading work there. */
function unlock(question: Element): void {
  const hint = question.querySelector('[role="status"]')?.textContent;
  if (!hint) return;
  tell(hint);
  question.closest('.tool-call')?.querySelector<HTMLElement>('.read-box.is-unread .read-text')?.focus();
}

const ANSWER_GUARD_MS = 300;
let answeredAt = Number.NEGATIVE_INFINITY;

function focus(id: string): void {
  document.getElementById(id)?.focus();
}

function neighbour(step: number): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('.session-item a')];
  const here = links.findIndex((link) => link.getAttribute('aria-current') === 'page');
  const link = links[here === -1 ? 0 : Math.min(links.length - 1, Math.max(0, here + step))];
  // With the focus on the link, the session that opens leaves the keyboard here, and the next letter walks on.
  link?.focus();
  link?.click();
}

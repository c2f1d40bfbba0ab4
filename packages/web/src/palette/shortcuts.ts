/** Keyboard shortcuts. Single letters do nothing while a text field has the focus. */
import { useEffect } from 'react';
import { goTo } from '../host/router.js';
import { isFinding } from '../search/finding.js';
import { tell } from '../ui/notices.js';
import { togglePanel } from '../ui/panel-state.js';
import { BINDINGS, bindingOf, keysOf } from './key-bindings.js';

type Show = (overlay: 'settings' | 'palette' | 'help' | 'search' | undefined) => void;

/** All keys, with the person's changes. */
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
  // A key that is held down must not answer one question after the other.
  if (event.repeat && id !== undefined && id in ANSWERS) return () => {};
  if ((ctrlKey || metaKey) && key.toLowerCase() === 'f') return finding(event, show);
  const isOverText = isWriting(event.target) && hasText(event.target);
  // In a text field, Alt with an arrow belongs to the text.
  if (altKey && key === 'ArrowDown') return isOverText ? undefined : () => neighbour(1);
  if (altKey && key === 'ArrowUp') return isOverText ? undefined : () => neighbour(-1);
  const isFree = !isWriting(event.target) && !document.querySelector('dialog[open]');
  if (isFree && key === '?' && !altKey) return () => show('help');
  if (id === undefined || (!ctrlKey && !metaKey && !altKey && !isFree)) return undefined;
  if (id === 'palette' || id === 'help' || id === 'settings') return () => show(id);
  return ANSWERS[id] ?? PLAIN[id];
}

/**
 * Replaces the browser's search, which sees only drawn rows. Not in a terminal, and not for hosts that cannot search.
 */
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

/** Clicks the button, so that shortcut and button never differ. */
function press(selector: string): void {
  document.querySelector<HTMLButtonElement>(selector)?.click();
}

/**
 * Answers the first question, and only if it is visible; otherwise brings it into view first. If the first question
 * cannot be
 * answered in this way, it does not answer another one instead.
 */
export function answer(kind: 'approve' | 'deny'): void {
  const question = document.querySelector('.confirmation');
  const button = question?.querySelector<HTMLButtonElement>(`[data-answer="${kind}"]`);
  if (!question || !button) return;
  const { top, bottom, left, right } = button.getBoundingClientRect();
  const shown = question.closest('.timeline')?.getBoundingClientRect();
  if (shown && (top < shown.top || bottom > shown.bottom)) {
    tell('This is the first question that waits. The same key answers it.');
    return question.scrollIntoView({ block: 'end' });
  }
  if (button.disabled) return unlock(question);
  // Anything that covers the button covers the question, too.
  if (!button.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2))) return;
  // The next question takes this one's place: the person must see it before the same keys can answer it.
  if (performance.now() - answeredAt < ANSWER_GUARD_MS) return;
  answeredAt = performance.now();
  button.click();
}

/** Says what blocks the answer, and focuses the unread text, so that the reading keys work there. */
function unlock(question: Element): void {
  const hint = question.querySelector('[role="status"]')?.textContent;
  if (!hint) return;
  tell(`${hint} Page Down reads on.`);
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
  // The focus on the link keeps the keyboard here when the session opens, so that the next letter goes on.
  link?.focus();
  link?.click();
}

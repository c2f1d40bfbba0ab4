/** Keyboard focus: when a field may take it unasked, and how it survives elements that go away. */
import { type FocusEvent, type RefObject, useLayoutEffect, useRef } from 'react';

export function hasKeyboard(): boolean {
  return matchMedia('(hover: hover) and (pointer: fine)').matches;
}

/** True where there is a keyboard and the focus is not in use elsewhere. */
export function mayTakeFocus(): boolean {
  if (!hasKeyboard() || document.querySelector('dialog[open]')) return false;
  const at = document.activeElement;
  // A link that was clicked is left behind; one that was reached with keys is in use.
  return at === null || at === document.body || !at.matches(':focus-visible');
}

interface Keeping<T> {
  readonly ref: RefObject<T | null>;
  onFocus(event: FocusEvent): void;
  onBlur(): void;
}

/**
 * Keeps the focus inside of a container when React removes or recreates the focused element. The result goes onto the
 * container; `standIn` finds the element that takes the focus instead.
 */
export function useKeptFocus<T extends HTMLElement>(
  standIn: (box: T, gone: Element) => HTMLElement | null,
): Keeping<T> {
  const ref = useRef<T>(null);
  const last = useRef<Element>(undefined);
  useLayoutEffect(() => {
    const isLost = last.current?.isConnected === false && document.activeElement === document.body;
    if (ref.current && last.current && isLost) standIn(ref.current, last.current)?.focus();
  });
  return {
    ref,
    onFocus: ({ target }) => {
      last.current = target;
    },
    // React does not tell of this when it is React that takes the element away.
    onBlur: () => {
      last.current = undefined;
    },
  };
}

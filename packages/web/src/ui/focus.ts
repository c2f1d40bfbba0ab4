/** When a field may take the focus by itself: where there is a keyboard, and nobody is busy elsewhere with theirs. */
import { type FocusEvent, type RefObject, useLayoutEffect, useRef } from 'react';

export function hasKeyboard(): boolean {
  return matchMedia('(hover: hover) and (pointer: fine)').matches;
}

export function mayTakeFocus(): boolean {
  if (!hasKeyboard() || document.querySelector('dialog[open]')) return false;
  const at = document.activeElement;
  // A link that was clicked is left behind; one that was reached with keys is where somebody walks through the list.
  return at === null || at === document.body || !at.matches(':focus-visible');
}

/** Whoever works with keys stays where they are, also when what they were on goes away, or is made anew elsewhere. */

interface Keeping<T> {
  readonly ref: RefObject<T | null>;
  onFocus(event: FocusEvent): void;
  onBlur(): void;
}

/** For the element around; `standIn` finds what has the focus instead of what is gone. */
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

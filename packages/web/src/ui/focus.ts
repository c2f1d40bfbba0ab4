/** Keyboard focus: when a field may take it unasked, and how it survives elements that go away. */
import { type FocusEvent, type RefObject, useLayoutEffect, useRef } from 'react';

export function hasKeyboard(): boolean {
  return matchMedia('(hover: hover) and (pointer: fine)').matches;
}

/** True where there is a keyboard and the focus is not in use elsewhere. */
export function canTakeFocus(): boolean {
  if (!hasKeyboard() || document.querySelector('dialog[open]')) return false;
  const at = document.activeElement;
  // A clicked link does not need the focus; one that was reached with keys does.
  return at === null || at === document.body || !at.matches(':focus-visible');
}

interface Keeping<T> {
  readonly ref: RefObject<T | null>;
  onFocus(event: FocusEvent): void;
  onBlur(): void;
}

/**
 * Keeps the focus inside a container when React removes or recreates the focused element. Spread the result onto the
 * container;
 * `standIn` finds the element that takes the focus instead.
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
    // React does not fire this when React itself removes the element.
    onBlur: () => {
      last.current = undefined;
    },
  };
}

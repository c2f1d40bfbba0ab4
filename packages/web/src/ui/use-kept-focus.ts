/** Whoever works with keys stays where they are, also when what they were on goes away, or is made anew elsewhere. */
import { type FocusEvent, type RefObject, useLayoutEffect, useRef } from 'react';

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

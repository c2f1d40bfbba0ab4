/**
 * Keeps the end of a list in view while it grows: new rows, output that streams, a diff that arrives late, a dock that
 * gets taller. Scrolling up, or unfolding something, lets go; coming back to the end takes hold again.
 */
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';

/** A distance below this counts as the end. */
const END_PX = 60;

interface FollowEnd {
  readonly isAtEnd: boolean;
  toEnd(): void;
  /** Stops following the end, because the person looks at something in particular. */
  letGo(): void;
  /** Call it when the list was scrolled. */
  scrolled(): void;
}

interface Elements {
  readonly scroller: RefObject<HTMLElement | null>;
  /** The content of the scroller, whose height changes. */
  readonly content: RefObject<HTMLElement | null>;
  /** What has to be seen from its beginning: it is not passed by, once, even if the end is then out of view. */
  readonly notToPass: string;
}

/** What a person does to move the list. */
const MOVES = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const;
/** The distance to the upper edge at which it is shown. */
const ABOVE_PX = 8;

export function useFollowEnd({ scroller, content, notToPass }: Elements): FollowEnd {
  const isHeld = useRef(true);
  const last = useRef({ top: 0, height: 0 });
  const shown = useRef<Element>(undefined);
  const showing = useRef<Element>(undefined);
  const [isAtEnd, setAtEnd] = useState(true);

  const look = useCallback(() => {
    const box = scroller.current;
    if (!box) return;
    last.current = { top: box.scrollTop, height: box.scrollHeight };
    setAtEnd(isHeld.current || leftBelow(box) <= END_PX || isAnswerable(box, notToPass));
  }, [scroller, notToPass]);
  const toEnd = useCallback(() => {
    isHeld.current = true;
    showing.current = undefined;
    const box = scroller.current;
    if (box) box.scrollTop = box.scrollHeight;
    look();
  }, [scroller, look]);
  const scrolled = useCallback(() => {
    const box = scroller.current;
    if (!box) return;
    const { top, height } = last.current;
    // Rows that are smaller than expected also move the position; that does not mean that the person scrolled.
    if (leftBelow(box) <= END_PX) isHeld.current = showing.current === undefined;
    else if (box.scrollTop < top && box.scrollHeight >= height) isHeld.current = false;
    look();
  }, [scroller, look]);
  const letGo = useCallback(() => {
    isHeld.current = false;
    showing.current = undefined;
  }, []);

  const show = useCallback(() => {
    const [box, found] = [scroller.current, showing.current];
    if (!box || !found?.matches(notToPass)) return;
    box.scrollTop -= box.getBoundingClientRect().top + ABOVE_PX - found.getBoundingClientRect().top;
    look();
  }, [scroller, notToPass, look]);
  const follow = useCallback(() => {
    toEnd();
    const box = scroller.current;
    const found = box?.querySelector(notToPass);
    if (!box || !found || shown.current === found) return;
    if (found.getBoundingClientRect().top >= box.getBoundingClientRect().top) return;
    shown.current = found;
    showing.current = found;
    isHeld.current = false;
    show();
    // The list has its own idea of what to keep in place.
    requestAnimationFrame(show);
  }, [scroller, notToPass, toEnd, show]);
  // What stands around it still grows, until the person moves the list.
  useEffect(() => {
    const box = scroller.current;
    const moved = () => {
      showing.current = undefined;
    };
    for (const event of MOVES) box?.addEventListener(event, moved, { passive: true });
    return () => {
      for (const event of MOVES) box?.removeEventListener(event, moved);
    };
  }, [scroller]);

  useEffect(() => {
    const observer = new ResizeObserver(() => {
      if (isHeld.current) return follow();
      look();
      if (showing.current) requestAnimationFrame(show);
    });
    for (const { current } of [scroller, content]) if (current) observer.observe(current);
    return () => observer.disconnect();
  }, [scroller, content, follow, show, look]);
  return { isAtEnd, toEnd, letGo, scrolled };
}

/** A question with its answers in view needs no way to it. */
function isAnswerable(box: HTMLElement, question: string): boolean {
  const view = box.getBoundingClientRect();
  return [...box.querySelectorAll(`${question} .confirmation .buttons`)].some((answers) => {
    const { top, bottom } = answers.getBoundingClientRect();
    return top >= view.top && bottom <= view.bottom;
  });
}

function leftBelow({ scrollHeight, clientHeight, scrollTop }: HTMLElement): number {
  return scrollHeight - clientHeight - scrollTop;
}

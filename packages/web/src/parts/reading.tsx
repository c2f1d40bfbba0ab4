/**
 * Text that a person must read before a call may run. A text that does not fit scrolls in its box, with the number of
 * its lines
 * below it, and the person can allow nothing before its end has been in view.
 */
import {
  createContext,
  type ReactNode,
  type RefObject,
  useContext,
  useEffect,
  useId,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { plural } from '../model/format.js';

/** Longer texts would freeze the page, so a person cannot read or allow them here. */
export const READABLE_MAX_LINES = 10_000;
export const READABLE_MAX_CHARACTERS = 300_000;

export function isReadable(text: string): boolean {
  return text.length <= READABLE_MAX_CHARACTERS && lineCount(text) <= READABLE_MAX_LINES;
}

export function lineCount(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}

/** How far the person has read; the first of these that applies to one of the texts counts for all. */
export type Reading = 'too-long' | 'loading' | 'unread' | 'unbegun' | 'read';
const WORST_FIRST: readonly Reading[] = ['too-long', 'loading', 'unread', 'unbegun', 'read'];

type Report = (id: string, reading: Reading | undefined) => void;
const Gate = createContext<Report | undefined>(undefined);

export const ReadingGate = Gate.Provider;

/** Knows how far the person has read each text below the gate. */
export function useReadingGate(): { readonly report: Report; readonly reading: Reading } {
  const [known, setKnown] = useState<ReadonlyMap<string, Reading>>(new Map());
  const report = useMemo(
    (): Report => (id, reading) =>
      setKnown((before) => {
        if (before.get(id) === reading) return before;
        const after = new Map(before);
        if (reading === undefined) after.delete(id);
        else after.set(id, reading);
        return after;
      }),
    [],
  );
  const all = [...known.values()];
  return { report, reading: WORST_FIRST.find((each) => all.includes(each)) ?? 'read' };
}

/** Whether the content belongs to a question that a person must read before they answer. */
export function useIsAsked(): boolean {
  return useContext(Gate) !== undefined;
}

/** Reports to the gate, if there is one, how far one text was read. */
export function useReading(reading: Reading): void {
  const report = useContext(Gate);
  const id = useId();
  useLayoutEffect(() => {
    report?.(id, reading);
    return () => report?.(id, undefined);
  }, [report, id, reading]);
}

/** For this time a new question ignores keys and clicks, which may be meant for something else. */
const NEW_QUESTION_GUARD_MS = 300;

/** True while the subject of the question, by its key, has just appeared. */
export function useIsNew(key: string, guardMs = NEW_QUESTION_GUARD_MS): boolean {
  const [known, setKnown] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setKnown(key), guardMs);
    return () => clearTimeout(timer);
  }, [key, guardMs]);
  return known !== key;
}

/**
 * Shows what of a question has not been on the screen yet, and puts the focus there. Only a button does this: a key that
 * answers must not also read.
 */
export function showUnread(question: Element | null): void {
  const box = question?.querySelector<HTMLElement>('.read-box.is-unread .read-text');
  if (!box) return;
  const [first, last] = box.querySelectorAll(':scope > .read-edge');
  const isBegun = box.dataset.begun !== undefined;
  box.focus({ preventScroll: true });
  box.scrollTo(0, isBegun ? box.scrollHeight : 0);
  (isBegun ? last : first)?.scrollIntoView({ block: 'nearest' });
}

/** A text that takes no more of the window is shown whole: to scroll in it would be more work than to scroll past it. */
const WHOLE_SHARE = 0.5;
/** A distance to the end below this counts as the end. */
const END_TOLERANCE_PX = 4;

interface Props {
  readonly label: string;
  readonly lines: number;
  readonly children: ReactNode;
}

/**
 * A box of text whose beginning and end must both have been on the screen, wherever the window or the box cuts them
 * off.
 */
export function ReadBox({ label, lines, children }: Props) {
  const isAsked = useIsAsked();
  const box = useRef<HTMLDivElement>(null);
  const [start, hasStart] = useSeen();
  const [end, hasEnd] = useSeen();
  const [isCut, setCut] = useState(false);
  const [isShort, setShort] = useState(false);
  useReading(hasStart && hasEnd ? 'read' : hasEnd ? 'unbegun' : 'unread');
  const look = () => {
    const { scrollTop = 0, clientHeight = 0, scrollHeight = 0 } = box.current ?? {};
    setCut(scrollTop + clientHeight < scrollHeight - END_TOLERANCE_PX);
    const room = box.current?.closest('.timeline')?.clientHeight ?? 0;
    setShort(scrollHeight <= room * WHOLE_SHARE);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is inside may have changed with every drawing
  useLayoutEffect(() => {
    look();
    const observer = new ResizeObserver(look);
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, [children]);
  const showEnd = () => {
    box.current?.scrollTo(0, box.current.scrollHeight);
    // Moves no more than needed, so that the answers stay in view.
    end.current?.scrollIntoView({ block: 'nearest' });
  };
  const isStartMissing = isAsked && hasEnd && !hasStart;
  return (
    <div className={`read-box ${isCut ? 'is-cut' : ''} ${hasStart && hasEnd ? '' : 'is-unread'}`}>
      {/* biome-ignore lint/a11y/useSemanticElements: a region that scrolls must be reachable by keyboard */}
      <div
        className={`read-text ${isShort ? 'is-short' : ''}`}
        role="region"
        aria-label={label}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
        ref={box}
        onScroll={look}
        data-begun={hasStart ? '' : undefined}
      >
        <span className="read-edge" ref={start} />
        {children}
        <span className="read-edge is-end" ref={end} />
      </div>
      {(lines > 1 || isCut || isStartMissing) && (
        <p className="read-place">
          <span>{plural(lines, 'line')}</span>
          {isCut && (
            <>
              <span className="read-more">there is more below{isAsked && !hasEnd ? ': read to the end' : ''}</span>
              <button type="button" className="quiet small" onClick={showEnd}>
                Show the end
              </button>
            </>
          )}
          {!isCut && isStartMissing && <span className="read-more">its beginning is above</span>}
        </p>
      )}
    </div>
  );
}

/** So much of the first and the last line has to be on the screen. */
const SEEN_SHARE = 0.5;

/** Whether an element has ever been on the screen. */
function useSeen(): [RefObject<HTMLSpanElement | null>, boolean] {
  const element = useRef<HTMLSpanElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (isSeen || !element.current) return;
    const look = (entries: readonly IntersectionObserverEntry[]) => {
      if (entries.some(({ intersectionRatio }) => intersectionRatio >= SEEN_SHARE)) setSeen(true);
    };
    const observer = new IntersectionObserver(look, { threshold: SEEN_SHARE });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [isSeen]);
  return [element, isSeen];
}

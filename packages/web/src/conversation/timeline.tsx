/**
 * The conversation as a list of which only the visible part exists. It opens at the end, follows the answer while it is
 * written unless somebody scrolls away, and fetches older turns when they come near.
 */
import type { SessionState } from '@atrium/protocol';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState } from 'react';
import type { OpenSession } from '../host/open-session.js';
import { plural } from '../model/format.js';
import { type Row, rowsOf } from '../model/rows.js';
import { useStore } from '../model/store.js';
import { FirstWords } from './first-words.js';
import { RowView } from './row-view.js';

const ROW_ESTIMATE_PX: Readonly<Record<Row['kind'], number>> = { user: 72, part: 90, end: 36, working: 40 };
const OVERSCAN_ROWS = 6;
/** This near to the end counts as being there. */
const END_PX = 60;
/** Older turns are fetched when less than this is left above. */
const NEAR_TOP_PX = 1_200;

interface Props {
  readonly session: OpenSession;
  readonly state: SessionState;
  /** How many older turns are not here yet. */
  readonly start: number;
  readonly onEdit: (turnId: string) => void;
}

export function Timeline({ session, state, start, onEdit }: Props) {
  const { turns, activeTurn } = state;
  const rows = useMemo(() => rowsOf({ turns, activeTurn }), [turns, activeTurn]);
  const scroller = useRef<HTMLDivElement>(null);
  const list = useTimelineList(rows, scroller);
  const [isAtEnd, setAtEnd] = useState(true);
  const items = list.getVirtualItems();
  const scrolled = () => {
    setAtEnd(list.isAtEnd(END_PX));
    const { scrollTop = 0 } = scroller.current ?? {};
    if (start > 0 && scrollTop < NEAR_TOP_PX) void session.loadOlder();
  };
  if (rows.length === 0) return <FirstWords state={state} />;
  return (
    <div className="timeline-box">
      <div
        className="timeline"
        ref={scroller}
        role="log"
        aria-label="Conversation"
        aria-live="off"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
        onScroll={scrolled}
      >
        <Older session={session} start={start} />
        <div className="rows" ref={list.containerRef}>
          {items.map((item) => {
            const row = rows[item.index];
            return (
              row && (
                <div key={item.key} className="row" data-index={item.index} ref={list.measureElement}>
                  <RowView row={row} onEdit={onEdit} />
                </div>
              )
            );
          })}
        </div>
      </div>
      {!isAtEnd && (
        <button type="button" className="to-end small" onClick={() => list.scrollToEnd()}>
          To the end
        </button>
      )}
    </div>
  );
}

function useTimelineList(rows: readonly Row[], scroller: React.RefObject<HTMLDivElement | null>) {
  const list = useVirtualizer<HTMLDivElement, HTMLDivElement>({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => ROW_ESTIMATE_PX[rows[index]?.kind ?? 'part'],
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: OVERSCAN_ROWS,
    anchorTo: 'end',
    followOnAppend: true,
    scrollEndThreshold: END_PX,
    initialOffset: Number.MAX_SAFE_INTEGER,
    directDomUpdates: true,
    directDomUpdatesMode: 'position',
  });
  const isEmpty = rows.length === 0;
  useEffect(() => {
    if (!isEmpty) list.scrollToEnd();
  }, [list, isEmpty]);
  return list;
}

function Older({ session, start }: { readonly session: OpenSession; readonly start: number }) {
  const isLoading = useStore(session.isLoadingOlder);
  if (start === 0) return null;
  return <p className="older">{isLoading ? 'Loading …' : `${plural(start, 'older turn')} above`}</p>;
}

/**
 * The conversation as a list that draws only its visible part. It opens at the end, follows the growing answer unless
 * the person
 * scrolls away, and fetches older turns when they come near.
 */
import type { ChatState, SessionState } from '@atrium/protocol/ahp-1';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type MouseEvent, memo, useEffect, useMemo, useRef } from 'react';
import { useIsReachable, useOpenSession } from '../host/context.js';
import type { OlderTurns, OpenSession } from '../host/open-session.js';
import { pathOf, plural } from '../model/format.js';
import { type Row, rowsOf } from '../model/rows.js';
import { activityOf, folderOf } from '../model/sessions.js';
import { useStore } from '../model/store.js';
import { PartView } from '../parts/part-view.js';
import { useJump } from '../search/jump.js';
import { Boundary } from '../ui/boundary.js';
import { Elapsed } from '../ui/elapsed.js';
import { Icon } from '../ui/icons.js';
import { TurnEnd } from './turn-end.js';
import { useFollowEnd } from './use-follow-end.js';
import { UserMessage } from './user-message.js';

const ROW_ESTIMATE_PX: Readonly<Record<Row['kind'], number>> = { user: 72, part: 60, end: 44, working: 40 };
const OVERSCAN_ROWS = 6;
/** The list fetches older turns when less than this is left above. */
const NEAR_TOP_PX = 1_200;

interface Props {
  readonly session: OpenSession;
  readonly state: SessionState;
  readonly chat: ChatState;
  /** Turns that are not loaded yet. */
  readonly older: OlderTurns;
  readonly onEdit: (turnId: string) => void;
}

export function Timeline(props: Props) {
  const { turns, activeTurn } = props.chat;
  const rows = useMemo(() => rowsOf({ turns, activeTurn }), [turns, activeTurn]);
  return rows.length === 0 ? <FirstWords state={props.state} /> : <Rows {...props} rows={rows} />;
}

function Rows({ session, chat, older, onEdit, rows }: Props & { readonly rows: readonly Row[] }) {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const list = useTimelineList(rows, scroller);
  const { isAtEnd, toEnd, letGo, scrolled } = useFollowEnd({ scroller, content, notToPass: '.tool-call.is-asking' });
  useEffect(() => session.said.subscribe(toEnd), [session, toEnd]);
  useJump({ session, rows, list, content, letGo });
  const moved = () => {
    scrolled();
    const { scrollTop = 0 } = scroller.current ?? {};
    if (older.isAny && scrollTop < NEAR_TOP_PX) void session.loadOlder();
  };
  const clicked = ({ target }: MouseEvent) => {
    if (target instanceof Element && target.closest('[aria-expanded="false"]')) letGo();
  };
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
        onScroll={moved}
        onClickCapture={clicked}
      >
        <div ref={content}>
          <Older session={session} older={older} />
          <div className="rows" ref={list.containerRef}>
            {list.getVirtualItems().map(({ key, index }) => {
              const row = rows[index];
              return (
                row && (
                  <div key={key} className="row" data-index={index} ref={list.measureElement}>
                    <RowView row={row} onEdit={onEdit} />
                  </div>
                )
              );
            })}
          </div>
        </div>
      </div>
      {!isAtEnd && <ToEnd chat={chat} onClick={toEnd} />}
    </div>
  );
}

function useTimelineList(rows: readonly Row[], scroller: React.RefObject<HTMLDivElement | null>) {
  return useVirtualizer<HTMLDivElement, HTMLDivElement>({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => ROW_ESTIMATE_PX[rows[index]?.kind ?? 'part'],
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: OVERSCAN_ROWS,
    anchorTo: 'end',
    initialOffset: Number.MAX_SAFE_INTEGER,
    directDomUpdates: true,
    directDomUpdatesMode: 'position',
  });
}

/** Leads to the end, and says if a question waits there. */
function ToEnd({ chat, onClick }: { readonly chat: ChatState; readonly onClick: () => void }) {
  const isAsking = activityOf(chat) === 'needs-you';
  const parts = chat.activeTurn?.responseParts ?? [];
  const calls = parts.filter((part) => part.kind === 'toolCall' && part.toolCall.status === 'pending-confirmation');
  const asked = calls.length > 1 ? `The agent asks you ${calls.length} things` : 'The agent asks you something';
  return (
    <button type="button" className={`to-end small ${isAsking ? 'primary' : ''}`} onClick={onClick}>
      <Icon name="down" /> {isAsking ? asked : 'To the end'}
    </button>
  );
}

function Older({ session, older }: { readonly session: OpenSession; readonly older: OlderTurns }) {
  const isLoading = useStore(session.isLoadingOlder);
  if (!older.isAny) return null;
  const words = older.count === undefined ? 'Older turns above' : `${plural(older.count, 'older turn')} above`;
  return <p className="older">{isLoading ? 'Loading …' : words}</p>;
}

/** An empty conversation, which says what the person can do. */
function FirstWords({ state }: { readonly state: SessionState }) {
  const folder = folderOf(state);
  return (
    <div className="empty">
      <h2>Nothing has been said yet</h2>
      <p>
        {folder ? (
          <>
            The agent works in <code>{pathOf(folder)}</code>.{' '}
          </>
        ) : null}
        It asks before it changes anything, unless you allow it to go ahead in the details.
      </p>
      <ul className="tips">
        <li>
          <kbd>Enter</kbd> sends. While it works, <kbd>Enter</kbd> queues a message and <kbd>Ctrl</kbd> <kbd>Enter</kbd>{' '}
          steers it.
        </li>
        <li>Open this session on another device: both see every word and either can answer.</li>
        <li>
          <kbd>Ctrl</kbd> <kbd>K</kbd> finds every command and session.
        </li>
      </ul>
    </div>
  );
}

interface RowViewProps {
  readonly row: Row;
  readonly onEdit: (turnId: string) => void;
}

/** Draws one row of the conversation, and draws it again only when the row has changed. */
const RowView = memo(({ row, onEdit }: RowViewProps) => {
  if (row.kind === 'user') return <UserMessage turn={row.turn} onEdit={onEdit} />;
  if (row.kind === 'part')
    return (
      <Boundary what="This part of the answer">
        <PartView row={row} />
      </Boundary>
    );
  if (row.kind === 'end') return <TurnEnd turn={row.turn} />;
  return <WorkingRow />;
});

function workedOn({ clock }: OpenSession, startedAt: string): (now: number) => number {
  return (now) => clock.workedMs(now, Date.parse(startedAt)) ?? 0;
}

/** Says that the agent works, unless the host is out of reach. */
function WorkingRow() {
  const session = useOpenSession();
  const { chat } = useStore(session.view);
  const isReachable = useIsReachable();
  if (!isReachable)
    return <p className="working">The host is out of reach, so this page does not know what happens there.</p>;
  if (activityOf(chat) === 'needs-you') return <p className="working">Waiting for you</p>;
  return (
    <p className="working">
      <span className="pulse" aria-hidden="true" />
      <span>
        {chat.activity ?? 'Working'}
        {chat.activeTurn && (
          <>
            {' · '}
            <Elapsed workedMs={workedOn(session, chat.activeTurn.startedAt)} />
          </>
        )}
      </span>
    </p>
  );
}

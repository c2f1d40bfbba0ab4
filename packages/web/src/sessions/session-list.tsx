/** The list of sessions: a group for each project, and in it one row for each session, with its forks and workers below. */
import {
  type ChatSummary,
  type FolderProjects,
  type SessionGroup as Group,
  isPinned,
  openProgress,
  PIN_METHOD,
  placeOfSession,
  type SessionSummary,
} from '@atrium/protocol/ahp-1';
import { memo, type MouseEvent as ReactMouseEvent, useEffect, useRef } from 'react';
import { useActivityWord, useHost } from '../host/context.js';
import { isAtrium } from '../host/extensions.js';
import { problemText } from '../host/problem.js';
import { hashOf, useRoute } from '../host/router.js';
import { chatKind } from '../model/chats.js';
import { ago, lastPart, pathOf } from '../model/format.js';
import {
  ACTIVITY_WORDS,
  type Activity,
  activityOf,
  folderOf,
  isArchived,
  isUnread,
  timeOf,
} from '../model/sessions.js';
import { useStore } from '../model/store.js';
import { Icon, IconButton } from '../ui/icons.js';
import { tell } from '../ui/notices.js';
import { showBoard } from '../ui/overlay.js';
import { useNow } from '../ui/use-now.js';
import { foldedGroups, toggleGroup } from './folded-groups.js';
import { selection, toggleSelected } from './selection-bar.js';
import { SessionMenu } from './session-menu.js';

/** How many chats of a session the list shows below it; the session itself shows all. */
const CHATS_SHOWN_MAX = 6;

interface Props {
  readonly group: Group;
  readonly projects: FolderProjects;
  /** A search unfolds all groups. */
  readonly isOpen: boolean;
}

export function SessionGroup({ group, projects, isOpen }: Props) {
  const now = useNow();
  const { kind, key, name, items } = group;
  const isFolded = useStore(foldedGroups).includes(key) && !isOpen;
  const list = (
    <ul>
      {items.map(({ summary, depth }) => (
        <Rows key={summary.resource} {...{ item: summary, depth, now, projects, isInProject: kind === 'project' }} />
      ))}
    </ul>
  );
  if (kind === 'archive' && !isOpen)
    return (
      <details className="fold">
        <summary>
          {name} <span className="count">{items.length}</span>
        </summary>
        {list}
      </details>
    );
  return (
    <section aria-label={name}>
      <h2>
        <button type="button" className="group-toggle" aria-expanded={!isFolded} onClick={() => toggleGroup(key)}>
          <Icon name="chevron" /> <span className="group-name">{name}</span>
          {isFolded && <span className="count">{items.length}</span>}
        </button>
        {kind === 'project' && items.some(({ summary }) => projects[boardOf(summary)] !== undefined) && (
          <IconButton icon="board" label={`Board of ${name}`} onClick={() => showBoard(boardOf(items[0]?.summary))} />
        )}
      </h2>
      {!isFolded && list}
    </section>
  );
}

/** The folder by which the host finds the project of a session. */
function boardOf(summary: SessionSummary | undefined): string {
  return summary?.project?.uri ?? summary?.workingDirectories?.[0] ?? '';
}

interface RowProps {
  readonly item: SessionSummary;
  readonly depth: number;
  readonly now: number;
  readonly projects: FolderProjects;
  readonly isInProject: boolean;
}

function Rows(props: RowProps) {
  const { item, depth } = props;
  const shown = chatsBelow(item);
  return (
    <>
      <SessionItem {...props} />
      {shown.map((chat) => (
        <ChatItem key={chat.resource} session={item.resource} chat={chat} depth={depth + 1} />
      ))}
    </>
  );
}

type Chat = Pick<ChatSummary, 'resource' | 'title' | 'origin' | 'interactivity'> & { readonly status?: number };

/** Forks and side chats, and workers while they are busy. */
function chatsBelow({ chats = [], defaultChat }: SessionSummary): readonly Chat[] {
  const isBusy = ({ status = 0 }: Chat) => activityOf({ status }) !== 'idle';
  const isShown = (chat: Chat) =>
    chat.resource !== defaultChat && chat.interactivity !== 'hidden' && (chat.origin?.kind !== 'tool' || isBusy(chat));
  return chats.filter(isShown).slice(0, CHATS_SHOWN_MAX);
}

function ChatItem({ session, chat, depth }: { readonly session: string; readonly chat: Chat; readonly depth: number }) {
  const route = useRoute();
  const activity = activityOf({ status: chat.status ?? 0 });
  const isHere = route.at === 'session' && route.uri === session && route.chat === chat.resource;
  const words = [chatKind(chat), activity === 'idle' ? undefined : ACTIVITY_WORDS[activity]].filter(Boolean);
  return (
    <li className="chat-item" style={{ paddingInlineStart: depth * 14 }}>
      <a
        href={hashOf({ at: 'session', uri: session, chat: chat.resource })}
        aria-current={isHere ? 'page' : undefined}
        title={chat.title}
      >
        <span className={`dot ${activity}`} />
        <span className="chat-title">{chat.title || 'Untitled'}</span>
        <span className="chat-kind">{words.join(' · ')}</span>
      </a>
    </li>
  );
}

/** One session in the list: its title, its state, and whether something in it is new. */
const SessionItem = memo(({ item, depth, now, projects, isInProject }: RowProps) => {
  const { client } = useHost();
  const route = useRoute();
  const chosen = useStore(selection);
  const activity = activityOf(item);
  const word = useActivityWord(activity);
  const isHere = route.at === 'session' && route.uri === item.resource && route.chat === undefined;
  const isNew = isUnread(item) && !(route.at === 'session' && route.uri === item.resource);
  const archive = () =>
    void client
      .dispatch(item.resource, { type: 'session/isArchivedChanged', isArchived: !isArchived(item) })
      .catch(() => {});
  const pin = () =>
    void client
      .requestExtension(PIN_METHOD, { channel: item.resource, pinned: !isPinned(item) })
      .catch((error) => tell(problemText(error)));
  const clicked = (event: ReactMouseEvent) => {
    if (!chosen) return;
    event.preventDefault();
    toggleSelected(item.resource, event.shiftKey);
  };
  const row = useRef<HTMLLIElement>(null);
  // However it was opened: by a link, the palette, a hit, or because it is new.
  useEffect(() => {
    if (isHere) row.current?.scrollIntoView({ block: 'nearest' });
  }, [isHere]);
  return (
    <li
      ref={row}
      data-session={item.resource}
      className={`session-item ${isNew ? 'unread' : ''}`}
      style={depth > 0 ? { paddingInlineStart: 14 } : undefined}
    >
      {chosen && (
        <input
          type="checkbox"
          aria-label={`Select ${item.title || 'Untitled'}`}
          checked={chosen.has(item.resource)}
          onChange={({ nativeEvent }) => toggleSelected(item.resource, (nativeEvent as MouseEvent).shiftKey === true)}
        />
      )}
      <a
        href={hashOf({ at: 'session', uri: item.resource })}
        aria-current={isHere ? 'page' : undefined}
        title={item.title}
        onClick={clicked}
      >
        <span className={`dot ${activity}`} />
        <span className="title">{item.title || 'Untitled'}</span>
        <time dateTime={item.modifiedAt}>{ago(timeOf(item), now)}</time>
        <span className="detail">
          <span className={`word ${activity}`}>
            {isArchived(item) ? archivedWord(activity, word) : word}
            {isNew && <span className="visually-hidden">(new)</span>}
          </span>
          {detailOf(item, projects, isInProject)}
        </span>
      </a>
      {!chosen && (
        <span className="item-actions">
          {isAtrium(client) && !isArchived(item) && (
            <IconButton icon="pin" label={isPinned(item) ? 'Unpin' : 'Pin'} onClick={pin} />
          )}
          <IconButton
            icon="archive"
            label={isArchived(item) ? 'Take out of the archive' : 'Archive'}
            onClick={archive}
          />
          <SessionMenu item={item} />
        </span>
      )}
    </li>
  );
});

function archivedWord(activity: Activity, word: string): string {
  return activity === 'idle' ? 'Archived' : `${word}, archived`;
}

/** Its activity and its place; inside the group of its project, without what the group already says. */
function detailOf(item: SessionSummary, projects: FolderProjects, isInProject: boolean): string {
  const { name, branch } = placeOfSession(item, projects);
  const folder = folderOf(item);
  const inside = folder === undefined ? '' : lastPart(pathOf(folder));
  const own = branch ?? (inside === name ? undefined : inside);
  const place = isInProject ? own : [folder === undefined ? '' : name, branch].filter(Boolean).join(' · ');
  const plan = openProgress(item._meta);
  return [plan && `${plan.done} of ${plan.total}`, item.activity, place]
    .filter(Boolean)
    .map((text) => ` · ${text}`)
    .join('');
}

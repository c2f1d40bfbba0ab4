/** A group of sessions under a heading. The archive begins folded. */
import { type SessionSummary, summaryProgress } from '@atrium/protocol/ahp-1';
import { memo } from 'react';
import { useActivityWord, useHost } from '../host/context.js';
import { hashOf, useRoute } from '../host/router.js';
import { ago } from '../model/format.js';
import { type Activity, activityOf, isArchived, isUnread, placeOf, timeOf } from '../model/sessions.js';
import { IconButton } from '../ui/icons.js';
import { useNow } from '../ui/use-now.js';

interface Props {
  readonly title: string;
  readonly items: readonly SessionSummary[];
  readonly isFolded?: boolean;
}

export function SessionGroup({ title, items, isFolded = false }: Props) {
  const now = useNow();
  if (items.length === 0) return null;
  const list = (
    <ul>
      {items.map((item) => (
        <SessionItem key={item.resource} item={item} now={now} />
      ))}
    </ul>
  );
  if (!isFolded)
    return (
      <section>
        <h2>{title}</h2>
        {list}
      </section>
    );
  return (
    <details className="fold">
      <summary>
        {title} <span className="count">{items.length}</span>
      </summary>
      {list}
    </details>
  );
}

interface SessionItemProps {
  readonly item: SessionSummary;
  readonly now: number;
}

/** One session in the list: what it is about, how it is doing, whether something in it is new. */
const SessionItem = memo(({ item, now }: SessionItemProps) => {
  const { client } = useHost();
  const route = useRoute();
  const activity = activityOf(item);
  const word = useActivityWord(activity);
  const isHere = route.at === 'session' && route.uri === item.resource;
  const isNew = isUnread(item) && !isHere;
  const archive = () =>
    void client
      .dispatch(item.resource, { type: 'session/isArchivedChanged', isArchived: !isArchived(item) })
      .catch(() => {});
  return (
    <li className={`session-item ${isNew ? 'unread' : ''}`}>
      <a
        href={hashOf({ at: 'session', uri: item.resource })}
        aria-current={isHere ? 'page' : undefined}
        title={item.title}
      >
        <span className={`dot ${activity}`} />
        <span className="title">{item.title || 'Untitled'}</span>
        <time dateTime={item.modifiedAt}>{ago(timeOf(item), now)}</time>
        <span className="detail">
          <span className={`word ${activity}`}>
            {isArchived(item) ? archivedWord(activity, word) : word}
            {isNew && <span className="visually-hidden">(new)</span>}
          </span>
          {detailOf(item)}
        </span>
      </a>
      <IconButton icon="archive" label={isArchived(item) ? 'Take out of the archive' : 'Archive'} onClick={archive} />
    </li>
  );
});

function archivedWord(activity: Activity, word: string): string {
  return activity === 'idle' ? 'Archived' : `${word}, archived`;
}

function detailOf(item: SessionSummary): string {
  const plan = summaryProgress(item._meta);
  return [plan && `${plan.done} of ${plan.total}`, item.activity, placeOf(item)]
    .filter(Boolean)
    .map((text) => ` · ${text}`)
    .join('');
}

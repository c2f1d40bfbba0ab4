/** Actions on several sessions at once: mark as read, archive, pin, delete, restore. */
import type { Client } from '@atrium/client';
import type { SessionSummary } from '@atrium/protocol/ahp-1';
import { useState } from 'react';
import { useHost } from '../host/context.js';
import { isAtrium } from '../host/extensions.js';
import { problemText } from '../host/problem.js';
import { goTo } from '../host/router.js';
import { plural } from '../model/format.js';
import { isArchived, isUnread } from '../model/sessions.js';
import { Store } from '../model/store.js';
import { Dialog } from '../ui/dialog.js';
import { tell } from '../ui/notices.js';
import { DELETED_KEPT_DAYS } from './deleted-sessions.js';

/** The selected sessions; undefined outside the selection mode. */
export const selection = new Store<ReadonlySet<string> | undefined>(undefined);

/** The session that was ticked last: a range begins there. */
let last: string | undefined;

/** `isRange`: with all sessions between it and the one that was ticked last, as the list shows them. */
export function toggleSelected(uri: string, isRange = false): void {
  const chosen = new Set(selection.get());
  const range = isRange ? rangeTo(uri) : [];
  if (range.length > 0) for (const each of range) chosen.add(each);
  else if (!chosen.delete(uri)) chosen.add(uri);
  last = uri;
  selection.set(chosen);
}

function rangeTo(uri: string): readonly string[] {
  const shown = shownSessions();
  const [from, to] = [shown.indexOf(last ?? ''), shown.indexOf(uri)];
  return from < 0 || to < 0 ? [] : shown.slice(Math.min(from, to), Math.max(from, to) + 1);
}

/** The sessions in the order of the list, without those that are folded away. */
function shownSessions(): readonly string[] {
  const rows = document.querySelectorAll<HTMLElement>('.session-item[data-session]');
  return [...rows].filter((row) => row.offsetParent !== null).flatMap((row) => row.dataset.session ?? []);
}

/** Runs an action on each session in turn, and says how many failed. */
async function toEach(
  items: readonly SessionSummary[],
  work: (item: SessionSummary) => Promise<unknown>,
): Promise<void> {
  const done = await Promise.allSettled(items.map(work));
  const failed = done.find((outcome) => outcome.status === 'rejected');
  if (failed) tell(`Not all of them: ${problemText(failed.reason)}`);
}

export function SelectionBar({ items }: { readonly items: readonly SessionSummary[] }) {
  const { client } = useHost();
  const [isDeleting, setDeleting] = useState(false);
  const all = items.every(isArchived);
  const over = () => selection.set(undefined);
  const read = () =>
    toEach(items, ({ resource }) => client.dispatch(resource, { type: 'session/isReadChanged', isRead: true })).then(
      over,
    );
  const archive = () =>
    toEach(items, ({ resource }) =>
      client.dispatch(resource, { type: 'session/isArchivedChanged', isArchived: !all }),
    ).then(over);
  const isNone = items.length === 0;
  return (
    <div className="selection-bar" role="toolbar" aria-label="What to do with the selected sessions">
      <span role="status">{isNone ? 'Select sessions' : `${items.length} selected`}</span>
      <button type="button" className="small" onClick={() => selection.set(new Set(shownSessions()))}>
        All
      </button>
      <button type="button" className="small" disabled={!items.some(isUnread)} onClick={() => void read()}>
        Mark as read
      </button>
      <button type="button" className="small" disabled={isNone} onClick={() => void archive()}>
        {all && !isNone ? 'Take out of the archive' : 'Archive'}
      </button>
      <button type="button" className="small" disabled={isNone} onClick={() => setDeleting(true)}>
        Delete
      </button>
      <button type="button" className="small quiet" onClick={over}>
        Done
      </button>
      {isDeleting && <DeleteSeveral items={items} onClose={() => setDeleting(false)} />}
    </div>
  );
}

export function DeleteSeveral({
  items,
  onClose,
}: {
  readonly items: readonly SessionSummary[];
  readonly onClose: () => void;
}) {
  const { client } = useHost();
  const isRestorable = isAtrium(client);
  const remove = async () => {
    onClose();
    selection.set(undefined);
    await toEach(items, ({ resource }) => client.disposeSession(resource));
    goTo({ at: 'home' });
    const restore = { label: 'Restore', run: () => void restoreAll(client, items) };
    tell(`${plural(items.length, 'session')} deleted.`, isRestorable ? restore : undefined);
  };
  const [only, ...others] = items;
  const isOne = others.length === 0;
  const what = isOne ? `“${only?.title || 'Untitled'}”` : plural(items.length, 'session');
  return (
    <Dialog title={`Delete ${what}?`} onClose={onClose}>
      <p>
        {isOne ? 'It goes' : 'They go'} off the list, on every device.{' '}
        {isRestorable
          ? `${isOne ? 'It' : 'They'} can be restored for ${DELETED_KEPT_DAYS} days.`
          : 'This host cannot bring them back.'}
      </p>
      <div className="buttons">
        <button type="button" className="danger" onClick={() => void remove()}>
          Delete
        </button>
        <button type="button" data-first-focus onClick={onClose}>
          {isOne ? 'Keep it' : 'Keep them'}
        </button>
      </div>
    </Dialog>
  );
}

export async function restoreAll(client: Client, items: readonly Pick<SessionSummary, 'resource'>[]): Promise<void> {
  const restored = await Promise.allSettled(
    items.map(({ resource }) => client.requestExtension('atrium/restoreSession', { channel: resource })),
  );
  const failed = restored.filter(({ status }) => status === 'rejected').length;
  tell(
    failed === 0
      ? `${plural(items.length, 'session')} restored.`
      : `${plural(failed, 'session')} could not be restored.`,
  );
}

/** Deleted sessions that the host still keeps, each with a button to restore it. */
import type { Client } from '@atrium/client';
import type { SessionSummary } from '@atrium/protocol/ahp-1';
import { useEffect, useState } from 'react';
import { useHost } from '../host/context.js';
import { canAct, isAtrium } from '../host/extensions.js';
import { problemText } from '../host/problem.js';
import { goTo } from '../host/router.js';
import { ago } from '../model/format.js';
import { placeOf } from '../model/sessions.js';
import { Dialog } from '../ui/dialog.js';
import { Icon } from '../ui/icons.js';
import { tell } from '../ui/notices.js';
import { useNow } from '../ui/use-now.js';

/** The same as in the host. */
export const DELETED_KEPT_DAYS = 30;

interface DeletedSession {
  readonly summary: SessionSummary;
  /** In milliseconds since 1970. */
  readonly disposedAt: number;
}

export async function restoreSession(client: Client, uri: string): Promise<void> {
  try {
    await client.requestExtension('atrium/restoreSession', { channel: uri });
    goTo({ at: 'session', uri });
    tell('The session is back.');
  } catch (error) {
    tell(`The session could not be restored. ${problemText(error)}`);
  }
}

/** The button in the list of sessions that opens this dialog. */
export function DeletedSessionsButton() {
  const { client } = useHost();
  const [isOpen, setOpen] = useState(false);
  // What is deleted concerns the whole host.
  if (!isAtrium(client) || !canAct(client, 'owner')) return null;
  return (
    <>
      <button type="button" className="quiet small deleted-link" onClick={() => setOpen(true)}>
        <Icon name="trash" /> Deleted sessions
      </button>
      {isOpen && <DeletedSessions onClose={() => setOpen(false)} />}
    </>
  );
}

export function DeletedSessions({ onClose }: { readonly onClose: () => void }) {
  const { client } = useHost();
  const now = useNow();
  const [items, setItems] = useState<readonly DeletedSession[]>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    deletedSessions(client).then(setItems, (error) => setProblem(problemText(error)));
  }, [client]);
  const restore = (uri: string) => {
    onClose();
    void restoreSession(client, uri);
  };
  return (
    <Dialog title="Deleted sessions" onClose={onClose}>
      <p className="hint">Each is kept for {DELETED_KEPT_DAYS} days after it was deleted.</p>
      {problem && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
      {items?.length === 0 && <p>There are none.</p>}
      <ul className="deleted-sessions">
        {items?.map(({ summary, disposedAt }) => (
          <li key={summary.resource}>
            <span className="title">{summary.title || 'Untitled'}</span>
            <span className="hint">
              {[`Deleted ${deletedText(disposedAt, now)}`, placeOf(summary)].filter(Boolean).join(' · ')}
            </span>
            <button type="button" className="small" onClick={() => restore(summary.resource)}>
              Restore<span className="visually-hidden"> {summary.title || 'Untitled'}</span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

/** The last deleted come first. */
async function deletedSessions(client: Client): Promise<readonly DeletedSession[]> {
  const { items } = (await client.requestExtension('atrium/listDisposed')) as { items: DeletedSession[] };
  return items.toSorted((a, b) => b.disposedAt - a.disposedAt);
}

function deletedText(time: number, now: number): string {
  const text = ago(time, now);
  return text === 'now' ? 'just now' : /^\d+ (min|h|d)$/.test(text) ? `${text} ago` : text;
}

/** Who works where, and the configuration as far as it can still be changed. */
import type { SessionState, SessionSummary } from '@atrium/protocol';
import { useState } from 'react';
import { useHost, useOpenSession } from '../host/context.js';
import { problemText } from '../host/problem.js';
import { goTo } from '../host/router.js';
import { pathOf } from '../model/format.js';
import { isArchived } from '../model/sessions.js';
import { useStore } from '../model/store.js';
import { ConfigFields } from '../sessions/config-fields.js';
import { DELETED_KEPT_DAYS, restoreSession } from '../sessions/deleted-sessions.js';
import { Dialog } from '../ui/dialog.js';
import { Icon } from '../ui/icons.js';
import { tell } from '../ui/notices.js';
import { Section } from './section.js';

export function Settings({ state }: { readonly state: SessionState }) {
  const { link } = useHost();
  const session = useOpenSession();
  const { summary } = state;
  const agent = useStore(link.root).agents.find(({ provider }) => provider === summary.provider);
  return (
    <Section title="Session">
      <dl className="facts">
        <dt>Agent</dt>
        <dd>{agent?.displayName ?? summary.provider}</dd>
        {summary.workingDirectory && (
          <>
            <dt>Folder</dt>
            <dd className="path">{pathOf(summary.workingDirectory)}</dd>
          </>
        )}
      </dl>
      <div className="choices">
        <ConfigFields
          config={state.config}
          isRunning
          onChange={(config) => session.dispatch({ type: 'session/configChanged', config })}
        />
      </div>
      <SessionActions summary={summary} />
    </Section>
  );
}

/** Putting a session away, or deleting it for everybody, with a way back. */
function SessionActions({ summary }: { readonly summary: SessionSummary }) {
  const session = useOpenSession();
  const [isAsking, setAsking] = useState(false);
  const archived = isArchived(summary);
  const archive = () => session.dispatch({ type: 'session/isArchivedChanged', isArchived: !archived });
  return (
    <div className="buttons">
      <button type="button" className="small" onClick={archive}>
        <Icon name="archive" /> {archived ? 'Take out of the archive' : 'Archive'}
      </button>
      <button type="button" className="small" onClick={() => setAsking(true)}>
        <Icon name="trash" /> Delete
      </button>
      {isAsking && <DeleteDialog summary={summary} onClose={() => setAsking(false)} />}
    </div>
  );
}

interface DialogProps {
  readonly summary: SessionSummary;
  readonly onClose: () => void;
}

function DeleteDialog({ summary, onClose }: DialogProps) {
  const { client } = useHost();
  const remove = async () => {
    try {
      await client.disposeSession(summary.resource);
      goTo({ at: 'home' });
      tell(`“${summary.title || 'Untitled'}” is deleted.`, {
        label: 'Restore',
        run: () => void restoreSession(client, summary.resource),
      });
    } catch (error) {
      onClose();
      tell(problemText(error));
    }
  };
  return (
    <Dialog title="Delete this session?" onClose={onClose}>
      <p>
        “{summary.title || 'Untitled'}” goes off the list, on every device. It can be restored for {DELETED_KEPT_DAYS}{' '}
        days, from “Deleted sessions” below the list. Files stay as they are.
      </p>
      <div className="buttons">
        <button type="button" className="danger" onClick={() => void remove()}>
          Delete
        </button>
        <button type="button" onClick={onClose}>
          Keep it
        </button>
      </div>
    </Dialog>
  );
}

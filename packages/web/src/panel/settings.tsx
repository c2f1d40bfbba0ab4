/** The agent, the folder, and the settings that can still change. */
import type { SessionState } from '@atrium/protocol/ahp-1';
import { useState } from 'react';
import { useHost, useOpenSession } from '../host/context.js';
import { isAtrium } from '../host/extensions.js';
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
  const agent = useStore(link.root).agents.find(({ provider }) => provider === state.provider);
  const folders = state.workingDirectories ?? [];
  return (
    <Section title="Session">
      <dl className="facts">
        <dt>Agent</dt>
        <dd>{agent?.displayName ?? state.provider}</dd>
        {folders.length > 0 && (
          <>
            <dt>{folders.length === 1 ? 'Folder' : 'Folders'}</dt>
            {folders.map((folder) => (
              <dd key={folder} className="path">
                {pathOf(folder)}
              </dd>
            ))}
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
      <SessionActions state={state} />
    </Section>
  );
}

/** Archives a session, or deletes it for everybody, with an undo. */
function SessionActions({ state }: { readonly state: SessionState }) {
  const session = useOpenSession();
  const [isAsking, setAsking] = useState(false);
  const archived = isArchived(state);
  const archive = () => session.dispatch({ type: 'session/isArchivedChanged', isArchived: !archived });
  return (
    <div className="buttons">
      <button type="button" className="small" onClick={archive}>
        <Icon name="archive" /> {archived ? 'Take out of the archive' : 'Archive'}
      </button>
      <button type="button" className="small" onClick={() => setAsking(true)}>
        <Icon name="trash" /> Delete
      </button>
      {isAsking && <DeleteDialog title={state.title || 'Untitled'} onClose={() => setAsking(false)} />}
    </div>
  );
}

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
}

function DeleteDialog({ title, onClose }: DialogProps) {
  const { client } = useHost();
  const { uri } = useOpenSession();
  const isRestorable = isAtrium(client);
  const remove = async () => {
    try {
      await client.disposeSession(uri);
      goTo({ at: 'home' });
      const restore = { label: 'Restore', run: () => void restoreSession(client, uri) };
      tell(`“${title}” is deleted.`, isRestorable ? restore : undefined);
    } catch (error) {
      onClose();
      tell(problemText(error));
    }
  };
  return (
    <Dialog title="Delete this session?" onClose={onClose}>
      <p>
        “{title}” goes off the list, on every device.{' '}
        {isRestorable
          ? `It can be restored for ${DELETED_KEPT_DAYS} days, from “Deleted sessions” below the list.`
          : 'This host cannot bring it back.'}{' '}
        Files stay as they are.
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

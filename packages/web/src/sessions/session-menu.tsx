/** The actions on a session that do not need to open it. */
import { isPinned, PIN_METHOD, type SessionSummary } from '@atrium/protocol/ahp-1';
import { useState } from 'react';
import { useHost } from '../host/context.js';
import { isAtrium } from '../host/extensions.js';
import { OpenSession } from '../host/open-session.js';
import { problemText } from '../host/problem.js';
import { hashOf } from '../host/router.js';
import { saveConversation } from '../host/save-conversation.js';
import { forkFrom } from '../host/turns.js';
import { isArchived, isUnread } from '../model/sessions.js';
import { copied } from '../ui/copy-button.js';
import { Dialog } from '../ui/dialog.js';
import { MenuButton, type MenuItem } from '../ui/menu.js';
import { tell } from '../ui/notices.js';
import { DeleteSeveral } from './selection-bar.js';

export function SessionMenu({ item }: { readonly item: SessionSummary }) {
  const { client } = useHost();
  const [asking, setAsking] = useState<'rename' | 'delete'>();
  const { resource } = item;
  const close = () => setAsking(undefined);
  const told = (work: Promise<unknown>) => void work.catch((error: unknown) => tell(problemText(error)));
  const opened = async (work: (session: OpenSession) => Promise<void>) => {
    const session = await OpenSession.open(client, resource, tell);
    try {
      await work(session);
    } finally {
      session.close();
    }
  };
  const copyLink = async () => {
    const isCopied = await copied(`${location.origin}${location.pathname}${hashOf({ at: 'session', uri: resource })}`);
    tell(isCopied ? 'The link is copied. Who opens it needs a token.' : 'This browser does not let pages copy here.');
  };
  const fork = async (session: OpenSession) => {
    const last = session.chat.turns.at(-1);
    if (last) await forkFrom(session, last.id);
    else tell('There is nothing to fork yet: no turn has ended here.');
  };
  const items: MenuItem[] = [
    { title: 'Rename', icon: 'edit', run: () => setAsking('rename') },
    ...(isAtrium(client)
      ? [
          {
            title: isPinned(item) ? 'Unpin' : 'Pin',
            icon: 'pin' as const,
            run: () => told(client.requestExtension(PIN_METHOD, { channel: resource, pinned: !isPinned(item) })),
          },
        ]
      : []),
    {
      title: isArchived(item) ? 'Take out of the archive' : 'Archive',
      icon: 'archive',
      run: () => told(client.dispatch(resource, { type: 'session/isArchivedChanged', isArchived: !isArchived(item) })),
    },
    {
      title: isUnread(item) ? 'Mark as read' : 'Mark as unread',
      icon: 'check',
      run: () => told(client.dispatch(resource, { type: 'session/isReadChanged', isRead: isUnread(item) })),
    },
    ...(isAtrium(client) ? [{ title: 'Fork', icon: 'fork' as const, run: () => told(opened(fork)) }] : []),
    {
      title: 'Export',
      icon: 'down',
      run: () => told(opened(async (session) => tell(`Saved as ${await saveConversation(session)}.`))),
    },
    { title: 'Copy link', icon: 'copy', run: () => void copyLink() },
    { title: 'Delete', icon: 'trash', isDangerous: true, run: () => setAsking('delete') },
  ];
  return (
    <>
      <MenuButton label="Session menu" items={items} />
      {asking === 'delete' && <DeleteSeveral items={[item]} onClose={close} />}
      {asking === 'rename' && <Rename item={item} onClose={close} />}
    </>
  );
}

function Rename({ item, onClose }: { readonly item: SessionSummary; readonly onClose: () => void }) {
  const { client } = useHost();
  const [title, setTitle] = useState(item.title);
  const rename = () => {
    onClose();
    if (title.trim() === '' || title === item.title) return;
    client
      .dispatch(item.resource, { type: 'session/titleChanged', title: title.trim() })
      .catch((error: unknown) => tell(problemText(error)));
  };
  return (
    <Dialog title="Rename this session" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          rename();
        }}
      >
        <input
          data-first-focus
          aria-label="Title"
          value={title}
          onFocus={({ target }) => target.select()}
          onChange={({ target }) => setTitle(target.value)}
        />
        <div className="buttons">
          <button type="submit" className="primary">
            Rename
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}

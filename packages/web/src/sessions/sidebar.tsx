/** All sessions of the host: search, the list, and the few switches of the page. */
import { useState } from 'react';
import { useHost } from '../host/context.js';
import { hashOf } from '../host/router.js';
import { groupSessions } from '../model/sessions.js';
import { useStore } from '../model/store.js';
import { Icon } from '../ui/icons.js';
import { Mark } from '../ui/mark.js';
import { useKeptFocus } from '../ui/use-kept-focus.js';
import { DeletedSessionsButton } from './deleted-sessions.js';
import { SessionGroup } from './session-group.js';
import { SidebarFooter } from './sidebar-footer.js';

interface Props {
  readonly onHelp: () => void;
  readonly onPalette: () => void;
}

export function Sidebar({ onHelp, onPalette }: Props) {
  const { link } = useHost();
  const sessions = useStore(link.sessions);
  const [query, setQuery] = useState('');
  const { waiting, others, archived } = groupSessions(sessions ?? [], query);
  const isNothing = waiting.length + others.length + archived.length === 0;
  return (
    <nav className="sidebar" aria-label="Sessions">
      <header>
        <a className="brand" href={hashOf({ at: 'home' })}>
          <Mark /> Atrium
        </a>
        <a className="button small" href={hashOf({ at: 'new' })}>
          <Icon name="plus" /> New
        </a>
      </header>
      <div className="search">
        <Icon name="search" />
        <input
          id="session-search"
          type="search"
          placeholder="Search sessions"
          aria-label="Search sessions"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
        />
      </div>
      <div className="session-list" {...useKeptFocus(sameSession)}>
        <SessionGroup title="Needs you" items={waiting} />
        <SessionGroup title="Sessions" items={others} />
        <SessionGroup title="Archive" items={archived} isFolded={query === ''} />
        {sessions && isNothing && <p className="hint">{emptyText(query)}</p>}
        {sessions && <DeletedSessionsButton />}
      </div>
      <SidebarFooter onHelp={onHelp} onPalette={onPalette} />
    </nav>
  );
}

/** A session that changes its group is another element there; one that went into the archive is out of sight. */
function sameSession(list: HTMLDivElement, gone: Element): HTMLElement | null {
  const links = [...list.querySelectorAll<HTMLElement>('section a')];
  return links.find((link) => link.getAttribute('href') === gone.getAttribute('href')) ?? links[0] ?? null;
}

function emptyText(query: string): string {
  if (query !== '') return 'No session has these words.';
  return 'Sessions appear here and stay, also when you close this page. Every device that connects sees the same list.';
}

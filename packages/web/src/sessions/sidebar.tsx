/** The sidebar: search, the list of sessions, and the buttons of the page. */
import { useState } from 'react';
import { useHost } from '../host/context.js';
import { canAct, isAtrium } from '../host/extensions.js';
import { hashOf } from '../host/router.js';
import { foundGroups } from '../model/sessions.js';
import { useStore } from '../model/store.js';
import { useKeptFocus } from '../ui/focus.js';
import { Icon, IconButton, type IconName, Mark } from '../ui/icons.js';
import { show } from '../ui/overlay.js';
import { UsageButton } from '../usage/usage-button.js';
import { DeletedSessionsButton } from './deleted-sessions.js';
import { useProjects } from './projects.js';
import { SelectionBar, selection } from './selection-bar.js';
import { SessionGroup } from './session-list.js';
import { useStillOrder } from './still-order.js';

interface Props {
  readonly onSettings: () => void;
  readonly onPalette: () => void;
  /** Searches all sessions. */
  readonly onSearch: (query: string) => void;
}

export function Sidebar({ onSettings, onPalette, onSearch }: Props) {
  const { link, client } = useHost();
  const sessions = useStore(link.sessions);
  const projects = useProjects(sessions ?? []);
  const chosen = useStore(selection);
  const [query, setQuery] = useState('');
  const still = useStillOrder(sessions ?? []);
  const groups = still.grouped((items) => foundGroups(items, projects, query));
  const searchAll = () => onSearch(query);
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
          placeholder="Search"
          aria-label="Search sessions"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
          onKeyDown={(event) => event.key === 'Enter' && isAtrium(client) && searchAll()}
        />
        {isAtrium(client) && (
          <IconButton icon="text-search" label="Search everything that was said (Ctrl Shift F)" onClick={searchAll} />
        )}
        <IconButton
          icon="select"
          label="Select several sessions"
          isPressed={chosen !== undefined}
          onClick={() => selection.set(chosen ? undefined : new Set())}
        />
      </div>
      <div className="session-list" {...useKeptFocus(sameSession)} {...still.handlers}>
        {groups.map((group) => (
          <SessionGroup key={group.key} group={group} projects={projects} isOpen={query !== ''} />
        ))}
        {sessions && groups.length === 0 && <p className="hint">{emptyText(query)}</p>}
        {sessions && <UsageButton />}
        {sessions && <DeletedSessionsButton />}
      </div>
      {chosen && <SelectionBar items={(sessions ?? []).filter(({ resource }) => chosen.has(resource))} />}
      <SidebarFooter onSettings={onSettings} onPalette={onPalette} />
    </nav>
  );
}

/** Finds the new element of a session that changed its group; an archived session may have none. */
function sameSession(list: HTMLDivElement, gone: Element): HTMLElement | null {
  const links = [...list.querySelectorAll<HTMLElement>('section a')];
  return links.find((link) => link.getAttribute('href') === gone.getAttribute('href')) ?? links[0] ?? null;
}

function emptyText(query: string): string {
  if (query !== '') return 'No title or folder has these words. Enter looks in everything that was said.';
  return 'Sessions appear here and stay, also when you close this page. Every device that connects sees the same list.';
}

interface SidebarFooterProps {
  readonly onSettings: () => void;
  readonly onPalette: () => void;
}

/** The buttons of the page (devices, palette, settings) and the state of the connection. */
function SidebarFooter({ onSettings, onPalette }: SidebarFooterProps) {
  const { link, client } = useHost();
  const isOpen = useStore(link.status).at === 'open';
  return (
    <footer>
      <span className={`connection ${isOpen ? 'open' : 'lost'}`}>{isOpen ? 'Connected' : 'Reconnecting'}</span>
      {canAct(client, 'owner') && (
        <FooterButton
          icon="share"
          word="Devices"
          label="Devices: let one in, or send one away"
          onClick={() => show('devices')}
        />
      )}
      <FooterButton icon="search" word="Commands" label="Commands (Ctrl K)" onClick={onPalette} />
      <FooterButton icon="settings" word="Settings" label="Settings (Ctrl ,)" onClick={onSettings} />
    </footer>
  );
}

interface FooterButtonProps {
  readonly icon: IconName;
  readonly word: string;
  readonly label: string;
  readonly onClick: () => void;
}

/** A button with an icon and a word, because people cannot guess icons alone. */
function FooterButton({ icon, word, label, onClick }: FooterButtonProps) {
  return (
    <button type="button" className="quiet small footer-button" aria-label={label} title={label} onClick={onClick}>
      <Icon name={icon} /> <span>{word}</span>
    </button>
  );
}

/** All sessions of the host: search, the list, and the few switches of the page. */
import { useState } from 'react';
import { useHost } from '../host/context.js';
import { isAtrium } from '../host/extensions.js';
import { hashOf } from '../host/router.js';
import { linkWithToken } from '../host/token.js';
import { foundGroups } from '../model/sessions.js';
import { useStore } from '../model/store.js';
import { CopyButton } from '../ui/copy-button.js';
import { Dialog } from '../ui/dialog.js';
import { useKeptFocus } from '../ui/focus.js';
import { Icon, IconButton, Mark } from '../ui/icons.js';
import { nextTheme, theme } from '../ui/preferences.js';
import { UsageButton } from '../usage/usage-button.js';
import { DeletedSessionsButton } from './deleted-sessions.js';
import { useProjects } from './projects.js';
import { SelectionBar, selection } from './selection-bar.js';
import { SessionGroup } from './session-list.js';

interface Props {
  readonly onHelp: () => void;
  readonly onPalette: () => void;
  /** Searches everything that was said. */
  readonly onSearch: (query: string) => void;
}

export function Sidebar({ onHelp, onPalette, onSearch }: Props) {
  const { link, client } = useHost();
  const sessions = useStore(link.sessions);
  const projects = useProjects(sessions ?? []);
  const chosen = useStore(selection);
  const [query, setQuery] = useState('');
  const groups = foundGroups(sessions ?? [], projects, query);
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
          placeholder="Search sessions"
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
      <div className="session-list" {...useKeptFocus(sameSession)}>
        {groups.map((group) => (
          <SessionGroup key={group.key} group={group} projects={projects} isOpen={query !== ''} />
        ))}
        {sessions && groups.length === 0 && <p className="hint">{emptyText(query)}</p>}
        {sessions && <UsageButton />}
        {sessions && <DeletedSessionsButton />}
      </div>
      {chosen && <SelectionBar items={(sessions ?? []).filter(({ resource }) => chosen.has(resource))} />}
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

interface SidebarFooterProps {
  readonly onHelp: () => void;
  readonly onPalette: () => void;
}

/** The switches of the page: theme, palette, help, another device; and how the connection is. */
function SidebarFooter({ onHelp, onPalette }: SidebarFooterProps) {
  const { link } = useHost();
  const isOpen = useStore(link.status).at === 'open';
  const choice = useStore(theme);
  const [isSharing, setSharing] = useState(false);
  return (
    <footer>
      <span className={`connection ${isOpen ? 'open' : 'lost'}`}>{isOpen ? 'Connected' : 'Reconnecting'}</span>
      <IconButton icon="share" label="Open on another device" onClick={() => setSharing(true)} />
      <IconButton icon="search" label="Commands (Ctrl K)" onClick={onPalette} />
      <IconButton icon="theme" label={`Theme: ${choice}`} onClick={nextTheme} />
      <IconButton icon="keyboard" label="Keyboard (?)" onClick={onHelp} />
      {isSharing && <OtherDevice onClose={() => setSharing(false)} />}
    </footer>
  );
}

const ON_THE_NETWORK = `(umask 077; openssl rand -hex 16 > ~/atrium-token)
npm start -- --host 0.0.0.0 --connection-token-file ~/atrium-token`;
const ONLY_HERE = /^(localhost|127\.|\[::1\])/;

/** How a second device joins: the link, and what it takes for it to work from there. */
function OtherDevice({ onClose }: { readonly onClose: () => void }) {
  const isOnlyHere = ONLY_HERE.test(location.host);
  return (
    <Dialog title="Open on another device" onClose={onClose}>
      <p>Every device that opens this link sees the same sessions, live, and can answer for you.</p>
      <div className="copy-row">
        <input readOnly aria-label="Link with the token" type="password" value={linkWithToken()} />
        <CopyButton text={linkWithToken()} what="link" />
      </div>
      <p className="hint">The link contains your token: whoever has it can use this host as you.</p>
      {isOnlyHere && <Elsewhere />}
    </Dialog>
  );
}

function Elsewhere() {
  return (
    <>
      <p>
        This address works on this machine only: open the link in another browser window and you have two clients. For a
        phone, start the host so that your network reaches it, with a token of your own:
      </p>
      <pre className="command">{ON_THE_NETWORK}</pre>
      <p className="hint">
        Then use the address of this machine instead of localhost (for a name, add --allowed-hosts). Connections are not
        encrypted: do this in a network that you trust, or put a proxy with TLS in front.
      </p>
    </>
  );
}

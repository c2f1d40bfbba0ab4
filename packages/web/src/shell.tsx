/** The page once connected: sessions at the side, the conversation in the middle, the palette above everything. */
import { lazy, Suspense, useEffect } from 'react';
import { useHost } from './host/context.js';
import { isAtrium } from './host/extensions.js';
import { useRoute } from './host/router.js';
import { plural } from './model/format.js';
import { activityOf, isArchived } from './model/sessions.js';
import { useStore } from './model/store.js';
import { useNotifications } from './notifications/use-notifications.js';
import { Help, Palette } from './palette/palette.js';
import { useShortcuts } from './palette/shortcuts.js';
import { Pairings } from './questions/pairing.js';
import { ConnectionBanner, DamageBanner, UpdateBanner } from './sessions/banners.js';
import { DeletedSessions } from './sessions/deleted-sessions.js';
import { Home } from './sessions/home.js';
import { Sidebar } from './sessions/sidebar.js';
import { AuthRequired } from './sessions/sign-in.js';
import { showBadge } from './ui/badge.js';
import { Boundary } from './ui/boundary.js';
import { boardFolder, overlay, searchFor, searchWords, show } from './ui/overlay.js';
import { UsageDialog } from './usage/usage-button.js';

/** Conversations need Markdown and more code, which loads right after the list. */
const screen = import('./conversation/session-screen.js').then(({ SessionScreen }) => ({ default: SessionScreen }));
const SessionScreen = lazy(() => screen);

const ShareScreen = lazy(async () => ({ default: (await import('./share/share-screen.js')).ShareScreen }));

const ImportSessions = lazy(async () => ({ default: (await import('./sessions/import-sessions.js')).ImportSessions }));

const SearchDialog = lazy(async () => ({ default: (await import('./search/search-dialog.js')).SearchDialog }));

const BoardDialog = lazy(async () => ({ default: (await import('./board/board-dialog.js')).BoardDialog }));

const DevicesDialog = lazy(async () => ({ default: (await import('./devices/devices-dialog.js')).DevicesDialog }));

const HostsDialog = lazy(async () => ({ default: (await import('./hosts/hosts-dialog.js')).HostsDialog }));

const ShareDialog = lazy(async () => ({ default: (await import('./shares/share-dialog.js')).ShareDialog }));

const SettingsDialog = lazy(async () => ({ default: (await import('./settings/settings-dialog.js')).SettingsDialog }));

export function Shell() {
  const route = useRoute();
  const over = useStore(overlay);
  const words = useStore(searchWords);
  useShortcuts(show);
  useNotifications();
  const announcement = useAttention();
  const { link, client } = useHost();
  const isEmpty = useStore(link.sessions)?.length === 0;
  const close = () => show(undefined);
  return (
    <div className={`shell at-${route.at} ${isEmpty ? 'is-empty' : ''}`} data-search={isAtrium(client) || undefined}>
      <button type="button" className="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the conversation
      </button>
      <Sidebar onSettings={() => show('settings')} onPalette={() => show('palette')} onSearch={searchFor} />
      <main id="main" tabIndex={-1}>
        <h1 className="list-heading visually-hidden">Choose a session from the list, or begin a new one</h1>
        <UpdateBanner />
        <ConnectionBanner />
        <DamageBanner />
        <AuthRequired />
        <Pairings />
        <Boundary key={route.at === 'session' ? route.uri : ''} what="This session">
          <Suspense fallback={<div className="empty" aria-busy="true" />}>
            {route.at === 'session' && <SessionScreen uri={route.uri} chat={route.chat} />}
            {route.at === 'share' && <ShareScreen />}
            {(route.at === 'home' || route.at === 'new') && <Home onImport={() => show('import')} />}
          </Suspense>
        </Boundary>
      </main>
      {over === 'palette' && <Palette onClose={close} onOverlay={show} />}
      {over === 'deleted' && <DeletedSessions onClose={close} />}
      {over === 'import' && (
        <Suspense>
          <ImportSessions onClose={close} />
        </Suspense>
      )}
      {over === 'board' && (
        <Suspense>
          <BoardDialog folder={boardFolder.get()} onClose={close} />
        </Suspense>
      )}
      {over === 'usage' && (
        <Suspense>
          <UsageDialog onClose={close} />
        </Suspense>
      )}
      {over === 'hosts' && (
        <Suspense>
          <HostsDialog onClose={close} />
        </Suspense>
      )}
      {over === 'search' && (
        <Suspense>
          <SearchDialog first={words} onClose={close} />
        </Suspense>
      )}
      {over === 'devices' && (
        <Suspense>
          <DevicesDialog onClose={close} />
        </Suspense>
      )}
      {over === 'share' && route.at === 'session' && (
        <Suspense>
          <ShareDialog session={route.uri} onClose={close} />
        </Suspense>
      )}
      {over === 'settings' && (
        <Suspense>
          <SettingsDialog onClose={close} />
        </Suspense>
      )}
      {over === 'help' && <Help onClose={close} />}
      <div className="visually-hidden" role="status" aria-live="polite">
        {announcement}
      </div>
    </div>
  );
}

/** Puts the number of waiting sessions into the tab's title and returns it as a sentence for screen readers. */
function useAttention(): string {
  const { link } = useHost();
  const sessions = useStore(link.sessions) ?? [];
  const route = useRoute();
  const title = route.at === 'session' ? sessions.find(({ resource }) => resource === route.uri)?.title : undefined;
  const count = sessions.filter((item) => !isArchived(item) && activityOf(item) === 'needs-you').length;
  useEffect(() => {
    document.title = `${count > 0 ? `(${count}) ` : ''}${title ? `${title} – Atrium` : 'Atrium'}`;
    showBadge(count);
  }, [count, title]);
  return count > 0 ? `${plural(count, 'session')} waiting for you` : '';
}

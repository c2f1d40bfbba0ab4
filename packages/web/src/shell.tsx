/** The page once connected: sessions at the side, the conversation in the middle, the palette above everything. */
import { lazy, Suspense, useEffect, useState } from 'react';
import { useHost } from './host/context.js';
import { isAtrium } from './host/extensions.js';
import { useRoute } from './host/router.js';
import { plural } from './model/format.js';
import { activityOf, isArchived } from './model/sessions.js';
import { useStore } from './model/store.js';
import { Help, Palette } from './palette/palette.js';
import { useShortcuts } from './palette/shortcuts.js';
import { Pairings } from './questions/pairing.js';
import { ConnectionBanner, DamageBanner } from './sessions/banners.js';
import { DeletedSessions } from './sessions/deleted-sessions.js';
import { Home } from './sessions/home.js';
import { Sidebar } from './sessions/sidebar.js';
import { AuthRequired } from './sessions/sign-in.js';
import { Boundary } from './ui/boundary.js';
import { UsageDialog } from './usage/usage-button.js';

/** Conversations bring Markdown and more; they come right after the list. */
const screen = import('./conversation/session-screen.js').then(({ SessionScreen }) => ({ default: SessionScreen }));
const SessionScreen = lazy(() => screen);

const ImportSessions = lazy(async () => ({ default: (await import('./sessions/import-sessions.js')).ImportSessions }));

const SearchDialog = lazy(async () => ({ default: (await import('./search/search-dialog.js')).SearchDialog }));

type Overlay = 'palette' | 'help' | 'deleted' | 'import' | 'usage' | 'search' | undefined;

export function Shell() {
  const route = useRoute();
  const [overlay, setOverlay] = useState<Overlay>();
  useShortcuts(setOverlay);
  const announcement = useAttention();
  const { link, client } = useHost();
  const [query, setQuery] = useState('');
  const isEmpty = useStore(link.sessions)?.length === 0;
  const close = () => setOverlay(undefined);
  return (
    <div className={`shell at-${route.at} ${isEmpty ? 'is-empty' : ''}`} data-search={isAtrium(client) || undefined}>
      <button type="button" className="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the conversation
      </button>
      <Sidebar
        onHelp={() => setOverlay('help')}
        onPalette={() => setOverlay('palette')}
        onSearch={(words) => {
          setQuery(words);
          setOverlay('search');
        }}
      />
      <main id="main" tabIndex={-1}>
        <ConnectionBanner />
        <DamageBanner />
        <AuthRequired />
        <Pairings />
        <Boundary key={route.at === 'session' ? route.uri : ''} what="This session">
          <Suspense fallback={<div className="empty" aria-busy="true" />}>
            {route.at === 'session' ? (
              <SessionScreen uri={route.uri} chat={route.chat} />
            ) : (
              <Home onImport={() => setOverlay('import')} />
            )}
          </Suspense>
        </Boundary>
      </main>
      {overlay === 'palette' && <Palette onClose={close} onOverlay={setOverlay} />}
      {overlay === 'deleted' && <DeletedSessions onClose={close} />}
      {overlay === 'import' && (
        <Suspense>
          <ImportSessions onClose={close} />
        </Suspense>
      )}
      {overlay === 'usage' && (
        <Suspense>
          <UsageDialog onClose={close} />
        </Suspense>
      )}
      {overlay === 'search' && (
        <Suspense>
          <SearchDialog first={query} onClose={close} />
        </Suspense>
      )}
      {overlay === 'help' && <Help onClose={close} />}
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
  const count = sessions.filter((item) => !isArchived(item) && activityOf(item) === 'needs-you').length;
  useEffect(() => {
    document.title = count > 0 ? `(${count}) Atrium` : 'Atrium';
  }, [count]);
  return count > 0 ? `${plural(count, 'session')} waiting for you` : '';
}

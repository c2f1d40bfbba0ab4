/** The rooms: sessions at the side, the conversation in the middle, the palette above everything. */
import { useState } from 'react';
import { SessionScreen } from './conversation/session-screen.js';
import { useHost } from './host/context.js';
import { useRoute } from './host/router.js';
import { useStore } from './model/store.js';
import { Help } from './palette/help.js';
import { Palette } from './palette/palette.js';
import { useShortcuts } from './palette/shortcuts.js';
import { ConnectionBanner } from './sessions/connection-banner.js';
import { Home } from './sessions/home.js';
import { Sidebar } from './sessions/sidebar.js';
import { useAttention } from './ui/attention.js';

export type Overlay = 'palette' | 'help' | undefined;

export function Shell() {
  const route = useRoute();
  const [overlay, setOverlay] = useState<Overlay>();
  useShortcuts(setOverlay);
  const news = useAttention();
  const { link } = useHost();
  const isEmpty = useStore(link.sessions)?.length === 0;
  const close = () => setOverlay(undefined);
  return (
    <div className={`shell at-${route.at} ${isEmpty ? 'is-empty' : ''}`}>
      <button type="button" className="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the conversation
      </button>
      <Sidebar onHelp={() => setOverlay('help')} onPalette={() => setOverlay('palette')} />
      <main id="main" tabIndex={-1}>
        <ConnectionBanner />
        {route.at === 'session' ? <SessionScreen key={route.uri} uri={route.uri} /> : <Home />}
      </main>
      {overlay === 'palette' && <Palette onClose={close} onHelp={() => setOverlay('help')} />}
      {overlay === 'help' && <Help onClose={close} />}
      <div className="visually-hidden" role="status" aria-live="polite">
        {news}
      </div>
    </div>
  );
}

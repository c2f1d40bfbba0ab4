/** The page of a share: one session to read, and nothing else. */
import { LEFT_OUT_WORDS } from '@atrium/protocol/ahp-1';
import { Timeline } from '../conversation/timeline.js';
import { HostProvider, SessionProvider, useHost } from '../host/context.js';
import { accessOf } from '../host/extensions.js';
import type { HostLink } from '../host/link.js';
import { OpenSession } from '../host/open-session.js';
import { useOpened } from '../host/use-opened.js';
import { useStore } from '../model/store.js';
import { Mark } from '../ui/icons.js';
import './shares.css';

export function SharedPage({ link }: { readonly link: HostLink }) {
  const phase = useStore(link.phase);
  const [session] = useStore(link.sessions) ?? [];
  if (phase.at !== 'ready') return null;
  if (!session) return <ShareOver />;
  return (
    <HostProvider value={{ link, client: phase.client }}>
      <SharedSession uri={session.resource} />
    </HostProvider>
  );
}

function SharedSession({ uri }: { readonly uri: string }) {
  const opening = useOpened(OpenSession.open, uri, undefined);
  if (opening.at === 'loading') return <div className="empty" aria-busy="true" />;
  if (opening.at === 'failed') return <ShareOver />;
  return (
    <SessionProvider value={opening.thing}>
      <Reading session={opening.thing} />
    </SessionProvider>
  );
}

function Reading({ session }: { readonly session: OpenSession }) {
  const { session: state, chat, older, gone } = useStore(session.view);
  const { client } = useHost();
  if (gone) return <ShareOver />;
  const { until, leftOut = [] } = accessOf(client) ?? {};
  return (
    <main className="shared-page" id="main">
      <header className="shared-header">
        <Mark />
        <div className="heading">
          <h1>{state.title || 'A session'}</h1>
          <p>
            You are reading along{until === undefined ? '' : ` until ${new Date(until).toLocaleString()}`}.
            {leftOut.length > 0 && ` Left out: ${leftOut.map((each) => LEFT_OUT_WORDS[each]).join('; ')}.`}
          </p>
        </div>
      </header>
      <section className="conversation" aria-label={state.title}>
        <Timeline session={session} state={state} chat={chat} older={older} onEdit={() => {}} />
      </section>
    </main>
  );
}

/** The same for a share that has ended, was revoked, or never existed. */
export function ShareOver() {
  return (
    <main className="connect-screen">
      <div className="connect-card">
        <Mark />
        <h1>There is nothing to read here</h1>
        <p role="status">This link has ended or was taken back. Ask for a new one.</p>
      </div>
    </main>
  );
}

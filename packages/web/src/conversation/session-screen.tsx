/** One session: loading, gone, or there. */
import { useState } from 'react';
import { Composer } from '../composer/composer.js';
import { SessionProvider } from '../host/context.js';
import { OpenSession } from '../host/open-session.js';
import { hashOf } from '../host/router.js';
import { useOpened } from '../host/use-opened.js';
import { useStore } from '../model/store.js';
import { Panel } from '../panel/panel.js';
import { Questions } from '../questions/questions.js';
import { useHandOver } from '../terminals/hand-over.js';
import { isPanelOpen } from '../ui/panel-switch.js';
import { CreationNote } from './creation-note.js';
import { SessionHeader } from './session-header.js';
import { Timeline } from './timeline.js';
import { useMarkRead } from './use-mark-read.js';

export function SessionScreen({ uri }: { readonly uri: string }) {
  const opening = useOpened(OpenSession.open, uri);
  if (opening.at === 'loading') return <div className="empty" aria-busy="true" />;
  if (opening.at === 'failed') return <Missing why={opening.why} />;
  return (
    <SessionProvider value={opening.thing}>
      <Conversation session={opening.thing} />
    </SessionProvider>
  );
}

function Conversation({ session }: { readonly session: OpenSession }) {
  const { state, window, isGone } = useStore(session.view);
  const hasPanel = useStore(isPanelOpen);
  const [editing, setEditing] = useState<string>();
  useMarkRead(session, state);
  useHandOver(session);
  if (isGone) return <Missing why="Somebody removed this session." />;
  return (
    <div className={`session ${hasPanel ? 'with-panel' : ''}`}>
      <section className="conversation" aria-label={state.summary.title}>
        <SessionHeader state={state} />
        <CreationNote state={state} />
        <Timeline session={session} state={state} start={window.start} onEdit={setEditing} />
        <div className="dock">
          <Questions requests={state.inputRequests} />
          <Composer session={session} state={state} editing={editing} onEditEnd={() => setEditing(undefined)} />
        </div>
      </section>
      {hasPanel && <Panel state={state} />}
    </div>
  );
}

function Missing({ why }: { readonly why: string }) {
  return (
    <div className="empty">
      <h1>There is nothing here</h1>
      <p>{why}</p>
      <a className="button" href={hashOf({ at: 'new' })}>
        Start a new session
      </a>
    </div>
  );
}

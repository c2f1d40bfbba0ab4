/** The screen of one session: loading, gone, or open. */
import { type ChatState, type SessionState, SessionStatus } from '@atrium/protocol/ahp-1';
import { useEffect, useState } from 'react';
import { BackgroundList } from '../chats/background-work.js';
import { openChat } from '../chats/chat-actions.js';
import { ChatBar } from '../chats/chat-bar.js';
import { ChatStrip } from '../chats/chat-strip.js';
import { WaitingElsewhere } from '../chats/waiting.js';
import { Composer } from '../composer/composer.js';
import { SessionProvider, useActivityWord, useHost, useOpenSession } from '../host/context.js';
import { canAct, isAtrium } from '../host/extensions.js';
import { OpenSession } from '../host/open-session.js';
import { problemText } from '../host/problem.js';
import { goTo, hashOf } from '../host/router.js';
import { stopTurn } from '../host/turns.js';
import { useOpened } from '../host/use-opened.js';
import { chatAbilities, isWritable, sessionActivity } from '../model/chats.js';
import { pathOf } from '../model/format.js';
import { folderInUse, isArchived, placeOf, startFolder } from '../model/sessions.js';
import { useStore } from '../model/store.js';
import { Panel } from '../panel/panel.js';
import { PlanStrip } from '../plan/plan.js';
import { openQuestions } from '../questions/open-questions.js';
import { Questions } from '../questions/questions.js';
import { goingBackTo } from '../rewind/going-back.js';
import { RewindDialog } from '../rewind/rewind-dialog.js';
import { RewoundStrip } from '../rewind/rewound-strip.js';
import { FindBar } from '../search/find-bar.js';
import { isFinding } from '../search/finding.js';
import { useHandOver } from '../terminals/claims.js';
import { isPhone, useBack } from '../ui/back.js';
import { hasKeyboard, useKeptFocus } from '../ui/focus.js';
import { Icon, IconButton } from '../ui/icons.js';
import { tell } from '../ui/notices.js';
import { show } from '../ui/overlay.js';
import { isPanelOpen, togglePanel, uncover } from '../ui/panel-state.js';
import { Timeline } from './timeline.js';

interface ScreenProps {
  readonly uri: string;
  /** The chat of the session; the default one, if left out. */
  readonly chat: string | undefined;
}

export function SessionScreen({ uri, chat }: ScreenProps) {
  const opening = useOpened(OpenSession.open, uri, chat);
  if (opening.at === 'loading') return <div className="empty" aria-busy="true" />;
  if (opening.at === 'failed') return <Missing why={opening.why} session={chat === undefined ? undefined : uri} />;
  return (
    <SessionProvider value={opening.thing}>
      <Conversation session={opening.thing} />
    </SessionProvider>
  );
}

function Conversation({ session }: { readonly session: OpenSession }) {
  const { session: state, chat, gone } = useStore(session.view);
  const hasPanel = useStore(isPanelOpen);
  useBack(hasPanel, uncover);
  // On a phone the panel covers all: the next session is to be seen when it is opened.
  useEffect(() => () => void (isPhone() && uncover()), []);
  useMarkRead(session, state, chat.activeTurn !== undefined);
  useHandOver(session);
  // An answer takes its buttons away: who writes on must write into the message, and not press the keys of commands.
  const kept = useKeptFocus<HTMLElement>(() => (hasKeyboard() ? document.getElementById('composer') : null));
  const folder = startFolder(state);
  useEffect(() => folderInUse.set(folder), [folder]);
  if (gone === 'session') return <Missing why="Somebody removed this session." />;
  if (gone === 'chat') return <Missing why="Somebody removed this chat." session={session.uri} />;
  return (
    <div className={`session ${hasPanel ? 'with-panel' : ''}`}>
      <section className="conversation" aria-label={state.title} {...kept}>
        <SessionHeader state={state} />
        <ChatBar session={session} state={state} />
        <CreationNote state={state} />
        <ChatStrip session={session} state={state} chat={chat} />
        <Chat key={session.chatUri} session={session} />
      </section>
      {hasPanel && <Panel state={state} chat={chat} />}
    </div>
  );
}

/** One chat: the conversation, the open questions, and the message field. */
function Chat({ session }: { readonly session: OpenSession }) {
  const { session: state, chat, older } = useStore(session.view);
  const [editing, setEditing] = useState<string>();
  const finds = useStore(isFinding) && isAtrium(session.client);
  const goingBack = useStore(goingBackTo);
  useEffect(() => () => goingBackTo.set(undefined), []);
  return (
    <>
      {finds && <FindBar session={session} />}
      <Timeline session={session} state={state} chat={chat} older={older} onEdit={setEditing} />
      {goingBack !== undefined && (
        <RewindDialog
          chat={chat}
          turnId={goingBack}
          onChoose={(turnId) => goingBackTo.set(turnId)}
          onClose={() => goingBackTo.set(undefined)}
        />
      )}
      <div className="dock">
        <RewoundStrip session={session} state={state} />
        <PlanStrip state={state} chat={chat} />
        <BackgroundList session={session} chat={chat} />
        <WaitingElsewhere session={session} state={state} />
        {canAct(session.client, 'approver') && <Questions questions={openQuestions(state, chat)} />}
        {!canAct(session.client, 'driver') ? (
          <OnlyReading canAnswer={canAct(session.client, 'approver')} />
        ) : isWritable(chat) ? (
          <Composer
            session={session}
            state={state}
            chat={chat}
            editing={editing}
            onEditEnd={() => setEditing(undefined)}
          />
        ) : (
          <ReadOnly session={session} chat={chat} />
        )}
      </div>
    </>
  );
}

/** Shown instead of the composer to people who may not write. */
function OnlyReading({ canAnswer }: { readonly canAnswer: boolean }) {
  const words = canAnswer ? 'You can read along here and answer what is asked.' : 'You can read along here.';
  return (
    <div className="read-only composer">
      <span>{words} Ask the owner of this host for more.</span>
    </div>
  );
}

/** Shown instead of the composer in chats where only the agent writes. */
function ReadOnly({ session, chat }: { readonly session: OpenSession; readonly chat: ChatState }) {
  return (
    <div className="read-only composer">
      <span>You can read along here and answer what is asked; only agents write in this chat.</span>
      {chat.activeTurn && (
        <button type="button" className="small stop" title="Alt+." onClick={() => stopTurn(session)}>
          <Icon name="stop" /> Stop
        </button>
      )}
    </div>
  );
}

interface MissingProps {
  readonly why: string;
  /** The session, if only its chat is missing. */
  readonly session?: string | undefined;
}

function Missing({ why, session }: MissingProps) {
  return (
    <div className="empty">
      <h1>There is nothing here</h1>
      <p>{why}</p>
      {session !== undefined && (
        <a className="button primary" href={hashOf({ at: 'session', uri: session })}>
          To the session
        </a>
      )}
      <a className="button" href={hashOf({ at: 'new' })}>
        Start a new session
      </a>
    </div>
  );
}

/** The head of a conversation: its title, which the person can edit in place, and its state. */
function SessionHeader({ state }: { readonly state: SessionState }) {
  const { link } = useHost();
  const session = useOpenSession();
  const { agents } = useStore(link.root);
  const activity = sessionActivity(state);
  const word = useActivityWord(activity);
  const agent = agents.find(({ provider }) => provider === state.provider)?.displayName ?? state.provider;
  const folder = state.workingDirectories?.map(pathOf).join(', ');
  return (
    <header className="session-header">
      <a className="icon-button back" href={hashOf({ at: 'home' })} aria-label="All sessions">
        <Icon name="back" />
      </a>
      <div className="heading">
        <Title title={state.title} />
        <p>
          <span className={`word ${activity}`}>{word}</span>
          {` · ${agent}`}
          {folder && <span title={folder}>{` · ${placeOf(state)}`}</span>}
          {isArchived(state) && ' · Archived'}
        </p>
      </div>
      {chatAbilities(state, agents).several && (
        <IconButton icon="chat" label="New chat" onClick={() => void openChat(session)} />
      )}
      {isAtrium(session.client) && (
        <IconButton icon="search" label="Find in this chat (Ctrl F)" onClick={() => isFinding.set(!isFinding.get())} />
      )}
      {isAtrium(session.client) && canAct(session.client, 'owner') && (
        <IconButton icon="share" label="Share" onClick={() => show('share')} />
      )}
      <IconButton icon="panel" label="Details" onClick={togglePanel} isPressed={useStore(isPanelOpen)} />
    </header>
  );
}

function Title({ title }: { readonly title: string }) {
  const session = useOpenSession();
  const [draft, setDraft] = useState<string>();
  if (draft === undefined)
    return (
      <h1>
        <button type="button" className="title-button" title="Rename" onClick={() => setDraft(title)}>
          {title || 'Untitled'}
        </button>
      </h1>
    );
  const done = (isKept: boolean) => {
    const text = draft.trim();
    if (isKept && text !== '' && text !== title) session.dispatch({ type: 'session/titleChanged', title: text });
    setDraft(undefined);
  };
  return (
    <input
      className="title-input"
      aria-label="Title"
      // biome-ignore lint/a11y/noAutofocus: the person has just asked to change it
      autoFocus
      value={draft}
      onChange={(event) => setDraft(event.target.value)}
      onBlur={() => done(true)}
      onKeyDown={({ key }) => (key === 'Enter' || key === 'Escape') && done(key === 'Enter')}
    />
  );
}

/** A note for a session whose agent is still starting, or could not start. */
function CreationNote({ state }: { readonly state: SessionState }) {
  if (state.lifecycle === 'ready') return null;
  if (state.lifecycle === 'creating') return <CreationStrip />;
  return (
    <div className="strip problem" role="alert">
      <b>The agent could not be started.</b> {state.creationError?.message}{' '}
      <a href={hashOf({ at: 'new' })}>Start another session</a>, perhaps with another agent or folder.
    </div>
  );
}

/** The progress of the creation, with a button to give it up. */
function CreationStrip() {
  const { client, link } = useHost();
  const { uri } = useOpenSession();
  const creation = useStore(link.creation);
  const shown = creation?.uri === uri ? creation : undefined;
  const giveUp = () => {
    client.disposeSession(uri).then(
      () => goTo({ at: 'new' }),
      (error) => tell(`It could not be stopped. ${problemText(error)}`),
    );
  };
  return (
    <div className="strip creation">
      <span role="status">{shown?.message || 'The agent is starting.'} You can write already.</span>
      {shown?.total !== undefined && <progress aria-label="Getting ready" value={shown.done} max={shown.total} />}
      <button type="button" className="quiet small" onClick={giveUp}>
        Give it up
      </button>
    </div>
  );
}

/** A session on a visible page counts as read. */
function useMarkRead(session: OpenSession, { status }: SessionState, isWorking: boolean): void {
  const isUnread = (status & SessionStatus.IsRead) === 0 && !isWorking;
  useEffect(() => {
    if (!isUnread) return;
    const mark = () => {
      const isSeen = document.visibilityState === 'visible' && canAct(session.client, 'approver');
      if (isSeen) session.dispatch({ type: 'session/isReadChanged', isRead: true });
    };
    mark();
    document.addEventListener('visibilitychange', mark);
    return () => document.removeEventListener('visibilitychange', mark);
  }, [session, isUnread]);
}

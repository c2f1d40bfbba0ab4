/** Above a chat that is not the first of its session: its origin, and a button to delete it. */
import type { ChatState, SessionState } from '@atrium/protocol/ahp-1';
import { useState } from 'react';
import type { OpenSession } from '../host/open-session.js';
import { hashOf } from '../host/router.js';
import { chatTitle, parentOf } from '../model/chats.js';
import { Dialog } from '../ui/dialog.js';
import { Icon } from '../ui/icons.js';
import { VisibleText } from '../ui/visible-text.js';
import { deleteChat } from './chat-actions.js';

interface Props {
  readonly session: OpenSession;
  readonly state: SessionState;
  readonly chat: ChatState;
}

export function ChatStrip({ session, state, chat }: Props) {
  const [isAsking, setAsking] = useState(false);
  const isFirst = state.defaultChat === undefined || state.defaultChat === chat.resource;
  if (isFirst) return null;
  const parent = state.chats.find(({ resource }) => resource === parentOf(chat));
  return (
    <div className="strip chat-strip">
      <span className="words">
        {WORDS[chat.origin?.kind ?? 'user'] ?? 'A further chat of this session.'}{' '}
        {parent && (
          <a href={hashOf({ at: 'session', uri: session.uri, chat: parent.resource })}>{chatTitle(parent, state)}</a>
        )}
        <Quote chat={chat} />
      </span>
      <button type="button" className="quiet small" onClick={() => setAsking(true)}>
        <Icon name="trash" /> Delete<span className="visually-hidden"> this chat</span>
      </button>
      {isAsking && <DeleteQuestion session={session} title={chat.title} onClose={() => setAsking(false)} />}
    </div>
  );
}

const WORDS: Readonly<Record<string, string>> = {
  fork: 'A fork of',
  sideChat: 'Asked aside: the agent knows the conversation in',
  tool: 'A worker, started from',
  user: 'A further chat of this session.',
};

/** The words that a side chat is about. */
function Quote({ chat: { origin } }: { readonly chat: ChatState }) {
  const text = origin?.kind === 'sideChat' ? origin.selection?.text : undefined;
  if (!text) return null;
  return (
    <q className="about" title={text}>
      <VisibleText text={text} />
    </q>
  );
}

interface DeleteProps {
  readonly session: OpenSession;
  readonly title: string;
  readonly onClose: () => void;
}

function DeleteQuestion({ session, title, onClose }: DeleteProps) {
  const remove = () => {
    onClose();
    void deleteChat(session);
  };
  return (
    <Dialog title="Delete this chat?" onClose={onClose}>
      <p>“{title || 'Untitled'}” is gone then, on every device. The other chats and all files stay as they are.</p>
      <div className="buttons">
        <button type="button" className="danger" onClick={remove}>
          Delete
        </button>
        <button type="button" onClick={onClose}>
          Keep it
        </button>
      </div>
    </Dialog>
  );
}

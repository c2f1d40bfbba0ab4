/** Says that a chat outside the screen waits for the person, with a link to it. */
import type { SessionState } from '@atrium/protocol/ahp-1';
import type { OpenSession } from '../host/open-session.js';
import { hashOf } from '../host/router.js';
import { chatKind, chatTitle, waitingElsewhere } from '../model/chats.js';

interface Props {
  readonly session: OpenSession;
  readonly state: SessionState;
}

export function WaitingElsewhere({ session, state }: Props) {
  const chats = waitingElsewhere(state, session.chatUri);
  if (chats.length === 0) return null;
  return (
    <div role="status">
      <ul className="waiting-elsewhere" aria-label="Waiting in other chats">
        {chats.map((chat) => (
          <li key={chat.resource}>
            <span className="dot needs-you" />
            <span>
              {chatKind(chat) ?? 'Chat'} <b>{chatTitle(chat, state)}</b> needs you
            </span>
            <a className="button small primary" href={hashOf({ at: 'session', uri: session.uri, chat: chat.resource })}>
              Go there<span className="visually-hidden"> to {chatTitle(chat, state)}</span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

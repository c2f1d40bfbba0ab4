/** The chats of a session in a row, each with its origin and state; the open one is marked. */
import type { SessionState } from '@atrium/protocol/ahp-1';
import { useEffect, useRef } from 'react';
import { useActivityWord } from '../host/context.js';
import type { OpenSession } from '../host/open-session.js';
import { hashOf } from '../host/router.js';
import { type ChatRow, chatKind, chatRows, chatTitle } from '../model/chats.js';
import { activityOf } from '../model/sessions.js';
import './chats.css';

interface Props {
  readonly session: OpenSession;
  readonly state: SessionState;
}

/** Shows nothing if there is only one chat. */
export function ChatBar({ session, state }: Props) {
  const list = useRef<HTMLUListElement>(null);
  const rows = chatRows(state);
  const { chatUri } = session;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another chat is a reason to look for it
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [chatUri]);
  if (rows.length < 2) return null;
  return (
    <nav className="chat-bar" aria-label="Chats">
      <ul ref={list}>
        {rows.map((row) => (
          <ChatItem
            key={row.chat.resource}
            row={row}
            title={chatTitle(row.chat, state)}
            session={session.uri}
            isHere={row.chat.resource === chatUri}
          />
        ))}
      </ul>
    </nav>
  );
}

interface ItemProps {
  readonly row: ChatRow;
  readonly title: string;
  readonly session: string;
  readonly isHere: boolean;
}

function ChatItem({ row: { chat, depth }, title, session, isHere }: ItemProps) {
  const activity = activityOf(chat);
  const word = useActivityWord(activity);
  const kind = chatKind(chat);
  return (
    <li className={depth > 0 ? 'is-nested' : ''}>
      {depth > 0 && (
        <span className="branch" aria-hidden="true">
          {'↳'.repeat(depth)}
        </span>
      )}
      <a
        href={hashOf({ at: 'session', uri: session, chat: chat.resource })}
        aria-current={isHere ? 'page' : undefined}
        title={[title, kind, chat.activity ?? word].filter(Boolean).join(' · ')}
      >
        {activity !== 'idle' && <span className={`dot ${activity}`} />}
        <span className="title">{title}</span>
        {kind && <span className="tag">{kind}</span>}
        {activity !== 'idle' && <span className="visually-hidden">{word}</span>}
      </a>
    </li>
  );
}

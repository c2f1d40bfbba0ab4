/** A person's message, with a button to edit it. */
import type { ActiveTurn, Message, Turn } from '@atrium/protocol/ahp-1';
import type { ReactNode } from 'react';
import { AttachmentList } from '../attachments/attachment-list.js';
import { useOpenSession } from '../host/context.js';
import { isAtrium } from '../host/extensions.js';
import { isWritable } from '../model/chats.js';
import { goingBackTo } from '../rewind/going-back.js';
import { IconButton } from '../ui/icons.js';

interface Props {
  readonly turn: Turn | ActiveTurn;
  readonly onEdit: (turnId: string) => void;
}

export function UserMessage({ turn, onEdit }: Props) {
  const session = useOpenSession();
  const isOver = 'state' in turn && isWritable(session.chat);
  return (
    <SaidByPerson message={turn.message}>
      {isOver && isAtrium(session.client) && (
        <IconButton icon="rewind" label="Rewind to here…" onClick={() => goingBackTo.set(turn.id)} />
      )}
      {isOver && <IconButton icon="edit" label="Edit and resend" onClick={() => onEdit(turn.id)} />}
    </SaidByPerson>
  );
}

const SPEAKERS: Readonly<Record<string, string>> = {
  agent: 'An agent said',
  tool: 'A tool said',
  automation: 'An automation said',
  systemNotification: 'The host said',
};

/** The words of a person: a message that began a turn, or a steering message. */
export function SaidByPerson({ message, children }: { readonly message: Message; readonly children?: ReactNode }) {
  const { text, attachments = [], origin } = message;
  return (
    <article className="user-message" aria-label={SPEAKERS[origin.kind] ?? 'You said'}>
      <div className="said">
        {children}
        {text !== '' && <div className="bubble">{text}</div>}
      </div>
      <AttachmentList items={attachments} />
    </article>
  );
}

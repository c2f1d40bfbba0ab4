/** What a person said, with a way to say it differently. */
import type { ActiveTurn, Message, Turn } from '@atrium/protocol/ahp-1';
import type { ReactNode } from 'react';
import { FileLink } from '../files/file-link.js';
import { useOpenSession } from '../host/context.js';
import { isWritable } from '../model/chats.js';
import { IconButton } from '../ui/icons.js';

interface Props {
  readonly turn: Turn | ActiveTurn;
  readonly onEdit: (turnId: string) => void;
}

export function UserMessage({ turn, onEdit }: Props) {
  const session = useOpenSession();
  return (
    <SaidByPerson message={turn.message}>
      {'state' in turn && isWritable(session.chat) && (
        <IconButton icon="edit" label="Edit and resend" onClick={() => onEdit(turn.id)} />
      )}
    </SaidByPerson>
  );
}

const SPEAKERS: Readonly<Record<string, string>> = {
  agent: 'An agent said',
  tool: 'A tool said',
  automation: 'An automation said',
  systemNotification: 'The host said',
};

/** A person's words: those that began a turn, or those that steered it. */
export function SaidByPerson({ message, children }: { readonly message: Message; readonly children?: ReactNode }) {
  const { text, attachments = [], origin } = message;
  return (
    <article className="user-message" aria-label={SPEAKERS[origin.kind] ?? 'You said'}>
      <div className="said">
        {children}
        <div className="bubble">{text}</div>
      </div>
      {attachments.length > 0 && (
        <ul className="chips" aria-label="Attachments">
          {attachments.map((item, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the list of a sent message never changes
            <li key={index}>
              {item.type === 'resource' ? (
                <FileLink uri={item.uri} label={item.label} line={item.selection?.range.start.line} />
              ) : (
                item.label
              )}
            </li>
          ))}
        </ul>
      )}
    </article>
  );
}

/** Where people write. Free agent: Enter sends. Working agent: Enter queues, Ctrl+Enter steers. */
import type { MessageAttachment, SessionState } from '@atrium/protocol';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import type { OpenSession } from '../host/open-session.js';
import { messageOf, resend, sendMessage, steer, stopTurn } from '../host/turns.js';
import { AutoText } from '../ui/auto-text.js';
import { Icon } from '../ui/icons.js';
import { Attachments } from './attachments.js';
import { CompletionList } from './completion-list.js';
import { PendingMessages } from './pending-messages.js';
import { useCompletions } from './use-completions.js';
import { useDraft } from './use-draft.js';

interface Props {
  readonly session: OpenSession;
  readonly state: SessionState;
  /** The turn that is being said differently. */
  readonly editing: string | undefined;
  readonly onEditEnd: () => void;
}

export function Composer({ session, state, editing, onEditEnd }: Props) {
  const [text, setText] = useDraft(session.uri);
  const [attachments, setAttachments] = useState<readonly MessageAttachment[]>([]);
  const field = useRef<HTMLTextAreaElement>(null);
  const completions = useCompletions(session, field, text, (next, attachment) => {
    setText(next);
    setAttachments((known) => [...known, attachment]);
  });
  const isWorking = state.activeTurn !== undefined;
  useEditedText(state, editing, setText, field);

  const clear = () => {
    setText('');
    setAttachments([]);
    onEditEnd();
  };
  const send = (isSteering: boolean) => {
    if (text.trim() === '') return;
    const message = messageOf(text.trim(), attachments);
    if (editing !== undefined) void resend(session, editing, message);
    else if (isSteering && isWorking) steer(session, message);
    else sendMessage(session, message);
    clear();
  };
  const pressed = (event: KeyboardEvent) => {
    if (completions.pressed(event)) return event.preventDefault();
    if (event.key === 'Escape' && editing !== undefined) clear();
  };
  return (
    <div className="composer">
      <PendingMessages session={session} state={state} />
      {editing !== undefined && (
        <p className="strip">
          Sending replaces this message and everything after it.{' '}
          <button type="button" className="quiet small" onClick={clear}>
            Cancel
          </button>
        </p>
      )}
      <div className="compose-box">
        <CompletionList completions={completions} />
        <Attachments items={attachments} onChange={setAttachments} />
        <AutoText
          id="composer"
          ref={field}
          label="Message"
          placeholder={isWorking ? 'Queue a message, or steer with Ctrl+Enter' : 'Message the agent'}
          value={text}
          onChange={setText}
          onEnter={(event) => send(event.ctrlKey || event.metaKey)}
          onKeyDown={pressed}
        />
        <div className="compose-buttons">
          {isWorking && text.trim() !== '' && (
            <button type="button" className="small" onClick={() => send(true)}>
              Steer
            </button>
          )}
          {isWorking && (
            <button type="button" className="small stop" onClick={() => stopTurn(session)}>
              <Icon name="stop" /> Stop
            </button>
          )}
          <button
            type="button"
            className="primary small send"
            disabled={text.trim() === ''}
            onClick={() => send(false)}
          >
            <Icon name="send" /> {isWorking && editing === undefined ? 'Queue' : 'Send'}
          </button>
        </div>
      </div>
    </div>
  );
}

/** The message that is being edited goes into the field, once. */
function useEditedText(
  { turns }: SessionState,
  editing: string | undefined,
  setText: (text: string) => void,
  field: React.RefObject<HTMLTextAreaElement | null>,
): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when another message is chosen
  useEffect(() => {
    const turn = turns.find(({ id }) => id === editing);
    if (!turn) return;
    setText(turn.userMessage.text);
    field.current?.focus();
  }, [editing]);
}

/** Where people write. Free agent: Enter sends. Working agent: Enter queues, Ctrl+Enter steers. */
import { readSlash, type SessionState } from '@atrium/protocol';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import type { OpenSession } from '../host/open-session.js';
import { messageOf, resend, sendMessage, steer } from '../host/turns.js';
import { AutoText } from '../ui/auto-text.js';
import { hasKeyboard, mayTakeFocus } from '../ui/focus.js';
import { Attachments, withAttachment } from './attachments.js';
import { CompletionList } from './completion-list.js';
import { ComposerBar } from './composer-bar.js';
import { PendingMessages } from './pending-messages.js';
import { useCompletions } from './use-completions.js';
import { useWriting } from './use-writing.js';

const WORKING_HINT = hasKeyboard() ? 'Queue a message, or steer with Ctrl+Enter' : 'Queue a message, or steer';

interface Props {
  readonly session: OpenSession;
  readonly state: SessionState;
  /** The turn that is being said differently. */
  readonly editing: string | undefined;
  readonly onEditEnd: () => void;
}

export function Composer({ session, state, editing, onEditEnd }: Props) {
  const writing = useWriting(session.uri, state, editing);
  const { text, attachments } = writing;
  const field = useRef<HTMLTextAreaElement>(null);
  const completions = useCompletions(session, field, text, (next, attachment) => {
    writing.change({ text: next, attachments: withAttachment(attachments, attachment) });
  });
  const { items, id, chosen } = completions;
  const isWorking = state.activeTurn !== undefined;
  useEffect(() => {
    if (mayTakeFocus()) field.current?.focus();
  }, []);
  useEffect(() => {
    if (editing !== undefined) field.current?.focus();
  }, [editing]);

  const end = () => {
    writing.clear();
    if (editing !== undefined) onEditEnd();
  };
  /** Why the text that is there was not sent. */
  const [refusal, setRefusal] = useState<{ readonly text: string; readonly advice: string }>();
  const send = (isSteering: boolean) => {
    if (text.trim() === '') return;
    const verdict = readSlash(text.trim(), state);
    if (verdict.kind === 'unknown') return setRefusal({ text, advice: verdict.advice });
    const message = messageOf(verdict.text, attachments);
    if (editing !== undefined) void resend(session, editing, message);
    else if (isSteering && isWorking) steer(session, message);
    else sendMessage(session, message);
    end();
  };
  const pressed = (event: KeyboardEvent) => {
    if (completions.pressed(event)) return event.preventDefault();
    if (event.key !== 'Escape') return;
    if (editing !== undefined) end();
    else field.current?.blur();
  };
  return (
    <div className="composer">
      <PendingMessages session={session} state={state} />
      {editing !== undefined && (
        <p className="strip">
          Sending replaces this message and everything after it.{' '}
          <button type="button" className="quiet small" onClick={end}>
            Cancel
          </button>
        </p>
      )}
      {refusal?.text === text && (
        <p className="strip problem" role="alert">
          {refusal.advice}
        </p>
      )}
      <div className="compose-box">
        <CompletionList completions={completions} />
        <Attachments items={attachments} onChange={(next) => writing.change({ attachments: next })} />
        <AutoText
          id="composer"
          ref={field}
          label="Message"
          placeholder={isWorking ? WORKING_HINT : 'Message the agent'}
          value={text}
          onChange={(next) => writing.change({ text: next })}
          onEnter={(event) => send(event.ctrlKey || event.metaKey)}
          onKeyDown={pressed}
          list={items.length > 0 ? { id, option: `${id}-${chosen}` } : undefined}
        />
        <ComposerBar
          session={session}
          state={state}
          isEmpty={text.trim() === ''}
          isEditing={editing !== undefined}
          onSend={send}
        />
      </div>
    </div>
  );
}

/** The message field. Idle agent: Enter sends. Working agent: Enter queues, Ctrl+Enter steers. */
import {
  type ChatState,
  type CompletionItem,
  type MessageAttachment,
  readSlash,
  type SessionState,
} from '@atrium/protocol/ahp-1';
import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { unsentOf, useComments, withComments } from '../changes/annotations.js';
import type { OpenSession } from '../host/open-session.js';
import { messageOf, resend, sendMessage, steer } from '../host/turns.js';
import { plural } from '../model/format.js';
import { type Selection, selectionFor } from '../model/selection.js';
import { AutoText } from '../ui/auto-text.js';
import { hasKeyboard, mayTakeFocus } from '../ui/focus.js';
import { IconButton } from '../ui/icons.js';
import { openPanel } from '../ui/panel-state.js';
import { ComposerBar } from './composer-bar.js';
import { PendingMessages } from './pending-messages.js';
import { useChatDraft } from './use-chat-draft.js';
import { type Completions, useCompletions } from './use-completions.js';
import type { Draft } from './use-draft.js';

const WORKING_HINT = hasKeyboard() ? 'Queue a message, or steer with Ctrl+Enter' : 'Queue a message, or steer';

interface Props {
  readonly session: OpenSession;
  readonly state: SessionState;
  readonly chat: ChatState;
  /** The turn that is being said differently. */
  readonly editing: string | undefined;
  readonly onEditEnd: () => void;
}

export function Composer({ session, state, chat, editing, onEditEnd }: Props) {
  const field = useRef<HTMLTextAreaElement>(null);
  const writing = useWriting({ session, chat, field }, editing);
  const { text, attachments } = writing;
  const selection = selectionFor(writing.chosen, state, chat);
  const comments = useComments(session);
  const unsent = unsentOf(comments);
  const completions = useCompletions(session, field, text, (next, attachment) => {
    writing.change({ text: next, attachments: withAttachment(attachments, attachment) });
  });
  const { items, id, chosen } = completions;
  const isWorking = chat.activeTurn !== undefined;
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
    if (text.trim() === '/cost') {
      openPanel('details');
      return end();
    }
    const verdict = readSlash(text.trim(), state, ['cost']);
    if (verdict.kind === 'unknown') return setRefusal({ text, advice: verdict.advice });
    const attached = withComments(session, attachments, unsent);
    const message = messageOf({ text: verdict.text, attachments: attached, ...selection });
    if (editing !== undefined) void resend(session, editing, message);
    else if (isSteering && isWorking) steer(session, message);
    else sendMessage(session, message);
    comments?.sent(unsent);
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
      <PendingMessages session={session} chat={chat} isReady={state.lifecycle === 'ready'} />
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
        {unsent.length > 0 && (
          <p className="comments-along hint" role="status">
            {plural(unsent.length, 'comment')} on files {unsent.length === 1 ? 'goes' : 'go'} along with your message.
          </p>
        )}
        <AutoText
          id="composer"
          ref={field}
          label="Message"
          placeholder={isWorking ? WORKING_HINT : 'Message the agent'}
          value={text}
          onChange={(next) => writing.change({ text: next })}
          onEnter={(event) => send(event.ctrlKey || event.metaKey)}
          onKeyDown={pressed}
          onBlur={writing.left}
          list={items.length > 0 ? { id, option: `${id}-${chosen}` } : undefined}
        />
        <ComposerBar
          session={session}
          state={state}
          chat={chat}
          selection={selection}
          onSelect={writing.choose}
          isEmpty={text.trim() === ''}
          isEditing={editing !== undefined}
          onSend={send}
        />
      </div>
    </div>
  );
}

interface AttachmentsProps {
  readonly items: readonly MessageAttachment[];
  readonly onChange: (items: readonly MessageAttachment[]) => void;
}

/** What goes along with the message. */
function Attachments({ items, onChange }: AttachmentsProps) {
  if (items.length === 0) return null;
  return (
    <ul className="chips" aria-label="Attachments">
      {items.map((item, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: attachments have no id
        <li key={index}>
          {item.label}
          <IconButton
            icon="close"
            label={`Remove ${item.label}`}
            onClick={() => onChange(items.filter((each) => each !== item))}
          />
        </li>
      ))}
    </ul>
  );
}

/** The same thing mentioned twice goes along once. */
function withAttachment(items: readonly MessageAttachment[], added: MessageAttachment): readonly MessageAttachment[] {
  const text = JSON.stringify(added);
  return items.some((item) => JSON.stringify(item) === text) ? items : [...items, added];
}

/** The list of what could be inserted. The text field keeps the focus and handles the keys. */
function CompletionList({ completions }: { readonly completions: Completions }) {
  const { items, chosen, id, pick } = completions;
  useEffect(() => {
    document.getElementById(`${id}-${chosen}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, chosen]);
  if (items.length === 0) return null;
  return (
    <div className="completions" role="listbox" id={id} aria-label="Completions">
      {items.map((item, index) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus and names the chosen option
        // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the field
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: two items may look the same, and the list comes as a whole
          key={index}
          role="option"
          id={`${id}-${index}`}
          aria-selected={index === chosen}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => pick(item)}
        >
          <span className="name">{item.insertText.trim()}</span>
          <span className="hint">{hintOf(item)}</span>
        </div>
      ))}
    </div>
  );
}

/** What the name does not say already. */
function hintOf({ insertText, attachment: { label, displayKind } }: CompletionItem): string {
  const name = insertText.trim();
  const bare = name.slice(1);
  if (label === name || label === bare) return displayKind ?? '';
  return label.startsWith(bare)
    ? label
        .slice(bare.length)
        .trim()
        .replace(/^\((.*)\)$/, '$1')
    : label;
}

interface Writing {
  readonly text: string;
  readonly attachments: Draft['attachments'];
  /** The model and the agent that were chosen here. */
  readonly chosen: Selection;
  change(patch: Partial<Draft>): void;
  choose(selection: Selection): void;
  clear(): void;
  left(): void;
}

interface Edit extends Draft {
  readonly turnId: string;
}

interface Place {
  readonly session: OpenSession;
  readonly chat: ChatState;
  readonly field: RefObject<HTMLTextAreaElement | null>;
}

/**
 * The content of the field: the draft, or an earlier message that is being edited. The draft waits meanwhile and
 * returns when the edit is cancelled.
 */
function useWriting(place: Place, editing: string | undefined): Writing {
  const { draft, change, sent, left } = useChatDraft(place);
  const [edit, setEdit] = useState<Edit>();
  const common = { chosen: draft, choose: change, left };
  const { text, attachments } = draft;
  if (editing === undefined) return { ...common, text, attachments, change, clear: sent };
  const current = edit?.turnId === editing ? edit : editOf(place.chat.turns, editing);
  return {
    ...common,
    text: current.text,
    attachments: current.attachments,
    change: (patch) => setEdit({ ...current, ...patch }),
    clear: () => setEdit(undefined),
  };
}

function editOf(turns: ChatState['turns'], turnId: string): Edit {
  const { text = '', attachments = [] } = turns.find(({ id }) => id === turnId)?.message ?? {};
  return { turnId, text, attachments };
}

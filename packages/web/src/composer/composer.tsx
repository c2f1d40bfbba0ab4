/** The message field. Enter sends while the agent is idle. While it works, Enter queues and Ctrl+Enter steers. */
import {
  BUILTIN_NAMES,
  builtinIn,
  type ChatState,
  literal,
  type MessageAttachment,
  readSlash,
  type SessionState,
  type SlashVerdict,
} from '@atrium/protocol/ahp-1';
import { type KeyboardEvent, type RefObject, useEffect, useRef, useState } from 'react';
import { AttachButtons, AttachNotes, pastedInto, useDrop } from '../attachments/attach-button.js';
import { AttachmentList } from '../attachments/attachment-list.js';
import { useAttaching, withAttachment, withoutAttachment } from '../attachments/use-attaching.js';
import { unsentOf, useComments, withComments } from '../changes/annotations.js';
import { useHost } from '../host/context.js';
import type { OpenSession } from '../host/open-session.js';
import { messageOf, resend } from '../host/turns.js';
import { plural } from '../model/format.js';
import { type Selection, selectionFor } from '../model/selection.js';
import { useStore } from '../model/store.js';
import { useIncoming } from '../share/incoming.js';
import { AutoText } from '../ui/auto-text.js';
import { canTakeFocus, hasKeyboard } from '../ui/focus.js';
import { runCommand } from './commands.js';
import { CompletionList } from './completion-list.js';
import { ComposerBar } from './composer-bar.js';
import { PendingMessages } from './pending-messages.js';
import { keepSent, usePromptHistory } from './prompt-history.js';
import { useChatDraft } from './use-chat-draft.js';
import { chatCompletions, useCompletions } from './use-completions.js';
import { changed, type Draft, type DraftChange } from './use-draft.js';

const WORKING_HINT = hasKeyboard() ? 'Queue a message, or steer with Ctrl+Enter' : 'Queue a message, or steer';

interface Props {
  readonly session: OpenSession;
  readonly state: SessionState;
  readonly chat: ChatState;
  /** The turn whose message the person edits. */
  readonly editing: string | undefined;
  readonly onEditEnd: () => void;
}

export function Composer({ session, state, chat, editing, onEditEnd }: Props) {
  const field = useRef<HTMLTextAreaElement>(null);
  const writing = useWriting({ session, chat, field }, editing);
  const { text, attachments } = writing;
  const selection = selectionFor(writing.chosen, state, chat);
  const { link, client } = useHost();
  const { agents } = useStore(link.root);
  const agent = agents.find(({ provider }) => provider === state.provider);
  const attaching = useAttaching(client, attachments, (change) =>
    writing.change((before) => ({ attachments: change(before.attachments) })),
  );
  const takesFiles = useDrop(attaching);
  useIncoming(session.uri, {
    text,
    write: (next) => writing.change({ text: next }),
    attach: (files) => attaching.add(files),
  });
  const comments = useComments(session);
  const unsent = unsentOf(comments);
  const models = agent?.models ?? [];
  const facts = { models, model: selection.model?.id };
  const completions = useCompletions(
    { client, source: chatCompletions(session.chatUri), field, facts },
    text,
    (next, attachment) => {
      writing.change((before) => ({
        text: next,
        ...(attachment && { attachments: withAttachment(before.attachments, attachment) }),
      }));
    },
  );
  const { items, id, chosen } = completions;
  const isWorking = chat.activeTurn !== undefined;
  useEffect(() => {
    if (canTakeFocus()) field.current?.focus();
  }, []);
  useEffect(() => {
    if (editing !== undefined) field.current?.focus();
  }, [editing]);

  const end = () => {
    writing.clear();
    attaching.forgetNotes();
    if (editing !== undefined) onEditEnd();
  };
  /** The command that the text resembles; the page asks before it sends such a text. */
  const [slip, setSlip] = useState<Slip>();
  const send = (isSteering: boolean) => {
    if (text.trim() === '' && attachments.length === 0) return;
    const command = editing === undefined ? builtinIn(text) : undefined;
    if (command) {
      // Attachments wait for a message.
      if (attachments.length > 0) writing.change({ text: '' });
      else end();
      const write = (next: string, attached: readonly MessageAttachment[]) =>
        writing.change({ text: next, attachments: attached });
      const place = { session, state, chat, agents, selection, attachments, select: writing.choose, write };
      return void runCommand(command.name, command.rest, place);
    }
    if (attaching.pending.length > 0)
      return attaching.tell(`Not sent yet: ${attaching.pending.join(', ')} is on its way.`);
    const verdict = readSlash(text.trim(), state, BUILTIN_NAMES);
    if (verdict.kind === 'unknown') return setSlip({ ...verdict, text });
    say({ text: verdict.text, isSteering, isLiteral: verdict.isLiteral === true });
  };
  /** Refused words return to the field, unless the person has begun to write something else. */
  const putBack = (words: Pick<Draft, 'text' | 'attachments'>) =>
    writing.changeDraft((now) => (now.text === '' && now.attachments.length === 0 ? words : {}));
  const say = (said: { readonly text: string; readonly isSteering: boolean; readonly isLiteral: boolean }) => {
    const attached = withComments(session, attachments, unsent);
    const plain = messageOf({ text: said.text, attachments: attached, ...selection });
    const message = said.isLiteral ? literal(plain) : plain;
    const sending =
      editing === undefined
        ? session.sendMessage(message, { isSteering: said.isSteering })
        : resend(session, editing, message);
    comments?.sent(unsent);
    void sending.then((isSent) => {
      if (isSent) return;
      putBack({ text: said.text, attachments });
      comments?.notSent(unsent);
    });
    keepSent(said.text);
    end();
  };
  const history = usePromptHistory(() => chat.turns.map(({ message }) => message.text));
  const recalled = (event: KeyboardEvent): boolean => {
    const by = event.key === 'ArrowUp' ? 1 : event.key === 'ArrowDown' ? -1 : undefined;
    if (by === undefined || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || !field.current)
      return false;
    const earlier = history.recall(by, text, field.current);
    if (earlier !== undefined) writing.change({ text: earlier });
    return earlier !== undefined;
  };
  const pressed = (event: KeyboardEvent) => {
    if (completions.pressed(event) || recalled(event)) return event.preventDefault();
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
      {slip?.text === text && (
        <SlipQuestion
          slip={slip}
          onName={(name) => {
            writing.change({ text: text.replace(`/${slip.name}`, `/${name}`) });
            field.current?.focus();
          }}
          onSend={() => say({ text: text.trim(), isSteering: false, isLiteral: true })}
        />
      )}
      <AttachNotes attaching={attaching} attachments={attachments} agent={agent} model={selection.model?.id} />
      <div className={`compose-box ${takesFiles ? 'takes-files' : ''}`}>
        <CompletionList completions={completions} />
        <AttachmentList
          items={attachments}
          pending={attaching.pending}
          onRemove={(item) =>
            writing.change((before) => ({ attachments: withoutAttachment(before.attachments, item) }))
          }
        />
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
          onPaste={(event) => pastedInto(attaching, event)}
          list={items.length > 0 ? { id, option: `${id}-${chosen}` } : undefined}
        />
        <ComposerBar
          session={session}
          state={state}
          chat={chat}
          selection={selection}
          onSelect={writing.choose}
          isEmpty={text.trim() === '' && attachments.length === 0}
          attach={<AttachButtons attaching={attaching} />}
          isEditing={editing !== undefined}
          onSend={send}
        />
      </div>
    </div>
  );
}

interface Slip extends Extract<SlashVerdict, { kind: 'unknown' }> {
  /** The whole text: the question disappears as soon as the text changes. */
  readonly text: string;
}

interface SlipProps {
  readonly slip: Slip;
  readonly onName: (name: string) => void;
  readonly onSend: () => void;
}

/** For a line that begins with a slash and is not a command: offers the nearest names, or to send it unchanged. */
function SlipQuestion({ slip: { advice, near }, onName, onSend }: SlipProps) {
  return (
    <p className="strip problem slip" role="alert">
      <span>{advice}</span>
      {near.map((name) => (
        <button key={name} type="button" className="small" onClick={() => onName(name)}>
          /{name}
        </button>
      ))}
      <button type="button" className="quiet small" onClick={onSend}>
        Send as text
      </button>
    </p>
  );
}

interface Writing {
  readonly text: string;
  readonly attachments: Draft['attachments'];
  /** The model and the agent that the person chose here. */
  readonly chosen: Selection;
  change(change: DraftChange): void;
  /** Changes the message that is not sent yet, also while an earlier one is edited. */
  changeDraft(change: DraftChange): void;
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
 * The content of the field: the draft, or an earlier message that the person edits. Meanwhile the draft waits; it
 * returns
 * when they cancel the edit.
 */
function useWriting(place: Place, editing: string | undefined): Writing {
  const { draft, change, sent, left } = useChatDraft(place);
  const [edit, setEdit] = useState<Edit>();
  const common = { chosen: draft, choose: change, changeDraft: change, left };
  const { text, attachments } = draft;
  if (editing === undefined) return { ...common, text, attachments, change, clear: sent };
  const begun = (before: Edit | undefined) => (before?.turnId === editing ? before : editOf(place.chat.turns, editing));
  const current = begun(edit);
  return {
    ...common,
    text: current.text,
    attachments: current.attachments,
    change: (by) => setEdit((before) => ({ ...begun(before), ...changed(begun(before), by) })),
    clear: () => setEdit(undefined),
  };
}

function editOf(turns: ChatState['turns'], turnId: string): Edit {
  const { text = '', attachments = [] } = turns.find(({ id }) => id === turnId)?.message ?? {};
  return { turnId, text, attachments };
}

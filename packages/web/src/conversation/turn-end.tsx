/** The end of a turn: its outcome, its cost, and the ways to continue. */
import type { Message, Turn } from '@atrium/protocol/ahp-1';
import { useRef, useState } from 'react';
import { TurnChanges } from '../changes/turn-changes.js';
import { openChat, selectedText } from '../chats/chat-actions.js';
import { useHost, useOpenSession } from '../host/context.js';
import { isAtrium } from '../host/extensions.js';
import { forkFrom, messageOf, resumeTurn } from '../host/turns.js';
import { chatAbilities, isWritable } from '../model/chats.js';
import { useStore } from '../model/store.js';
import { usageText } from '../model/usage.js';
import { CopyButton } from '../ui/copy-button.js';
import { Icon } from '../ui/icons.js';

export function TurnEnd({ turn }: { readonly turn: Turn }) {
  const session = useOpenSession();
  const answer = answerOf(turn);
  const [isOpen, setOpen] = useState(false);
  return (
    <footer className="turn-end">
      {turn.state === 'error' && <TurnError turn={turn} />}
      {turn.state === 'cancelled' && <p className="cancelled">Stopped</p>}
      <div className="row-actions">
        {isWritable(session.chat) && (
          <>
            {/* A touch screen has no hover: one button for all actions there, instead of two rows in each turn. */}
            <button
              type="button"
              className="quiet small unfolds"
              aria-label="More from here"
              aria-expanded={isOpen}
              onClick={() => setOpen(!isOpen)}
            >
              <Icon name="more" />
            </button>
            <span className={isOpen ? 'branches is-open' : 'branches'}>
              <Branches turnId={turn.id} />
            </span>
          </>
        )}
        {answer !== '' && <CopyButton text={answer} what="answer" />}
        <TurnChanges turn={turn} />
        {turn.usage && <span className="usage">{usageText(turn.usage)}</span>}
      </div>
    </footer>
  );
}

/** Ways to branch off: another chat of this session that knows the conversation, or a new session. */
function Branches({ turnId }: { readonly turnId: string }) {
  const session = useOpenSession();
  const { link } = useHost();
  const { fork, aside } = chatAbilities(session.state, useStore(link.root).agents);
  /** Touching the button may end the selection. */
  const selected = useRef('');
  const { chatUri: chat, state } = session;
  const ask = () => {
    const text = selected.current;
    void openChat(session, { kind: 'sideChat', chat, turnId, ...(text !== '' && { selection: { text } }) });
  };
  const isCopying = isAtrium(session.client) && (state.defaultChat ?? chat) === chat;
  return (
    <>
      {fork && (
        <button
          type="button"
          className="quiet small"
          title="Another chat of this session, with everything up to here"
          onClick={() => void openChat(session, { kind: 'fork', chat, turnId })}
        >
          <Icon name="fork" /> Fork from here
        </button>
      )}
      {aside && (
        <button
          type="button"
          className="quiet small"
          title="A question beside this conversation, about what you have selected; the conversation stays as it is"
          onPointerDown={(event) => {
            selected.current = selectedText();
            event.preventDefault();
          }}
          onKeyDown={() => {
            selected.current = selectedText();
          }}
          onClick={ask}
        >
          <Icon name="aside" /> Ask aside
        </button>
      )}
      {isCopying && (
        <button
          type="button"
          className="quiet small"
          title="A session of its own, with everything up to here"
          onClick={() => void forkFrom(session, turnId)}
        >
          <Icon name={fork ? 'share' : 'fork'} /> {fork ? 'New session' : 'Fork from here'}
          {fork && <span className="visually-hidden"> from here</span>}
        </button>
      )}
    </>
  );
}

/** The agent's answer, as Markdown. */
function answerOf({ responseParts }: Turn): string {
  return responseParts.flatMap((part) => (part.kind === 'markdown' ? [part.content] : [])).join('\n\n');
}

function TurnError({ turn }: { readonly turn: Turn }) {
  const session = useOpenSession();
  const { chat } = useStore(session.view);
  const part = turn.responseParts.at(-1);
  const { error, resumable = false } = part?.kind === 'error' ? part : {};
  const { errorType = 'error', message = 'The agent gave no reason.' } = error ?? {};
  const isLast = chat.activeTurn === undefined && chat.turns.at(-1)?.id === turn.id;
  return (
    <div className="turn-error" role="alert">
      <p>
        <b>This turn failed.</b> {message}
      </p>
      {!SAYS_WHAT_TO_DO.test(message) && <p className="hint">{adviceFor(errorType)}</p>}
      <div className="buttons" hidden={!isWritable(chat)}>
        {resumable && isLast ? (
          <button
            type="button"
            className="small primary"
            title="Continues where it was cut off; finished steps do not run again"
            onClick={() => resumeTurn(session, turn.id)}
          >
            Resume
          </button>
        ) : (
          <button
            type="button"
            className="small"
            title="Sends the same message once more, as a new turn"
            onClick={() => void session.sendMessage(againOf(turn.message), { isRepeat: true })}
          >
            Try again
          </button>
        )}
      </div>
    </div>
  );
}

/** The same message, from the person who repeats it. */
function againOf({ text, attachments, model, agent }: Message): Message {
  return messageOf({ text, ...(attachments && { attachments }), model, agent });
}

/** Finds advice in the agent's own error, so that the page does not add its own. */
const SAYS_WHAT_TO_DO = /\b(?:try again|resume|wait|check|choose|sign in|send a message)\b/i;

const ADVICE: readonly (readonly [RegExp, string])[] = [
  [/auth|credential|key|401|403/i, 'Check the key or the sign-in of this agent on the machine where the host runs.'],
  [/rate|quota|429|overload/i, 'The model server asks for patience. Wait a minute, then try again.'],
  [
    /network|connect|timeout|unreachable|fetch/i,
    'The host could not reach the model. Check its network, then try again.',
  ],
  [
    /context|length|too.?long/i,
    'The conversation is too long for the model. Fork from an earlier turn, or start anew.',
  ],
  [/restart|interrupt|crash/i, 'The host stopped in the middle of it. Nothing else is lost; try again.'],
];

function adviceFor(errorType: string): string {
  return ADVICE.find(([pattern]) => pattern.test(errorType))?.[1] ?? `Kind of error: ${errorType}.`;
}

/**
 * The unsent message of a chat. It is part of the chat, so that a person can continue it on another device. The text
 * typed here
 * has precedence: the page follows the host's draft only while nobody writes in this field. Until the host has stored
 * the draft,
 * and with hosts that store none, the tab remembers it.
 */
import type { Message } from '@atrium/protocol/ahp-1';
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react';
import type { OpenSession } from '../host/open-session.js';
import { messageOf } from '../host/turns.js';
import { changed, type Draft, type DraftChange, isBlank, keepDraft, keptDraft, NO_DRAFT } from './use-draft.js';

/** The host stores a draft this long after the last key. */
export const DRAFT_WAIT_MS = 600;

export interface ChatDraft {
  readonly draft: Draft;
  change(change: DraftChange): void;
  /** The message is sent; the choice of model and agent stays. */
  sent(): void;
  /** The person has left the field: sends the host what it does not have yet. */
  left(): void;
}

interface Place {
  readonly session: OpenSession;
  readonly field: RefObject<HTMLTextAreaElement | null>;
}

export function useChatDraft({ session, field }: Place): ChatDraft {
  const about = draftPlace(session);
  /** The text written here; undefined while the field shows the host's draft. */
  const [own, setOwn] = useState(() => keptDraft(about));
  const latest = useRef(own);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  const store = useCallback(async () => {
    clearTimeout(timer.current);
    const written = latest.current;
    if (!written || !(await isStored(session, written)) || latest.current !== written) return;
    keepDraft(about, NO_DRAFT);
    const isWriting = document.activeElement === field.current && written.text !== '';
    if (isWriting) return;
    latest.current = undefined;
    setOwn(undefined);
  }, [session, about, field]);

  const write = (next: Draft, waitMs: number) => {
    latest.current = next;
    setOwn(next);
    keepDraft(about, next);
    clearTimeout(timer.current);
    timer.current = setTimeout(store, waitMs);
  };
  useEffect(() => {
    if (latest.current) timer.current = setTimeout(store, DRAFT_WAIT_MS);
    const leave = () => void store();
    addEventListener('pagehide', leave);
    return () => {
      removeEventListener('pagehide', leave);
      leave();
    };
  }, [store]);

  // The chat as the host has it, not as of the last frame: it already contains a draft that was just stored.
  const stored = () => draftOf(session.chat.draft);
  const current = () => latest.current ?? stored();
  return {
    draft: own ?? stored(),
    change: (by) => {
      const next = changed(current(), by);
      write(next, next.text === current().text ? 0 : DRAFT_WAIT_MS);
    },
    sent: () => write({ ...current(), ...NO_DRAFT }, 0),
    left: () => void store(),
  };
}

/** The key of the draft. The only chat of a session uses the session's, which exists before the chat does. */
export function draftPlace({ uri, chatUri, state }: Pick<OpenSession, 'uri' | 'chatUri' | 'state'>): string {
  return chatUri === state.defaultChat ? uri : chatUri;
}

async function isStored(session: OpenSession, written: Draft): Promise<boolean> {
  const message = isBlank(written) ? undefined : messageOf(written);
  const isThere = JSON.stringify(message) === JSON.stringify(session.chat.draft);
  return isThere || session.keepDraft(message);
}

function draftOf(message: Message | undefined): Draft {
  if (!message) return NO_DRAFT;
  const { text, attachments = [], model, agent } = message;
  return { text, attachments, ...(model && { model }), ...(agent && { agent }) };
}

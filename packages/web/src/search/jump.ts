/** Goes from a hit to its turn, loaded or not. */
import { type Phrase, type ResponsePart, type SearchItem, spansOf, wordsOf } from '@atrium/protocol/ahp-1';
import type { Virtualizer } from '@tanstack/react-virtual';
import { type RefObject, useEffect } from 'react';
import type { HostLink } from '../host/link.js';
import type { OpenSession } from '../host/open-session.js';
import { goTo } from '../host/router.js';
import type { Row } from '../model/rows.js';
import { Store, useStore } from '../model/store.js';
import { tell } from '../ui/notices.js';
import { markWords } from './marks.js';

interface Target {
  readonly chat: string;
  readonly turnId: string;
  readonly phrases: readonly Phrase[];
}

/** The turn to go to, and the words to mark there. */
export const target = new Store<Target | undefined>(undefined);

/** Opens the session of a hit, at its turn. */
export function openHit(link: HostLink, { session, chat, turnId }: SearchItem, phrases: readonly Phrase[]): void {
  const known = link.sessions.get()?.find(({ resource }) => resource === session);
  const isDefault = chat === undefined || chat === known?.defaultChat;
  target.set(chat === undefined || turnId === undefined ? undefined : { chat, turnId, phrases });
  goTo({ at: 'session', uri: session, ...(!isDefault && { chat }) });
}

interface JumpOptions {
  readonly session: OpenSession;
  readonly rows: readonly Row[];
  readonly list: Virtualizer<HTMLDivElement, HTMLDivElement>;
  readonly content: RefObject<HTMLDivElement | null>;
  /** Stops following the end of the conversation. */
  letGo(): void;
}

/** Brings the wanted turn into view, and marks the words. */
export function useJump({ session, rows, list, content, letGo }: JumpOptions): void {
  const wanted = useStore(target);
  const here = wanted?.chat === session.chatUri ? wanted : undefined;
  useEffect(() => {
    if (!here) return;
    letGo();
    void session.reach(here.turnId).then((isThere) => {
      if (!isThere && target.get() === here) tell('This turn is not there any more.');
    });
  }, [here, session, letGo]);
  const index = here ? rowOf(rows, here) : -1;
  // Rows above load meanwhile, so this searches again when the index of the row changes.
  useEffect(() => {
    if (index < 0) return;
    letGo();
    list.scrollToIndex(index, { align: 'start' });
    let frames = 0;
    // The list measures the row, and those above it, only when it draws them.
    const settle = () => {
      const row = content.current?.querySelector(`[data-index="${index}"]`);
      (row?.querySelector('mark') ?? row)?.scrollIntoView({ block: 'nearest' });
      frames += 1;
      if (frames < 10) handle = requestAnimationFrame(settle);
    };
    let handle = requestAnimationFrame(settle);
    return () => cancelAnimationFrame(handle);
  }, [index, list, content, letGo]);
  useEffect(() => (here && content.current ? markWords(content.current, here.phrases) : undefined), [here, content]);
}

/** The first row of the turn with the words, or its message. */
function rowOf(rows: readonly Row[], { turnId, phrases }: Target): number {
  const first = rows.findIndex((row) => row.kind === 'user' && row.turn.id === turnId);
  if (first < 0) return -1;
  for (let at = first; at < rows.length; at += 1) {
    const row = rows[at];
    if (!row || (at > first && (row.kind !== 'part' || row.turnId !== turnId))) break;
    const words = [
      ...wordsOf(row.kind === 'user' ? row.turn.message.text : row.kind === 'part' ? textOf(row.part) : ''),
    ];
    if (phrases.some((phrase) => spansOf(phrase, words).length > 0)) return at;
  }
  return first;
}

function textOf(part: ResponsePart): string {
  if (part.kind === 'markdown' || part.kind === 'reasoning') return part.content;
  if (part.kind !== 'toolCall') return '';
  const { toolCall } = part;
  const said = 'pastTenseMessage' in toolCall ? toolCall.pastTenseMessage : toolCall.invocationMessage;
  const input = 'toolInput' in toolCall && typeof toolCall.toolInput === 'string' ? toolCall.toolInput : '';
  return `${toolCall.displayName} ${typeof said === 'string' ? said : (said?.markdown ?? '')} ${input}`;
}

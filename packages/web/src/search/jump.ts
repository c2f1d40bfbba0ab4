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
import { markWords, rangesIn } from './marks.js';

interface Target {
  readonly chat: string;
  readonly turnId: string;
  readonly phrases: readonly Phrase[];
  /** Which of the places in the turn that have the words, counted from its first one. By default the first. */
  readonly place?: number | 'last';
}

/** The turn to go to, and the words to mark there. */
export const target = new Store<Target | undefined>(undefined);

/** In how many places the turn has the words. */
export const placesInTurn = new Store(0);

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
  const places = here ? placesOf(rows, here) : [];
  const { row: index, nth } = (here && places.at(placeIn(here, places.length))) ?? { row: -1, nth: 0 };
  useEffect(() => placesInTurn.set(places.length), [places.length]);
  const phrases = here?.phrases;
  // Rows above load meanwhile, so this searches again when the index of the row changes.
  useEffect(() => {
    if (index < 0 || !phrases) return;
    letGo();
    list.scrollToIndex(index, { align: 'start' });
    let frames = 0;
    // The list measures the row, and those above it, only when it draws them.
    const settle = () => {
      const row = content.current?.querySelector(`[data-index="${index}"]`);
      if (row && list.scrollElement) showPlace(list.scrollElement, row, { phrases, nth });
      frames += 1;
      if (frames < 10) handle = requestAnimationFrame(settle);
    };
    let handle = requestAnimationFrame(settle);
    return () => cancelAnimationFrame(handle);
  }, [index, nth, phrases, list, content, letGo]);
  useEffect(() => (here && content.current ? markWords(content.current, here.phrases) : undefined), [here, content]);
}

interface Place {
  readonly row: number;
  /** Which of the places in this row, from 0. */
  readonly nth: number;
}

/** Where the turn has the words, in their order; its message, if the words are in nothing that is shown. */
function placesOf(rows: readonly Row[], { turnId, phrases }: Target): readonly Place[] {
  const first = rows.findIndex((row) => row.kind === 'user' && row.turn.id === turnId);
  if (first < 0) return [];
  const places: Place[] = [];
  for (let at = first; at < rows.length; at += 1) {
    const row = rows[at];
    if (!row || (at > first && (row.kind !== 'part' || row.turnId !== turnId))) break;
    const text = row.kind === 'user' ? row.turn.message.text : row.kind === 'part' ? textOf(row.part) : '';
    const words = [...wordsOf(text)];
    const count = phrases.flatMap((phrase) => spansOf(phrase, words)).length;
    for (let nth = 0; nth < count; nth += 1) places.push({ row: at, nth });
  }
  return places.length > 0 ? places : [{ row: first, nth: 0 }];
}

function placeIn({ place = 0 }: Target, count: number): number {
  return place === 'last' ? count - 1 : Math.min(place, count - 1);
}

/** Brings a place into the middle, if it is out of view. What is folded has no place on the screen: its row is shown. */
function showPlace(
  scroller: Element,
  row: Element,
  { phrases, nth }: { phrases: readonly Phrase[]; nth: number },
): void {
  const ranges = rangesIn(row, phrases);
  const range = ranges[Math.min(nth, ranges.length - 1)];
  if (!range) return row.scrollIntoView({ block: 'nearest' });
  const { top, bottom } = range.getBoundingClientRect();
  const view = scroller.getBoundingClientRect();
  if (top < view.top || bottom > view.bottom) scroller.scrollTop += top - (view.top + view.height / 2);
}

function textOf(part: ResponsePart): string {
  if (part.kind === 'markdown' || part.kind === 'reasoning') return part.content;
  if (part.kind !== 'toolCall') return '';
  const { toolCall } = part;
  const said = 'pastTenseMessage' in toolCall ? toolCall.pastTenseMessage : toolCall.invocationMessage;
  const input = 'toolInput' in toolCall && typeof toolCall.toolInput === 'string' ? toolCall.toolInput : '';
  return `${toolCall.displayName} ${typeof said === 'string' ? said : (said?.markdown ?? '')} ${input}`;
}

/**
 * Completions at the caret. Asks the host when one of its trigger characters begins a word. A chosen item brings its
 * attachment, which goes back to the host exactly as it came.
 */
import { type ArgumentFacts, fileArgument, type MessageAttachment } from '@atrium/protocol/ahp-1';
import { type KeyboardEvent, type RefObject, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import type { OpenSession } from '../host/open-session.js';
import { commandsFor, type Found, inserted, isMention, isWhole, NOTHING, type Offered } from './mention.js';

const WAIT_MS = 120;

export interface Completions {
  readonly items: readonly Offered[];
  readonly chosen: number;
  /** The id of the list; options add their numbers to it. */
  readonly id: string;
  pick(item: Offered): void;
  /** Whether the key was meant for the list. */
  pressed(event: KeyboardEvent): boolean;
}

interface Place {
  readonly session: OpenSession;
  readonly field: RefObject<HTMLTextAreaElement | null>;
  /** For the arguments of commands. */
  readonly facts: ArgumentFacts;
}

export function useCompletions(
  place: Place,
  text: string,
  onPick: (text: string, attachment: MessageAttachment | undefined) => void,
): Completions {
  const { field } = place;
  const id = useId();
  /** The mention that a choice has just inserted; it must not open the list again. */
  const settled = useRef<string>(undefined);
  const [{ found, chosen }, setShown] = useFound(place, text, settled);
  const moveCaret = useCaret(field, text);
  const { items } = found;
  const choose = (index: number) => setShown({ found, chosen: index });
  const pick = (item: Offered) => {
    const next = inserted(found, item, text);
    setShown(CLOSED);
    if (!next) return;
    // After a command its argument follows.
    if (item.attachment) settled.current = next.text;
    moveCaret(next.caret, next.text);
    onPick(next.text, item.attachment);
    field.current?.focus();
  };
  const pressed = ({ key, shiftKey, ctrlKey, metaKey, nativeEvent }: KeyboardEvent) => {
    if (items.length === 0 || nativeEvent.isComposing) return false;
    const item = items[chosen];
    if (key === 'ArrowDown') choose((chosen + 1) % items.length);
    else if (key === 'ArrowUp') choose((chosen + items.length - 1) % items.length);
    else if (key === 'Escape') setShown(CLOSED);
    else if (key === 'Enter' && item && chosen === 0 && isWhole(found, item)) return false;
    else if ((key === 'Enter' || key === 'Tab') && !shiftKey && !ctrlKey && !metaKey && item) pick(item);
    else return false;
    return true;
  };
  return { items, chosen, id, pick, pressed };
}

interface Shown {
  readonly found: Found;
  readonly chosen: number;
}

function listOf(text: string, caret: number, items: readonly Offered[]): Shown {
  return { found: { text, caret, items }, chosen: 0 };
}

const CLOSED: Shown = { found: NOTHING, chosen: 0 };

/** Asks a moment after the last key. Old results stay until newer ones arrive, so that nothing flickers. */
function useFound(
  { session, field, facts }: Place,
  text: string,
  settled: RefObject<string | undefined>,
): [Shown, (shown: Shown) => void] {
  const [shown, setShown] = useState(CLOSED);
  const latest = useRef(facts);
  latest.current = facts;
  useEffect(() => {
    const caret = field.current?.selectionStart ?? text.length;
    const triggers = session.client.host.completionTriggerCharacters ?? [];
    const isTyping = document.activeElement === field.current && settled.current !== text;
    const own = isTyping ? commandsFor(text, caret, latest.current) : [];
    const isAsked = isTyping && (isMention(text, caret, triggers) || fileArgument(text, caret) !== undefined);
    setShown(own.length === 0 && !isAsked ? CLOSED : (before) => (own.length > 0 ? listOf(text, caret, own) : before));
    if (!isAsked) return;
    let isOver = false;
    const timer = setTimeout(async () => {
      const items = await ask(session, text, caret);
      if (!isOver) setShown(listOf(text, caret, [...own, ...items]));
    }, WAIT_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [session, field, text, settled]);
  return [shown, setShown];
}

/** Puts the caret after the inserted text once React has drawn it. */
function useCaret(field: RefObject<HTMLTextAreaElement | null>, text: string) {
  const wanted = useRef<{ readonly caret: number; readonly text: string }>(undefined);
  useLayoutEffect(() => {
    if (wanted.current?.text !== text) return;
    field.current?.setSelectionRange(wanted.current.caret, wanted.current.caret);
    wanted.current = undefined;
  }, [field, text]);
  return (caret: number, next: string) => {
    wanted.current = { caret, text: next };
  };
}

async function ask(session: OpenSession, text: string, offset: number): Promise<readonly Offered[]> {
  const file = fileArgument(text, offset);
  const asked = file ? `@${file.word}` : text;
  try {
    const position = { text: asked, offset: file ? asked.length : offset };
    const params = { channel: session.chatUri, kind: 'userMessage' as const, ...position };
    const { items } = await session.client.request('completions', params);
    return file ? items.flatMap((item) => fileOnly(item, file)) : items;
  } catch {
    // Without an answer there is nothing to offer, but the person can still write.
    return [];
  }
}

/** A command takes the name of a file, not a mention of it. */
function fileOnly(
  { insertText, attachment }: Offered,
  { word, start }: { readonly word: string; readonly start: number },
): Offered[] {
  if (attachment?.type !== 'resource') return [];
  const name = insertText.slice(1);
  return [{ insertText: name, rangeStart: start, rangeEnd: start + word.length, label: name.trim(), about: 'file' }];
}

/**
 * What could be inserted at the caret, asked for when one of the host's trigger characters begins a word. An item that
 * is chosen brings its attachment, which goes back to the host exactly as it came.
 */
import type { CompletionItem, MessageAttachment } from '@atrium/protocol';
import { type KeyboardEvent, type RefObject, useEffect, useState } from 'react';
import type { OpenSession } from '../host/open-session.js';

const WAIT_MS = 120;
const SHOWN_MAX = 8;

export interface Completions {
  readonly items: readonly CompletionItem[];
  readonly chosen: number;
  pick(item: CompletionItem): void;
  /** Whether the key was meant for the list. */
  pressed(event: KeyboardEvent): boolean;
}

export function useCompletions(
  session: OpenSession,
  field: RefObject<HTMLTextAreaElement | null>,
  text: string,
  onPick: (text: string, attachment: MessageAttachment) => void,
): Completions {
  const [items, setItems] = useState<readonly CompletionItem[]>([]);
  const [chosen, setChosen] = useState(0);
  const triggers = session.client.host.completionTriggerCharacters ?? [];
  const isWanted = hasTrigger(text, triggers);
  useEffect(() => {
    setItems([]);
    setChosen(0);
    if (!isWanted) return;
    let isOver = false;
    const timer = setTimeout(async () => {
      const found = await ask(session, text, field.current?.selectionStart ?? text.length);
      if (!isOver) setItems(found.slice(0, SHOWN_MAX));
    }, WAIT_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [session, field, text, isWanted]);

  const pick = (item: CompletionItem) => {
    const caret = field.current?.selectionStart ?? text.length;
    const { insertText, rangeStart = caret, rangeEnd = caret, attachment } = item;
    onPick(text.slice(0, rangeStart) + insertText + text.slice(rangeEnd), attachment);
    setItems([]);
    field.current?.focus();
  };
  const pressed = ({ key }: KeyboardEvent) => {
    if (items.length === 0) return false;
    const item = items[chosen];
    if (key === 'ArrowDown') setChosen((chosen + 1) % items.length);
    else if (key === 'ArrowUp') setChosen((chosen + items.length - 1) % items.length);
    else if (key === 'Escape') setItems([]);
    else if ((key === 'Enter' || key === 'Tab') && item) pick(item);
    else return false;
    return true;
  };
  return { items, chosen, pick, pressed };
}

/** The last word begins with a trigger character. */
function hasTrigger(text: string, triggers: readonly string[]): boolean {
  const word = /\S*$/.exec(text)?.[0] ?? '';
  return triggers.some((trigger) => word.startsWith(trigger));
}

async function ask(session: OpenSession, text: string, offset: number): Promise<readonly CompletionItem[]> {
  try {
    const params = { channel: session.uri, kind: 'userMessage' as const, text, offset };
    return (await session.client.request('completions', params)).items;
  } catch {
    return [];
  }
}

/**
 * Earlier messages, for the key ↑: first those of this chat, newest first, then those sent anywhere from this browser.
 * After
 * the newest, ↓ brings back the text that the person had begun.
 */
import { useRef } from 'react';

const KEY = 'atrium.sent';
/** How many sent messages the browser keeps. It keeps no long ones. */
export const SENT_KEPT_MAX = 100;
export const SENT_KEPT_MAX_CHARACTERS = 4_000;

export function sentAnywhere(): readonly string[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter((text) => typeof text === 'string') : [];
  } catch {
    return [];
  }
}

export function keepSent(text: string): void {
  if (text.trim() === '' || text.length > SENT_KEPT_MAX_CHARACTERS) return;
  try {
    const others = sentAnywhere().filter((each) => each !== text);
    localStorage.setItem(KEY, JSON.stringify([...others, text].slice(-SENT_KEPT_MAX)));
  } catch {
    // The browser stores nothing; the messages of the chat remain.
  }
}

/** Newest first, each once. */
export function historyOf(inChat: readonly string[], anywhere: readonly string[]): readonly string[] {
  return [...new Set([...inChat.toReversed(), ...anywhere.toReversed()].filter((text) => text.trim() !== ''))];
}

interface Place {
  readonly history: readonly string[];
  /** The position in the history; -1 is the person's own text. */
  readonly at: number;
  readonly draft: string;
}

export interface PromptHistory {
  /** The new text for the field; undefined if the key means something else. */
  recall(by: 1 | -1, text: string, field: HTMLTextAreaElement): string | undefined;
}

export function usePromptHistory(inChat: () => readonly string[]): PromptHistory {
  const place = useRef<Place>(undefined);
  return {
    recall(by, text, field) {
      const here = place.current;
      // A recalled text that the person changes becomes their own.
      const isRecalled = here !== undefined && here.at >= 0 && here.history[here.at] === text;
      if (!isRecalled && (by === -1 || !isOnFirstLine(text, field))) return undefined;
      if (isRecalled && by === 1 && !isOnFirstLine(text, field)) return undefined;
      if (isRecalled && by === -1 && !isOnLastLine(text, field)) return undefined;
      // If the person left a draft and then changed a recalled message, the draft takes the place of the newest one.
      const left = here && !isRecalled && here.draft !== text ? [here.draft] : [];
      const history = () => historyOf([...inChat(), ...left], sentAnywhere()).filter((each) => each !== text);
      const current = isRecalled ? here : { history: history(), at: -1, draft: text };
      const at = current.at + by;
      if (at >= current.history.length) return undefined;
      place.current = { ...current, at };
      return at < 0 ? current.draft : current.history[at];
    },
  };
}

function isOnFirstLine(text: string, { selectionStart, selectionEnd }: HTMLTextAreaElement): boolean {
  return selectionStart === selectionEnd && !text.slice(0, selectionStart).includes('\n');
}

function isOnLastLine(text: string, { selectionStart, selectionEnd }: HTMLTextAreaElement): boolean {
  return selectionStart === selectionEnd && !text.slice(selectionStart).includes('\n');
}

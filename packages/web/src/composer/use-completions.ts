/**
 * Completions at the caret. Asks the host when one of its trigger characters begins a word. A chosen item brings its
 * attachment, which goes back to the host exactly as it came.
 */
import type { Client } from '@atrium/client';
import {
  type ArgumentFacts,
  type CompletionItem,
  FOLDER_COMPLETIONS_METHOD,
  type FolderCompletions,
  fileArgument,
  type MessageAttachment,
} from '@atrium/protocol/ahp-1';
import { type KeyboardEvent, type RefObject, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
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

/** Where completions come from: a chat, or the folder in which the message will begin a session. */
export interface CompletionSource {
  /** The URI of the chat or of the folder. */
  readonly uri: string;
  find(client: Client, uri: string, position: Position): Promise<readonly CompletionItem[]>;
}

interface Position {
  readonly text: string;
  readonly offset: number;
}

export function chatCompletions(chat: string): CompletionSource {
  return {
    uri: chat,
    find: async (client, channel, position) =>
      (await client.request('completions', { channel, kind: 'userMessage', ...position })).items,
  };
}

export function folderCompletions(folder: string): CompletionSource {
  return {
    uri: folder,
    find: async (client, workingDirectory, position) => {
      const params = { workingDirectory, ...position };
      return ((await client.requestExtension(FOLDER_COMPLETIONS_METHOD, params)) as FolderCompletions).items;
    },
  };
}

/** For a host that completes nothing before there is a session. */
export const NO_COMPLETIONS: CompletionSource = { uri: '', find: async () => [] };

interface Place {
  readonly client: Client;
  readonly source: CompletionSource;
  readonly field: RefObject<HTMLTextAreaElement | null>;
  /** For the arguments of commands. */
  readonly facts: ArgumentFacts;
  /** True for the commands that are offered, as they would be typed. Default: all. */
  readonly offers?: (command: string) => boolean;
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
  { client, source, field, facts, offers = () => true }: Place,
  text: string,
  settled: RefObject<string | undefined>,
): [Shown, (shown: Shown) => void] {
  const [shown, setShown] = useState(CLOSED);
  const { uri } = source;
  const latest = useRef({ facts, source, offers });
  latest.current = { facts, source, offers };
  // biome-ignore lint/correctness/useExhaustiveDependencies: another chat or folder has other files
  useEffect(() => {
    const caret = field.current?.selectionStart ?? text.length;
    const triggers = client.host.completionTriggerCharacters ?? [];
    const isTyping = document.activeElement === field.current && settled.current !== text;
    const { facts, offers } = latest.current;
    const own = isTyping ? commandsFor(text, caret, facts).filter(({ insertText }) => offers(insertText)) : [];
    const isAsked = isTyping && (isMention(text, caret, triggers) || fileArgument(text, caret) !== undefined);
    setShown(own.length === 0 && !isAsked ? CLOSED : (before) => (own.length > 0 ? listOf(text, caret, own) : before));
    if (!isAsked) return;
    let isOver = false;
    const timer = setTimeout(async () => {
      const items = await ask(client, latest.current.source, { text, offset: caret });
      if (!isOver) setShown(listOf(text, caret, [...own, ...items]));
    }, WAIT_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [client, uri, field, text, settled]);
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

async function ask(
  client: Client,
  { uri, find }: CompletionSource,
  { text, offset }: Position,
): Promise<readonly Offered[]> {
  const file = fileArgument(text, offset);
  const asked = file ? `@${file.word}` : text;
  try {
    const items = await find(client, uri, { text: asked, offset: file ? asked.length : offset });
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

/** Searches at the host while the person types. */
import type { Client } from '@atrium/client';
import { SEARCH_METHOD, type SearchParams, type SearchResult } from '@atrium/protocol/ahp-1';
import { useEffect, useState } from 'react';
import { useHost } from '../host/context.js';
import { problemText } from '../host/problem.js';

/** The pause before a request; a typing person presses the next key sooner. */
const TYPING_MS = 150;

export function ask(client: Client, params: SearchParams): Promise<SearchResult> {
  return client.requestExtension(SEARCH_METHOD, params) as Promise<SearchResult>;
}

/** Makes the last word a prefix, because the person may not have finished it. */
export function asTyped(text: string): string {
  const isOpen = (text.match(/"/g)?.length ?? 0) % 2 === 1;
  return !isOpen && /[\p{L}\p{N}]$/u.test(text) && !/\S+:\S*$/.test(text) ? `${text}*` : text;
}

interface Found {
  readonly result: SearchResult | undefined;
  readonly problem: string | undefined;
  /** Whether the answer to the current text has not arrived yet. */
  readonly isAsking: boolean;
  /** Adds the next page. */
  more(): Promise<void>;
}

const NOTHING = { text: '', result: undefined, problem: undefined };

export function useFound(text: string, { channel, limit = 30 }: Pick<SearchParams, 'channel' | 'limit'> = {}): Found {
  const { client } = useHost();
  const [{ text: answered, result, problem }, set] = useState<{
    readonly text: string;
    readonly result: SearchResult | undefined;
    readonly problem: string | undefined;
  }>(NOTHING);
  const query = text.trim() === '' ? '' : asTyped(text);
  const params = { query, limit, ...(channel !== undefined && { channel }) };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the parameters are made of the others
  useEffect(() => {
    if (query === '') return set(NOTHING);
    let isOver = false;
    const timer = setTimeout(() => {
      ask(client, params).then(
        (found) => isOver || set({ text, result: found, problem: undefined }),
        (error) => isOver || set({ text, result: undefined, problem: problemText(error) }),
      );
    }, TYPING_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [client, query, channel, limit]);
  const more = async () => {
    if (!result?.nextCursor) return;
    const next = await ask(client, { ...params, cursor: result.nextCursor });
    set((before) =>
      before.result === result ? { ...before, result: { ...next, items: [...result.items, ...next.items] } } : before,
    );
  };
  return { result, problem, isAsking: query !== '' && answered !== text, more };
}

/** The input of a tool call as text. Reads a long one by its reference. */
import type { ToolInput } from '@atrium/protocol/ahp-1';
import { useEffect, useState } from 'react';
import { useHost } from '../host/context.js';
import { contentText } from './content-text.js';

export type LoadedInput =
  | { readonly at: 'here'; readonly text: string | undefined }
  | { readonly at: 'loading' }
  | { readonly at: 'unknown' };

const LOADING: LoadedInput = { at: 'loading' };

/** The text may change until the call is allowed; the host then sends another name or nonce. */
export function useToolInput(input: ToolInput | undefined): LoadedInput {
  const { client } = useHost();
  const [loaded, setLoaded] = useState<{ readonly key: string; readonly input: LoadedInput }>();
  const uri = typeof input === 'object' ? input.uri : undefined;
  const key = typeof input === 'object' ? `${input.nonce ?? ''} ${input.uri}` : '';
  useEffect(() => {
    if (uri === undefined) return;
    let isOver = false;
    setLoaded(undefined);
    const set = (input: LoadedInput) => isOver || setLoaded({ key, input });
    client.request('resourceRead', { uri, encoding: 'utf-8' }).then(
      (content) => set({ at: 'here', text: contentText(content) }),
      () => set({ at: 'unknown' }),
    );
    return () => {
      isOver = true;
    };
  }, [client, uri, key]);
  if (typeof input !== 'object') return { at: 'here', text: input };
  // The text of the last name must not show under the next one, not even for a moment.
  return loaded?.key === key ? loaded.input : LOADING;
}

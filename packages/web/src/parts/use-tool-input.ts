/** The input of a tool call as text. A long one may be named by its place, and is read from there. */
import type { ToolInput } from '@atrium/protocol/ahp-1';
import { useEffect, useState } from 'react';
import { useHost } from '../host/context.js';

export type LoadedInput =
  | { readonly at: 'here'; readonly text: string | undefined }
  | { readonly at: 'loading' }
  | { readonly at: 'unknown' };

const LOADING: LoadedInput = { at: 'loading' };

/** What stands at the place may change until the call is allowed; the host then says so with another nonce. */
export function useToolInput(input: ToolInput | undefined): LoadedInput {
  const { client } = useHost();
  const [loaded, setLoaded] = useState<LoadedInput>(LOADING);
  const uri = typeof input === 'object' ? input.uri : undefined;
  const nonce = typeof input === 'object' ? input.nonce : undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another nonce is another content
  useEffect(() => {
    if (uri === undefined) return;
    let isOver = false;
    setLoaded(LOADING);
    client.request('resourceRead', { uri, encoding: 'utf-8' }).then(
      ({ data }) => isOver || setLoaded({ at: 'here', text: data }),
      () => isOver || setLoaded({ at: 'unknown' }),
    );
    return () => {
      isOver = true;
    };
  }, [client, uri, nonce]);
  return typeof input === 'object' ? loaded : { at: 'here', text: input };
}

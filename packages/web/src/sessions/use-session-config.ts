/**
 * The settings of a new session. They depend on earlier choices, so the page asks the host again after each choice. It
 * looks up
 * values that the host offers but does not list.
 */
import type { SessionConfigState, SessionConfigValueItem } from '@atrium/protocol/ahp-1';
import { useEffect, useMemo, useState } from 'react';
import { useHost } from '../host/context.js';
import { uriOf } from '../model/format.js';

/** Typing a folder's path must not send a request per letter. */
const WAIT_MS = 150;
/** The form has a better field for it. */
const OWN_FIELD = 'folder';

type Values = SessionConfigState['values'];

export type LookUp = (property: string, query: string) => Promise<readonly SessionConfigValueItem[]>;

export interface SessionConfig {
  readonly state: SessionConfigState | undefined;
  /** The choices that the host still offers. */
  readonly chosen: Values;
  set(values: Values): void;
  readonly lookUp: LookUp;
}

/** `given`: the initial choices, such as the mode of the last session. */
export function useSessionConfig(provider: string | undefined, folder: string, given?: Values): SessionConfig {
  const { client } = useHost();
  const [picked, setValues] = useState<Values>({});
  const values = useMemo(() => ({ ...given, ...picked }), [given, picked]);
  const [state, setState] = useState<SessionConfigState>();
  const context = useMemo(() => {
    const workingDirectory = uriOf(folder);
    return {
      ...(provider !== undefined && { provider }),
      ...(workingDirectory !== undefined && { workingDirectory }),
      config: values,
    };
  }, [provider, folder, values]);
  useEffect(() => {
    let isOver = false;
    const timer = setTimeout(() => {
      // A host that does not know the request offers no settings.
      client.request('resolveSessionConfig', context).then(
        (resolved) => isOver || setState(withoutOwnField(resolved)),
        () => {},
      );
    }, WAIT_MS);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [client, context]);
  const offered = state?.schema.properties ?? {};
  const chosen = Object.fromEntries(Object.entries(values).filter(([name]) => name in offered));
  return {
    // Shows a new choice before the host has confirmed it.
    state: state && { ...state, values: { ...state.values, ...chosen } },
    chosen,
    set: (patch) => setValues({ ...picked, ...patch }),
    lookUp: async (property, query) =>
      (await client.request('sessionConfigCompletions', { ...context, property, query })).items,
  };
}

function withoutOwnField({ schema, values }: SessionConfigState): SessionConfigState {
  const { [OWN_FIELD]: _ours, ...properties } = schema.properties;
  return { schema: { ...schema, properties }, values };
}

/**
 * The settings of a new session. They depend on earlier choices, so the page asks the host again after each choice. It
 * looks up
 * values that the host offers but does not list.
 */
import type { Client } from '@atrium/client';
import { MODE_PROPERTY, type SessionConfigState, type SessionConfigValueItem } from '@atrium/protocol/ahp-1';
import { useEffect, useMemo, useState } from 'react';
import { useHost } from '../host/context.js';
import { canAct } from '../host/extensions.js';
import { uriOf } from '../model/format.js';

/** Typing a folder's path must not send a request per letter. */
const WAIT_MS = 150;
/** The form has a better field for it. */
const OWN_FIELD = 'folder';
const AUTO_APPROVE = 'autoApprove';

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
        (resolved) => isOver || setState(allowed(client, withoutOwnField(resolved))),
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

/** What runs without asking, only the owner chooses: others are not offered it. */
function allowed(client: Client, { schema, values }: SessionConfigState): SessionConfigState {
  const { [MODE_PROPERTY]: mode, [AUTO_APPROVE]: _always, ...properties } = schema.properties;
  if (canAct(client, 'owner') || !mode?.enum) return { schema, values };
  const isAsking = mode.enum.map((each) => each === 'plan' || each === 'ask');
  const kept = <T>(list: readonly T[] | undefined) => list?.filter((_, index) => isAsking[index]);
  const [choices, enumLabels, enumDescriptions] = [kept(mode.enum), kept(mode.enumLabels), kept(mode.enumDescriptions)];
  const asking = {
    ...mode,
    ...{ default: 'ask', enum: choices ?? [] },
    ...(enumLabels && { enumLabels }),
    ...(enumDescriptions && { enumDescriptions }),
  };
  const isWide = !choices?.some((each) => each === values[MODE_PROPERTY]);
  return {
    schema: { ...schema, properties: { ...properties, [MODE_PROPERTY]: asking } },
    values: { ...values, ...(isWide && { [MODE_PROPERTY]: 'ask' }) },
  };
}

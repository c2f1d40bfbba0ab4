/** The values that every component may need, as React contexts. */
import type { Client } from '@atrium/client';
import { createContext, useContext } from 'react';
import { ACTIVITY_WORDS, type Activity } from '../model/sessions.js';
import { useStore } from '../model/store.js';
import type { HostLink } from './link.js';
import type { OpenSession } from './open-session.js';

interface HostContext {
  readonly link: HostLink;
  readonly client: Client;
}

const Host = createContext<HostContext | undefined>(undefined);
export const HostProvider = Host.Provider;

export function useHost(): HostContext {
  const host = useContext(Host);
  if (!host) throw new Error('useHost: there is no HostProvider above this component');
  return host;
}

/** Without a connection the page cannot know whether an agent still works. */
export function useIsReachable(): boolean {
  return useStore(useHost().link.status).at === 'open';
}

export function useActivityWord(activity: Activity): string {
  return useIsReachable() || activity !== 'working' ? ACTIVITY_WORDS[activity] : 'Host not reachable';
}

const Session = createContext<OpenSession | undefined>(undefined);
export const SessionProvider = Session.Provider;

/** For components that also appear outside a session. */
export function useSessionIfAny(): OpenSession | undefined {
  return useContext(Session);
}

export function useOpenSession(): OpenSession {
  const session = useContext(Session);
  if (!session) throw new Error('useOpenSession: there is no SessionProvider above this component');
  return session;
}

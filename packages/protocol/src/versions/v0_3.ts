/**
 * The tip: what 0.3.0 adds to 0.2.0, and nothing else. It may grow together with the living types until the next
 * version is cut; then it is frozen too.
 */
import type * as v0_2 from './v0_2.js';

export type SystemMessageSection = { id: string; label: string; description?: string; restricted?: boolean };
export type SystemMessageTransformOptIn = { sections: string[] };
export type SystemMessageSections = Record<string, { content: string }>;

export type AgentInfo = v0_2.AgentInfo & { systemMessageSections?: SystemMessageSection[] };
export type SessionActiveClient = v0_2.SessionActiveClient & { systemMessageTransform?: SystemMessageTransformOptIn };

/** The places where something new is seen; everything else is that of 0.2.0. */
export interface V0_3 {
  states: {
    root: Omit<v0_2.RootState, 'agents'> & { agents: AgentInfo[] };
    session: Omit<v0_2.SessionState, 'activeClient'> & { activeClient?: SessionActiveClient };
  };
  actions: {
    'root/agentsChanged': { type: 'root/agentsChanged'; agents: AgentInfo[] };
    'session/activeClientChanged': {
      type: 'session/activeClientChanged';
      activeClient?: SessionActiveClient | null;
    };
  };
  clientRequests: {
    createSession: {
      params: Omit<v0_2.CreateSessionParams, 'activeClient'> & { activeClient?: SessionActiveClient };
      result: null;
    };
  };
  hostRequests: {
    systemMessageTransform: {
      params: { channel: string; sections: SystemMessageSections };
      result: { sections: SystemMessageSections };
    };
  };
}

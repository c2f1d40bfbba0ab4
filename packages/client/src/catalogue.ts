/** The list of sessions: read once, then kept by the notifications that follow. */
import type {
  HostNotificationMethod,
  HostNotifications,
  SessionSummary,
  SessionSummaryChanges,
} from '@atrium/protocol';

export type Catalogue = ReadonlyMap<string, SessionSummary>;

/** A session was added, removed or changed. */
export type CatalogueEvent =
  | { readonly method: 'root/sessionAdded'; readonly params: HostNotifications['root/sessionAdded'] }
  | { readonly method: 'root/sessionRemoved'; readonly params: HostNotifications['root/sessionRemoved'] }
  | { readonly method: 'root/sessionSummaryChanged'; readonly params: HostNotifications['root/sessionSummaryChanged'] };

export function isCatalogueMethod(method: HostNotificationMethod): method is CatalogueEvent['method'] {
  return method.startsWith('root/');
}

export function catalogueOf(items: readonly SessionSummary[]): Catalogue {
  return new Map(items.map((summary) => [summary.resource, summary]));
}

/** The list after an event; the very same one when the event is about a session that is not in it. */
export function withEvent(catalogue: Catalogue, { method, params }: CatalogueEvent): Catalogue {
  switch (method) {
    case 'root/sessionAdded':
      return new Map(catalogue).set(params.summary.resource, params.summary);
    case 'root/sessionRemoved':
      return without(catalogue, params.session);
    case 'root/sessionSummaryChanged':
      return withChanges(catalogue, params.session, params.changes);
  }
}

function without(catalogue: Catalogue, session: string): Catalogue {
  if (!catalogue.has(session)) return catalogue;
  const rest = new Map(catalogue);
  rest.delete(session);
  return rest;
}

/** What a session is cannot change, only how it is: these members are ignored in a change. */
const IDENTITY: ReadonlySet<string> = new Set(['resource', 'provider', 'createdAt']);
/** Members that every summary has; `null` cannot take them away. */
const REQUIRED: ReadonlySet<string> = new Set(['title', 'status', 'modifiedAt']);

function withChanges(catalogue: Catalogue, session: string, changes: SessionSummaryChanges): Catalogue {
  const summary = catalogue.get(session);
  if (!summary) return catalogue;
  const members = new Map<string, unknown>(Object.entries(summary));
  for (const [key, value] of Object.entries(changes)) {
    if (IDENTITY.has(key)) continue;
    if (value !== null) members.set(key, value);
    else if (!REQUIRED.has(key)) members.delete(key);
  }
  return new Map(catalogue).set(session, Object.fromEntries(members) as SessionSummary);
}

/** Channel URIs: which kind of state each one names. */

/** The URI of the one root channel. */
export const ROOT_CHANNEL = 'ahp-root://';

export type ChannelKind = 'root' | 'session' | 'terminal' | 'changeset' | 'resourceWatch' | 'otlp';

const KIND_BY_SCHEME: ReadonlyMap<string, ChannelKind> = new Map([
  ['ahp-root', 'root'],
  ['ahp-session', 'session'],
  ['ahp-terminal', 'terminal'],
  ['ahp-changeset', 'changeset'],
  ['ahp-resource-watch', 'resourceWatch'],
  ['ahp-otlp', 'otlp'],
]);

/** The kind of a channel. Clients choose session URIs freely, so an unknown scheme is that of a session. */
export function channelKind(uri: string): ChannelKind {
  const scheme = uri.slice(0, Math.max(0, uri.indexOf(':')));
  return KIND_BY_SCHEME.get(scheme) ?? 'session';
}

/** The kind of channel whose reducer handles an action; the first part of every action type names it. */
export function actionKind(type: string): ChannelKind | undefined {
  const family = type.slice(0, Math.max(0, type.indexOf('/')));
  return ACTION_FAMILIES.has(family) ? (family as ChannelKind) : undefined;
}

const ACTION_FAMILIES: ReadonlySet<string> = new Set(['root', 'session', 'terminal', 'changeset', 'resourceWatch']);

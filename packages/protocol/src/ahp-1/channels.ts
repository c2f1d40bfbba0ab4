/** Channel URIs: which kind of state is behind one. */
import { ROOT_CHANNEL } from '../channels.js';

export { ROOT_CHANNEL };

/** The URI of the automation catalogue. An automation itself is a key in it, not a channel. */
export const AUTOMATIONS_CHANNEL = 'ahp-automations://';

export type ChannelKind =
  | 'root'
  | 'session'
  | 'chat'
  | 'terminal'
  | 'changeset'
  | 'annotations'
  | 'automation'
  | 'automationRun'
  | 'canvas'
  | 'resourceWatch'
  | 'otlp'
  | 'mcp';

const KIND_BY_SCHEME: ReadonlyMap<string, ChannelKind> = new Map([
  ['ahp-root', 'root'],
  ['ahp-session', 'session'],
  ['ahp-chat', 'chat'],
  ['ahp-terminal', 'terminal'],
  ['ahp-changeset', 'changeset'],
  ['ahp-automations', 'automation'],
  ['ahp-automation-run', 'automationRun'],
  ['ahp-canvas', 'canvas'],
  ['ahp-resource-watch', 'resourceWatch'],
  ['ahp-otlp', 'otlp'],
  ['mcp', 'mcp'],
]);

/** A session URI that names something, with one more segment. */
const ANNOTATIONS = /^[^:]+:\/*[^/].*\/annotations$/;

/** The kind of a channel. Clients choose session URIs freely, so an unknown scheme is that of a session. */
export function channelKind(uri: string): ChannelKind {
  const scheme = uri.slice(0, Math.max(0, uri.indexOf(':')));
  const kind = KIND_BY_SCHEME.get(scheme) ?? 'session';
  return kind === 'session' && ANNOTATIONS.test(uri) ? 'annotations' : kind;
}

/** The URI of the annotations channel of a session. */
export function annotationsChannel(session: string): string {
  return `${session}/annotations`;
}

const ACTION_FAMILIES: ReadonlySet<string> = new Set<ChannelKind>([
  'root',
  'session',
  'chat',
  'terminal',
  'changeset',
  'annotations',
  'automation',
  'automationRun',
  'canvas',
  'resourceWatch',
]);

/** The kind of channel whose reducer handles an action; the first part of every action type names it. */
export function actionKind(type: string): ChannelKind | undefined {
  const family = type.slice(0, Math.max(0, type.indexOf('/')));
  return ACTION_FAMILIES.has(family) ? (family as ChannelKind) : undefined;
}

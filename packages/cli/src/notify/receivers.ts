/** Receivers of notifications, as the host lists them, and in words for people. */
import {
  NOTIFICATION_EVENTS,
  type NotificationReceiver,
  type NotificationReceivers,
  type NotificationRule,
} from '@atrium/protocol/ahp-1';
import { printable } from '../text/printable.js';
import { table } from '../text/table.js';

/** Reads the host's answer; hosts of others have no receivers. */
export function readReceivers(answer: unknown): NotificationReceivers {
  const { items, publicKey, hasDesktop } = (answer ?? {}) as Partial<NotificationReceivers>;
  return {
    items: Array.isArray(items) ? items : [],
    publicKey: typeof publicKey === 'string' ? publicKey : '',
    hasDesktop: hasDesktop === true,
  };
}

const ID_CHARACTERS = 8;

export function shortReceiverId(id: string): string {
  return id.slice(0, ID_CHARACTERS);
}

/** Finds a receiver by the beginning of its id, or by its name. */
export function findReceiver(items: readonly NotificationReceiver[], wanted: string): NotificationReceiver {
  const found = items.filter(({ id, name }) => id.startsWith(wanted) || name === wanted);
  const [only, another] = found;
  if (only && !another) return only;
  throw new Error(
    only
      ? `"${printable(wanted)}" means ${found.length} receivers: give more of the id`
      : `there is no receiver "${printable(wanted)}": atrium notify list shows them`,
  );
}

export function receiverLines(items: readonly NotificationReceiver[], columns?: number): string[] {
  const rows = items.map(({ id, kind, name, rule, address, problem }) => [
    ...[shortReceiverId(id), kind, printable(name), ruleText(rule)],
    printable(problem === undefined ? (address ?? '') : `${address ?? ''} ${problem}`.trim()),
  ]);
  return table(rows, columns).split('\n');
}

export function ruleText({ events, sessions, quiet, detail }: NotificationRule): string {
  const what = events.length === NOTIFICATION_EVENTS.length ? 'everything' : events.join(',') || 'nothing';
  return [
    what,
    ...(sessions ? [`${sessions.length} sessions`] : []),
    ...(quiet ? [`quiet ${quiet.from}-${quiet.to} ${printable(quiet.timeZone)}`] : []),
    `says ${detail}`,
  ].join('; ');
}

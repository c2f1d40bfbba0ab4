/** The work of `atrium notify`. */
import type { Client } from '@atrium/client';
import {
  NOTIFICATION_DETAILS,
  NOTIFICATION_EVENTS,
  NOTIFICATIONS_METHOD,
  type NotificationDetail,
  type NotificationEvent,
  type NotificationRule,
  REMOVE_RECEIVER_METHOD,
  SET_RECEIVER_METHOD,
  type SetReceiverResult,
  TEST_RECEIVER_METHOD,
  type WebhookFormat,
} from '@atrium/protocol/ahp-1';
import { callExtension } from '../connect/with-client.js';
import { UsageError } from '../exit.js';
import { io, print, printJson } from '../io.js';
import { findSession, newestFirst } from '../sessions/find-session.js';
import { printable } from '../text/printable.js';
import { findReceiver, readReceivers, receiverLines, ruleText, shortReceiverId } from './receivers.js';

export interface RuleOptions {
  readonly events?: string;
  readonly detail?: string;
  readonly quiet?: string;
  readonly timeZone?: string;
  readonly session?: readonly string[];
}

export async function list(client: Client, { json = false }: { readonly json?: boolean }): Promise<void> {
  const receivers = readReceivers(await callExtension(client, NOTIFICATIONS_METHOD, {}));
  if (json) return printJson(receivers);
  if (receivers.items.length === 0)
    return print('Nobody is told yet. In the page: Settings, Notifications. Or: atrium notify webhook add <url>');
  for (const line of receiverLines(receivers.items, io().stdout.columns)) print(line);
}

export interface WebhookOptions extends RuleOptions {
  readonly name?: string;
  readonly format?: WebhookFormat;
  readonly json?: boolean;
}

export async function addWebhook(client: Client, url: string, options: WebhookOptions): Promise<void> {
  const { name, format, json } = options;
  const rule = await ruleFrom(client, options, { events: NOTIFICATION_EVENTS, detail: 'title' });
  const params = { kind: 'webhook', url, rule, ...(name !== undefined && { name }), ...(format && { format }) };
  const result = (await callExtension(client, SET_RECEIVER_METHOD, params)) as SetReceiverResult;
  if (json) return printJson(result);
  const { receiver, secret } = result;
  print(`Added ${shortReceiverId(receiver.id)}: ${ruleText(receiver.rule)}`);
  if (secret !== undefined && receiver.format === 'json')
    print(`Its secret, which is not shown again: ${secret}\nMessages are signed with it; see docs/notifications.md`);
}

export async function setDesktop(client: Client, isOn: boolean): Promise<void> {
  const { items } = readReceivers(await callExtension(client, NOTIFICATIONS_METHOD, {}));
  const found = items.find(({ kind }) => kind === 'desktop');
  if (isOn && !found) await callExtension(client, SET_RECEIVER_METHOD, { kind: 'desktop' });
  if (!isOn && found) await callExtension(client, REMOVE_RECEIVER_METHOD, { id: found.id });
  print(isOn ? 'The desktop of the host shows notifications.' : 'The desktop of the host shows none.');
}

export async function change(client: Client, wanted: string, options: RuleOptions & { name?: string }): Promise<void> {
  const found = await receiverOf(client, wanted);
  const rule = await ruleFrom(client, options, found.rule);
  const { name } = options;
  const params = { id: found.id, rule, ...(name !== undefined && { name }) };
  const { receiver } = (await callExtension(client, SET_RECEIVER_METHOD, params)) as SetReceiverResult;
  print(`${shortReceiverId(receiver.id)}  ${printable(receiver.name)}: ${ruleText(receiver.rule)}`);
}

export async function remove(client: Client, wanted: string): Promise<void> {
  const { id, name } = await receiverOf(client, wanted);
  await callExtension(client, REMOVE_RECEIVER_METHOD, { id });
  print(`Removed ${shortReceiverId(id)}, ${printable(name)}.`);
}

export async function test(client: Client, wanted: string): Promise<void> {
  const { id, name } = await receiverOf(client, wanted);
  const answer = await callExtension(client, TEST_RECEIVER_METHOD, { id });
  const { ok, problem = '' } = answer as { readonly ok: boolean; readonly problem?: string };
  if (!ok) throw new Error(`${printable(name)} was not told: ${printable(problem)}`);
  print(`${printable(name)} was told.`);
}

async function receiverOf(client: Client, wanted: string) {
  return findReceiver(readReceivers(await callExtension(client, NOTIFICATIONS_METHOD, {})).items, wanted);
}

async function ruleFrom(client: Client, options: RuleOptions, before: NotificationRule): Promise<NotificationRule> {
  const { events, detail, quiet, session } = options;
  const { quiet: oldQuiet, sessions: oldSessions, ...rest } = before;
  const hours = quiet === undefined ? oldQuiet : quietIn(quiet, options.timeZone);
  const sessions = session === undefined ? oldSessions : await sessionsNamed(client, session);
  return {
    ...rest,
    ...(events !== undefined && { events: eventsIn(events) }),
    ...(detail !== undefined && { detail: detailIn(detail) }),
    ...(hours && { quiet: hours }),
    ...(sessions && { sessions }),
  };
}

async function sessionsNamed(client: Client, names: readonly string[]): Promise<readonly string[] | undefined> {
  if (names.includes('all')) return undefined;
  const items = newestFirst(await client.listSessions());
  return names.map((name) => findSession(items, name).resource);
}

function eventsIn(text: string): readonly NotificationEvent[] {
  const words = text === 'all' ? NOTIFICATION_EVENTS : text.split(',').filter((word) => word !== '');
  return words.map((word) => {
    const known = NOTIFICATION_EVENTS.find((each) => each === word);
    if (!known) throw new UsageError(`--events: "${word}" is none of ${NOTIFICATION_EVENTS.join(', ')}.`);
    return known;
  });
}

function detailIn(text: string): NotificationDetail {
  const known = NOTIFICATION_DETAILS.find((each) => each === text);
  if (!known) throw new UsageError(`--detail: "${text}" is none of ${NOTIFICATION_DETAILS.join(', ')}.`);
  return known;
}

/** `22:00-07:00`, or `off`. */
function quietIn(text: string, timeZone = new Intl.DateTimeFormat().resolvedOptions().timeZone) {
  if (text === 'off') return undefined;
  const [, from, to] = /^(\d\d:\d\d)-(\d\d:\d\d)$/.exec(text) ?? [];
  if (from === undefined || to === undefined)
    throw new UsageError(`--quiet: "${text}" are no hours. Write 22:00-07:00, or off.`);
  return { from, to, timeZone };
}

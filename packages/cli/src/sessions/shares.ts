/** Shares of sessions: makes them, lists them, ends them. */
import type { Client } from '@atrium/client';
import {
  END_SHARE_METHOD,
  isLeftOut,
  LEFT_OUT,
  LEFT_OUT_WORDS,
  type LeftOut,
  type MadeShare,
  SHARE_MAX_MS,
  SHARE_METHOD,
  SHARES_METHOD,
  type Share,
  type ShareList,
  shareLink,
} from '@atrium/protocol/ahp-1';
import { callExtension } from '../connect/with-client.js';
import { UsageError } from '../exit.js';
import { printable } from '../text/printable.js';
import { shortId } from './find-session.js';

const UNITS_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A length such as 90m, 12h or 7d, in milliseconds. */
export function lengthOf(text: string): number {
  const [, number = '', unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const length = Number(number) * (UNITS_MS[unit] ?? 0);
  if (!length) throw new UsageError(`${text} is no length of time: write 90m, 12h or 7d`);
  if (length > SHARE_MAX_MS) throw new UsageError('a share lasts 30 days at most');
  return length;
}

export function leftOutIn(texts: readonly string[]): readonly LeftOut[] {
  const all = texts.flatMap((text) => text.split(',')).filter((text) => text !== '');
  const wrong = all.find((text) => !isLeftOut(text));
  if (wrong !== undefined) throw new UsageError(`${wrong} cannot be left out: name some of ${LEFT_OUT.join(', ')}`);
  return all.filter(isLeftOut);
}

export interface ShareWish {
  readonly name?: string | undefined;
  readonly lengthMs?: number | undefined;
  readonly leftOut: readonly LeftOut[];
}

export async function makeShare(
  client: Client,
  session: string,
  { name, lengthMs, leftOut }: ShareWish,
): Promise<MadeShare> {
  const until = lengthMs === undefined ? {} : { until: new Date(Date.now() + lengthMs).toISOString() };
  const params = { session, leftOut, ...until, ...(name !== undefined && { name }) };
  return (await callExtension(client, SHARE_METHOD, params)) as MadeShare;
}

export async function listShares(client: Client, session?: string): Promise<readonly Share[]> {
  const { items } = (await callExtension(client, SHARES_METHOD, session === undefined ? {} : { session })) as ShareList;
  return items;
}

export async function endShare(client: Client, id: string): Promise<void> {
  await callExtension(client, END_SHARE_METHOD, { id });
}

/** Finds a share by its id, or by the beginning of its id after the first dash. */
export function findShare(items: readonly Share[], reference: string): Share {
  const fitting = items.filter(({ id }) => id === reference || id.slice(id.indexOf('-') + 1).startsWith(reference));
  const [only, another] = fitting;
  if (!only) throw new UsageError(`there is no share ${reference}: atrium share list shows them`);
  if (another) throw new UsageError(`${reference} fits several shares: write more of the id`);
  return only;
}

/** The link of a new share, and what the share shows. The command prints the link only once. */
export function madeLines({ addresses, token, expiresAt, leftOut }: MadeShare): string[] {
  const links = addresses.length === 0 ? [`#share=${token}`] : addresses.map((address) => shareLink(address, token));
  return [
    ...links,
    `Whoever has the link can read this session until ${new Date(expiresAt).toLocaleString()}. It is not shown again.`,
    leftOut.length === 0
      ? 'Nothing is left out.'
      : `Left out: ${leftOut.map((each) => LEFT_OUT_WORDS[each]).join('; ')}.`,
  ];
}

export function shareRow({ id, name, session, expiresAt, viewers, leftOut }: Share): string[] {
  const [, short = id] = /^[a-z]+-(.{6})/.exec(id) ?? [];
  const reading = viewers === 1 ? '1 reads it' : `${viewers} read it`;
  const without = leftOut.length === 0 ? '' : `without ${leftOut.join(', ')}`;
  return [short, printable(name), shortId(session), `until ${new Date(expiresAt).toLocaleString()}`, reading, without];
}

/** Devices of a host as text for a terminal: the list, and the code that lets one in. */
import type { Client } from '@atrium/client';
import {
  ADD_DEVICE_METHOD,
  type AddDeviceParams,
  DEVICES_METHOD,
  type Device,
  type DeviceInvitation,
  type DeviceList,
  deviceLink,
  readDevices,
  readInvitation,
  shownFingerprint,
} from '@atrium/protocol/ahp-1';
import { callExtension } from './connect/with-client.js';
import { UsageError } from './exit.js';
import { printable } from './text/printable.js';
import { qrCode } from './text/qr-code.js';

export async function listDevices(client: Client): Promise<DeviceList> {
  return readDevices(await callExtension(client, DEVICES_METHOD));
}

export async function inviteDevice(client: Client, params: AddDeviceParams): Promise<DeviceInvitation> {
  const invitation = readInvitation(await callExtension(client, ADD_DEVICE_METHOD, params));
  if (!invitation) throw new Error('the host answered something else than a code: is it newer than this command?');
  return invitation;
}

/** Finds the device that a person names: by its id, the beginning of its id, or its name. */
export function findDevice(items: readonly Device[], text: string): Device {
  const wanted = text.toLowerCase();
  const exact = items.filter(({ id, name }) => id === text || name.toLowerCase() === wanted);
  const found = exact.length > 0 ? exact : items.filter(({ id }) => id.replace(/^device-/, '').startsWith(text));
  const [only, another] = found;
  if (only && !another) return only;
  const what = another ? 'fits several devices: give the id' : 'is no device of this host';
  throw new UsageError(`"${text}" ${what}; atrium devices list shows them`);
}

export function deviceLines({ items, self }: DeviceList): string[] {
  return items.map((device) => {
    const { id, name, role, connections } = device;
    const here = [...(id === self ? ['this device'] : []), ...(connections > 0 ? ['connected'] : [])];
    const within = boundsOf(device);
    const only = within.length > 0 ? [`only ${within.join(', ')}`] : [];
    return [printable(name), role, ...only, useText(device), ...here, id].join(' · ');
  });
}

/** What a device may do now, in a sentence. */
export function accessText({ name, role, bounds, expiresAt }: Device): string {
  const places = boundsOf({ bounds });
  const where = places.length > 0 ? `only ${places.join(', ')}` : 'everywhere';
  const end = expiresAt === undefined ? 'without an end' : `until ${time(expiresAt)}`;
  return `${printable(name)} is ${/^[ao]/.test(role) ? 'an' : 'a'} ${role} now: ${where}, ${end}.`;
}

function boundsOf({ bounds }: Pick<Device, 'bounds'>): string[] {
  return [...(bounds?.folders ?? []), ...(bounds?.sessions ?? [])].map((place) => printable(place));
}

const time = (iso: string) => iso.slice(0, 16).replace('T', ' ');

function useText({ lastUsed, createdAt, expiresAt }: Device): string {
  const end = expiresAt === undefined ? '' : `, until ${time(expiresAt)}`;
  if (!lastUsed) return `let in ${time(createdAt)}, not here yet${end}`;
  const agent = lastUsed.userAgent === undefined ? '' : ` with ${printable(lastUsed.userAgent).slice(0, 40)}`;
  return `last here ${time(lastUsed.at)} from ${printable(lastUsed.address)}${agent}${end}`;
}

/** The text that lets a device in. The first address is the one that other machines can use. */
export async function invitationText(invitation: DeviceInvitation): Promise<string> {
  const { addresses, code, shortCode, fingerprint, role, expiresAt } = invitation;
  const links = addresses.map((address) => deviceLink({ address, code, fingerprint }));
  const [link = ''] = links;
  return [
    ...(link === '' ? [] : [await qrCode(link), '']),
    `Scan it, or open this on the device that is to be a ${role}:`,
    ...links.map((each) => `  ${each}`),
    ...(shortCode === undefined ? [] : [`Or type these digits where its page asks for a token: ${shortCode}`]),
    `Key of this host: ${shownFingerprint(fingerprint)}`,
    `The code counts once, until ${new Date(expiresAt).toLocaleTimeString()}.`,
  ].join('\n');
}

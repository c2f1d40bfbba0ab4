/**
 * Devices: methods of our own beside the protocol, what is said by them, and the link that lets a device in. A device is a
 * browser, a phone or a program that a person let in and can send away alone.
 */
import { type Bounds, isRole, type Role } from '../access.js';

/** Lists the devices. A client that asked is told with `DEVICES_CHANGED_METHOD` whenever the list is another one. */
export const DEVICES_METHOD = 'atrium/devices';
/** Makes a code with which one device comes in. */
export const ADD_DEVICE_METHOD = 'atrium/addDevice';
/** Takes a code back that was not used yet. */
export const CANCEL_DEVICE_METHOD = 'atrium/cancelDevice';
/** Changes the name of a device, or what it may do; its connections end, and come back with that. */
export const CHANGE_DEVICE_METHOD = 'atrium/changeDevice';
export const REMOVE_DEVICE_METHOD = 'atrium/removeDevice';
/** Replaces the connection token of the data folder. */
export const ROTATE_TOKEN_METHOD = 'atrium/rotateToken';
/** Lets another credential use a client id. */
export const RELEASE_CLIENT_METHOD = 'atrium/releaseClient';
/** The host tells the owners who asked for the list that it has changed. */
export const DEVICES_CHANGED_METHOD = 'atrium/devicesChanged';

/** Where a page or a program takes a code to, and where it asks for the key of the host before it does. */
export const REDEEM_PATH = '/devices/redeem';
export const HOST_KEY_PATH = '/devices/host-key';
/** Where the page changes a token for its cookie, and gives the cookie back. */
export const COOKIE_PATH = '/devices/cookie';

/** A program that cannot set headers offers `atrium` and this with its token behind it as WebSocket subprotocols. */
export const TOKEN_SUBPROTOCOL = 'atrium.token.';

/** Before the nonce in what the host signs with its key. */
export const HOST_KEY_CONTEXT = 'atrium host key 1\n';

export interface DeviceUse {
  /** ISO 8601, exact to some minutes. */
  readonly at: string;
  readonly address: string;
  readonly userAgent?: string;
}

export interface Device {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly bounds?: Bounds;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly expiresAt?: string;
  readonly lastUsed?: DeviceUse;
  /** How many connections it has now. */
  readonly connections: number;
}

/** The answer to `atrium/devices`. */
export interface DeviceList {
  readonly items: readonly Device[];
  /** The device that asks; absent when it came with the connection token. */
  readonly self?: string;
}

export interface AddDeviceParams {
  /** `driver`, if left out, or what the caller has where that is less. */
  readonly role?: Role;
  readonly name?: string;
  readonly bounds?: Bounds;
  /** ISO 8601: when the access of the device ends. */
  readonly until?: string;
}

/** What is left out stays as it is. */
export interface ChangeDeviceParams {
  readonly id: string;
  readonly name?: string;
  readonly role?: Role;
  /** Null takes all bounds away; a member that is null is taken away alone. Without any, nothing is bounded. */
  readonly bounds?: { readonly [Member in keyof Bounds]?: readonly string[] | null } | null;
  /** ISO 8601: when the access of the device ends; null: never. */
  readonly until?: string | null;
}

/** The answer to `atrium/addDevice`. */
export interface DeviceInvitation {
  readonly id: string;
  readonly code: string;
  /** Eight digits for typing; only where nobody on the way can read them. */
  readonly shortCode?: string;
  readonly expiresAt: string;
  readonly role: Role;
  /** Of the key of the host. */
  readonly fingerprint: string;
  /** Where the host can be reached, as `https://name:port`; those that other machines can use come first. */
  readonly addresses: readonly string[];
}

/** What a redeemed code gives to a program; a page gets a cookie instead of the token. */
export interface RedeemedDevice {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly token?: string;
}

/** What `HOST_KEY_PATH` answers. */
export interface HostKeyAnswer {
  readonly fingerprint: string;
  /** The raw Ed25519 key, base64url. */
  readonly publicKey: string;
  /** Over `HOST_KEY_CONTEXT` and the nonce of the request, base64url; absent without a nonce. */
  readonly signature?: string;
}

export interface DeviceLink {
  /** `https://name:port`. */
  readonly address: string;
  readonly code: string;
  readonly fingerprint: string;
}

const CODE = /^[\w-]{22}$/;
const SHORT_CODE = /^\d{8}$/;
const FINGERPRINT = /^[\da-f]{32}$/;

/** The code stands in the fragment, which no browser sends and no server logs. */
export function deviceLink({ address, code, fingerprint }: DeviceLink): string {
  return `${address.replace(/\/+$/, '')}/#add=${code}&key=${fingerprint}`;
}

/** Reads a link; undefined when it is none that lets a device in. */
export function readDeviceLink(text: string): DeviceLink | undefined {
  const [, address, hash = ''] = /^(https?:\/\/[^\s/?#@]+)\/?(#\S*)$/i.exec(text.trim()) ?? [];
  const read = readDeviceFragment(hash);
  return address === undefined ? undefined : read && { address, ...read };
}

/** The same from the fragment alone, with or without its `#`. */
export function readDeviceFragment(hash: string): Pick<DeviceLink, 'code' | 'fingerprint'> | undefined {
  const members = new Map(
    hash
      .replace(/^#/, '')
      .split('&')
      .map((pair) => [pair.slice(0, 4), pair.slice(4)]),
  );
  const code = members.get('add=') ?? '';
  const fingerprint = members.get('key=') ?? '';
  return CODE.test(code) && FINGERPRINT.test(fingerprint) ? { code, fingerprint } : undefined;
}

export function isShortCode(text: string): boolean {
  return SHORT_CODE.test(text);
}

/** In groups of four, so that people can compare it. */
export function shownFingerprint(fingerprint: string): string {
  return fingerprint.replaceAll(/(.{4})(?=.)/g, '$1 ');
}

/** The list as it arrived from outside; entries that are none are left out. */
export function readDevices(value: unknown): DeviceList {
  const { items, self } = (value ?? {}) as { readonly items?: unknown; readonly self?: unknown };
  const devices = Array.isArray(items) ? items.filter(isDevice) : [];
  return { items: devices, ...(typeof self === 'string' && { self }) };
}

function isDevice(value: unknown): value is Device {
  if (typeof value !== 'object' || value === null) return false;
  const { id, name, role, createdAt, connections } = value as Record<keyof Device, unknown>;
  return (
    [id, name, createdAt].every((text) => typeof text === 'string') && isRole(role) && Number.isFinite(connections)
  );
}

/** Undefined when the host said something else. */
export function readInvitation(value: unknown): DeviceInvitation | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { id, code, expiresAt, role, fingerprint, addresses, shortCode } = value as Record<
    keyof DeviceInvitation,
    unknown
  >;
  const areTexts = [id, code, expiresAt, fingerprint].every((text) => typeof text === 'string');
  const areAddresses = Array.isArray(addresses) && addresses.every((each) => typeof each === 'string');
  const isCode = shortCode === undefined || typeof shortCode === 'string';
  return areTexts && areAddresses && isCode && isRole(role) ? (value as DeviceInvitation) : undefined;
}

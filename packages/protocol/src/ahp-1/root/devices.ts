/**
 * Devices: methods of our own beside the protocol, their messages, and the link that lets a device in. A device is a
 * browser, a phone or a program that a person let in and can remove individually.
 */
import { type Bounds, isRole, type Role } from '../access.js';

/** Lists the devices. A client that asked gets `DEVICES_CHANGED_METHOD` whenever the list changes. */
export const DEVICES_METHOD = 'atrium/devices';
/** Makes a code with which one device can connect. */
export const ADD_DEVICE_METHOD = 'atrium/addDevice';
/** Cancels a code that was not used yet. */
export const CANCEL_DEVICE_METHOD = 'atrium/cancelDevice';
/** Changes the name of a device, or what it may do; its connections end, and come back with the change. */
export const CHANGE_DEVICE_METHOD = 'atrium/changeDevice';
export const REMOVE_DEVICE_METHOD = 'atrium/removeDevice';
/** Replaces the connection token of the data folder. */
export const ROTATE_TOKEN_METHOD = 'atrium/rotateToken';
/** Lets another credential use a client id. */
export const RELEASE_CLIENT_METHOD = 'atrium/releaseClient';
/** Tells owners who asked for the list that it has changed. */
export const DEVICES_CHANGED_METHOD = 'atrium/devicesChanged';

/** Where a page or a program redeems a code, and where it first asks for the host's key. */
export const REDEEM_PATH = '/devices/redeem';
export const HOST_KEY_PATH = '/devices/host-key';
/** Where the page exchanges a token for its cookie, and gives the cookie back. */
export const COOKIE_PATH = '/devices/cookie';

/** A program that cannot set headers offers two WebSocket subprotocols: `atrium`, and this prefix with its token. */
export const TOKEN_SUBPROTOCOL = 'atrium.token.';

/** Precedes the nonce in what the host signs with its key. */
export const HOST_KEY_CONTEXT = 'atrium host key 1\n';

export interface DeviceUse {
  /** ISO 8601, accurate to some minutes. */
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
  /** The number of its open connections. */
  readonly connections: number;
}

/** The answer to `atrium/devices`. */
export interface DeviceList {
  readonly items: readonly Device[];
  /** The device that asks; absent when it used the connection token. */
  readonly self?: string;
}

export interface AddDeviceParams {
  /** Default: `driver`, or the caller's role if that is less. */
  readonly role?: Role;
  readonly name?: string;
  readonly bounds?: Bounds;
  /** ISO 8601: when the device's access ends. */
  readonly until?: string;
}

/** Members that are left out do not change. */
export interface ChangeDeviceParams {
  readonly id: string;
  readonly name?: string;
  readonly role?: Role;
  /** Null removes all bounds; a null member removes only that one. Without any bounds, nothing is limited. */
  readonly bounds?: { readonly [Member in keyof Bounds]?: readonly string[] | null } | null;
  /** ISO 8601: when the device's access ends; null: never. */
  readonly until?: string | null;
}

/** The answer to `atrium/addDevice`. */
export interface DeviceInvitation {
  readonly id: string;
  readonly code: string;
  /** Eight digits for typing; only where nobody can read them in transit. */
  readonly shortCode?: string;
  readonly expiresAt: string;
  readonly role: Role;
  /** The fingerprint of the host's key. */
  readonly fingerprint: string;
  /** Where the host can be reached, as `https://name:port`; addresses that other machines can use come first. */
  readonly addresses: readonly string[];
}

/** What a program gets for a code; a page gets a cookie instead of the token. */
export interface RedeemedDevice {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly token?: string;
}

/** The answer at `HOST_KEY_PATH`. */
export interface HostKeyAnswer {
  readonly fingerprint: string;
  /** The raw Ed25519 key, base64url. */
  readonly publicKey: string;
  /** The signature of `HOST_KEY_CONTEXT` and the request's nonce, base64url; absent without a nonce. */
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

/** A link that lets a device in. The code is in the fragment, which no browser sends and no server logs. */
export function deviceLink({ address, code, fingerprint }: DeviceLink): string {
  return `${address.replace(/\/+$/, '')}/#add=${code}&key=${fingerprint}`;
}

/** Reads a link; undefined when it is not a device link. */
export function readDeviceLink(text: string): DeviceLink | undefined {
  const [, address, hash = ''] = /^(https?:\/\/[^\s/?#@]+)\/?(#\S*)$/i.exec(text.trim()) ?? [];
  const read = readDeviceFragment(hash);
  return address === undefined ? undefined : read && { address, ...read };
}

/** The same from only the fragment, with or without its `#`. */
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

/** Reads a list that came from outside; invalid entries are left out. */
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

/** Reads an invitation; undefined when the host's answer is something else. */
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

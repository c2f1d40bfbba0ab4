/**
 * Shares: methods of our own beside the protocol, and the link of a share. A share shows one session, for reading, to
 * anyone with its link, until it ends or is revoked. It leaves out what its maker chose.
 */
import { LEFT_OUT, type LeftOut } from '../access.js';

/** Makes a share of a session. Only the answer contains its token. */
export const SHARE_METHOD = 'atrium/shareSession';
/** Lists all shares, or those of one session. */
export const SHARES_METHOD = 'atrium/shares';
/** Ends a share, and disconnects its viewers. */
export const END_SHARE_METHOD = 'atrium/endShare';

const HOUR_MS = 60 * 60_000;
/** How long a share lasts by default, and at most. */
export const SHARE_DEFAULT_MS = 24 * HOUR_MS;
export const SHARE_MAX_MS = 30 * 24 * HOUR_MS;

export interface ShareParams {
  readonly session: string;
  /** The name in the list of shares. Default: the title of the session. */
  readonly name?: string;
  /** ISO 8601: when it ends. */
  readonly until?: string;
  readonly leftOut?: readonly LeftOut[];
}

export interface Share {
  readonly id: string;
  readonly name: string;
  readonly session: string;
  /** What is left out, including what that implies: without file contents, tool input and output are left out, too. */
  readonly leftOut: readonly LeftOut[];
  /** ISO 8601. */
  readonly createdAt: string;
  readonly expiresAt: string;
  /** How many viewers it has now. */
  readonly viewers: number;
}

export interface MadeShare extends Share {
  readonly token: string;
  /** Where the host can be reached, as `https://name:port`; addresses that other machines can use come first. */
  readonly addresses: readonly string[];
}

export interface ShareList {
  readonly items: readonly Share[];
}

/** The meaning of each choice, for people. */
export const LEFT_OUT_WORDS: Readonly<Record<LeftOut, string>> = {
  toolInput: 'what tools are given: commands, arguments',
  toolOutput: 'what tools answer: output, errors',
  fileContents: 'contents of files, with input and output of tools and all changes',
  reasoning: 'what the model thinks',
  attachments: 'pictures and files of messages',
  folders: 'names of folders',
};

/** Adds what is implied: file contents also appear in the input and output of tools. */
export function withImplied(leftOut: readonly LeftOut[]): readonly LeftOut[] {
  const all = new Set<LeftOut>(leftOut.includes('fileContents') ? [...leftOut, 'toolInput', 'toolOutput'] : leftOut);
  return LEFT_OUT.filter((each) => all.has(each));
}

export function isLeftOut(value: unknown): value is LeftOut {
  return LEFT_OUT.some((each) => each === value);
}

const TOKEN = /^[\w-]{43}$/;

/** The link of a share. The token is in the fragment, which no browser sends and no server logs. */
export function shareLink(address: string, token: string): string {
  return `${address.replace(/\/+$/, '')}/#share=${token}`;
}

/** The token in the fragment of a share's link; undefined when it is not one. */
export function shareTokenIn(hash: string): string | undefined {
  const [, token = ''] = /^#share=([^&]*)$/.exec(hash) ?? [];
  return TOKEN.test(token) ? token : undefined;
}

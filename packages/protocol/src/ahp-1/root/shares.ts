/**
 * Shares: methods of our own beside the protocol, and the link of a share. A share shows one session to whoever has its link,
 * for reading, until it ends or is taken back, without what its maker left out.
 */
import { LEFT_OUT, type LeftOut } from '../access.js';

/** Makes a share of a session. The answer is the only place where its token ever stands. */
export const SHARE_METHOD = 'atrium/shareSession';
/** Lists the shares, all or those of one session. */
export const SHARES_METHOD = 'atrium/shares';
/** Ends a share: whoever reads it now is cut off. */
export const END_SHARE_METHOD = 'atrium/endShare';

const HOUR_MS = 60 * 60_000;
/** How long a share lasts unless its maker says otherwise, and at most. */
export const SHARE_DEFAULT_MS = 24 * HOUR_MS;
export const SHARE_MAX_MS = 30 * 24 * HOUR_MS;

export interface ShareParams {
  readonly session: string;
  /** For the list of shares; the title of the session, if left out. */
  readonly name?: string;
  /** ISO 8601: when it ends. */
  readonly until?: string;
  readonly leftOut?: readonly LeftOut[];
}

export interface Share {
  readonly id: string;
  readonly name: string;
  readonly session: string;
  /** With what goes along: who leaves out file contents leaves out the input and the output of tools, too. */
  readonly leftOut: readonly LeftOut[];
  /** ISO 8601. */
  readonly createdAt: string;
  readonly expiresAt: string;
  /** How many read it now. */
  readonly viewers: number;
}

export interface MadeShare extends Share {
  readonly token: string;
  /** Where the host can be reached, as `https://name:port`; those that other machines can use come first. */
  readonly addresses: readonly string[];
}

export interface ShareList {
  readonly items: readonly Share[];
}

/** What each means, for people. */
export const LEFT_OUT_WORDS: Readonly<Record<LeftOut, string>> = {
  toolInput: 'what tools are given: commands, arguments',
  toolOutput: 'what tools answer: output, errors',
  fileContents: 'contents of files, with input and output of tools and all changes',
  reasoning: 'what the model thinks',
  attachments: 'pictures and files of messages',
  folders: 'names of folders',
};

/** File contents stand in the input and the output of tools, so that these go with them. */
export function withImplied(leftOut: readonly LeftOut[]): readonly LeftOut[] {
  const all = new Set<LeftOut>(leftOut.includes('fileContents') ? [...leftOut, 'toolInput', 'toolOutput'] : leftOut);
  return LEFT_OUT.filter((each) => all.has(each));
}

export function isLeftOut(value: unknown): value is LeftOut {
  return LEFT_OUT.some((each) => each === value);
}

const TOKEN = /^[\w-]{43}$/;

/** The token stands in the fragment, which no browser sends and no server logs. */
export function shareLink(address: string, token: string): string {
  return `${address.replace(/\/+$/, '')}/#share=${token}`;
}

/** The token in the fragment of a link of a share; undefined when it is none. */
export function shareTokenIn(hash: string): string | undefined {
  const [, token = ''] = /^#share=([^&]*)$/.exec(hash) ?? [];
  return TOKEN.test(token) ? token : undefined;
}

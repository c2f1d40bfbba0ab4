/** The entries of a folder of the host, in the order that people expect: folders first, 2 before 10. */
import type { Client } from '@atrium/client';
import { type DirectoryEntry, ErrorCode } from '@atrium/protocol/ahp-1';
import { codeOf, problemText } from '../host/problem.js';
import { pathOf } from '../model/format.js';

export interface Entry {
  readonly uri: string;
  readonly name: string;
  readonly isFolder: boolean;
}

const order = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

export async function entriesOf(client: Client, folder: string): Promise<readonly Entry[]> {
  const { entries } = await client.request('resourceList', { uri: folder });
  return sorted(entries).map(({ name, type }) => ({
    uri: childUri(folder, name),
    name,
    isFolder: type === 'directory',
  }));
}

export function sorted(entries: readonly DirectoryEntry[]): DirectoryEntry[] {
  const rank = ({ type }: DirectoryEntry) => (type === 'directory' ? 0 : 1);
  return [...entries].sort((a, b) => rank(a) - rank(b) || order.compare(a.name, b.name));
}

function childUri(folder: string, name: string): string {
  return `${folder.replace(/\/$/, '')}/${encodeURIComponent(name)}`;
}

/** Undefined for the root of the file system. */
export function parentUri(folder: string): string | undefined {
  const bare = folder.replace(/\/$/, '');
  const cut = bare.lastIndexOf('/');
  if (!bare.startsWith('file:///') || cut < 'file://'.length) return undefined;
  return cut === 'file://'.length ? 'file:///' : bare.slice(0, cut);
}

/** The folders on the way to this one, from the root on. */
export function stepsTo(folder: string): readonly { readonly uri: string; readonly name: string }[] {
  const names = pathOf(folder).split(/[\\/]/).filter(Boolean);
  const steps = [{ uri: 'file:///', name: '/' }];
  let uri = 'file:///';
  for (const name of names) {
    // The letter of a drive keeps its colon.
    uri = /^[a-z]:$/i.test(name) ? `${uri}${name}` : childUri(uri, name);
    steps.push({ uri, name });
  }
  return steps;
}

/** Whether the host lets the client ask for access. */
export function isAskable(error: unknown): boolean {
  const { data } = error as { data?: { request?: unknown } };
  return codeOf(error) === ErrorCode.PermissionDenied && typeof data?.request === 'object';
}

/** Says why the page cannot show a folder or a file, and what to do. */
export function accessProblem(error: unknown, what: 'folder' | 'file'): string {
  switch (codeOf(error)) {
    case ErrorCode.PermissionDenied:
      return `The host does not show this ${what} here: it lies outside of what pages may see.`;
    case ErrorCode.NotFound:
      return `This ${what} is not there (any more).`;
    case ErrorCode.MethodNotFound:
      return 'This host does not show its files.';
    default:
      return problemText(error);
  }
}

/** Which session a URI belongs to, judged by its name alone, and how texts name the folders of a session. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { namedInput } from '@atrium/core/tool-calls/input-references.js';
import { pathOfUri } from '@atrium/core/util/folders.js';
import { channelKind, type SessionSummary } from '@atrium/protocol/ahp-1';
import { CONTENT_SCHEME, parseViewUri, sessionOf } from './workspace/changes/uri.js';

export interface NamedSession {
  readonly session?: string | undefined;
  /** The chat that the URI belongs to; the session is that of the chat. */
  readonly chat?: string | undefined;
}

/** The session or the chat of a channel or a content; empty for other URIs. */
export function namedIn(uri: string): NamedSession {
  const kind = channelKind(uri);
  if (kind === 'chat') return { chat: uri };
  if (kind === 'changeset') return { session: parseViewUri(uri)?.session };
  if (kind === 'annotations') return { session: uri.slice(0, -'/annotations'.length) };
  if (uri.startsWith(`${CONTENT_SCHEME}/`)) {
    const [key = ''] = uri.slice(CONTENT_SCHEME.length + 1).split('/');
    return { session: sessionOf(key) };
  }
  return { chat: namedInput(uri)?.chat };
}

/** A path with this many segments reveals its owner: `/home` does not, `/home/ada` does. */
const TELLING_SEGMENTS = 2;

/** The folders of a session and all folders above them, as paths and as URIs. */
export function namesOfFolders(summary: Pick<SessionSummary, 'workingDirectories' | 'project'> | undefined): string[] {
  const uris = [...(summary?.workingDirectories ?? []), ...(summary?.project ? [summary.project.uri] : [])];
  const folders = uris.flatMap((uri) => pathOfUri(uri) ?? []);
  const all = folders.flatMap(upwards);
  return [...new Set([...all.map((folder) => pathToFileURL(folder).href), ...all])];
}

function upwards(folder: string): string[] {
  const above = path.dirname(folder);
  const isTelling = folder.split(path.sep).filter((name) => name !== '').length >= TELLING_SEGMENTS;
  return isTelling && above !== folder ? [folder, ...upwards(above)] : [];
}

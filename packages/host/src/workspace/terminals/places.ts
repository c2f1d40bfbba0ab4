/** Where a terminal begins: the folder that was asked for, the session's, or the host's. */
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type CreateTerminalParams, ErrorCode } from '@atrium/protocol';
import type { HostCore } from '../../core/contracts/host-core.js';
import { RequestError } from '../../core/contracts/request-error.js';
import { folderOf } from '../../core/sessions/session-agent.js';

export async function startFolder(core: HostCore, { cwd, claim }: CreateTerminalParams): Promise<string> {
  if (cwd !== undefined) return checked(pathOf(cwd), `/cwd: ${cwd}`);
  const session = claim.kind === 'session' ? await core.sessions.open(claim.session) : undefined;
  const folder = session && folderOf(session.state);
  if (folder !== undefined) return checked(folder, `the session's folder ${folder}`);
  return checked(core.defaultDirectory === undefined ? homedir() : pathOf(core.defaultDirectory), "the host's folder");
}

function pathOf(uri: string): string {
  try {
    return fileURLToPath(uri);
  } catch {
    throw new RequestError(ErrorCode.InvalidParams, `/cwd: ${uri} is no folder on this machine; write file:///…`);
  }
}

async function checked(folder: string, what: string): Promise<string> {
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (isFolder) return folder;
  throw new RequestError(ErrorCode.NotFound, `${what} is not there, or is no folder`);
}
